# SPDX-License-Identifier: Apache-2.0
"""A kernel that is newer than the rules fails none of them: differences of its perf core are not judged."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from vm import kernel
from vm.cli import main
from vm.testing import mutant_modules

pytestmark = pytest.mark.guest

TARGET = 'base = "refpmu"\n[target]\nname = "refpmu_newer"\nrules_of = "{series}"\n'


def run(tmp_path: pathlib.Path, name: str, series: str, *more: str) -> dict[str, Any]:
    """The results of the kernel `name`, judged by the rules of an older series."""
    target = tmp_path / "refpmu_newer.toml"
    target.write_text(TARGET.format(series=series), encoding="utf-8")
    out = tmp_path / "out"
    main(["run", "--target", str(target), "--kernel", name, "--out", str(out), *more])
    found: dict[str, Any] = json.loads((out / "results.json").read_text("utf-8"))
    assert found["newest_kernel"] == series
    return found


def unjudged(found: dict[str, Any]) -> set[str]:
    return {case["id"] for case in found["cases"] if case.get("skip_reason") == "kernel_newer"}


def test_differences_of_the_core_are_not_judged(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = run(tmp_path, "6.12", "6.1", "--case", "AttrSize.*")
    assert unjudged(found) == {"AttrSize.MoreThanAPageIsRefused", "AttrSize.TooSmallIsRefused"}
    assert (found["totals"]["failed"], found["totals"]["broken"]) == (0, 0)
    assert {rule["result"] for rule in found["rules"]} >= {"NOT_JUDGED", "PASSED"}
    assert (
        "is newer than 6.1, the newest that the rules describe: 2 cases" in capfd.readouterr().out
    )


def test_failure_of_the_driver_is_judged(tmp_path: pathlib.Path) -> None:
    wrong = mutant_modules.mutant_module("M01-1", kernel.find("6.12"))
    found = run(tmp_path, "6.12", "6.1", "--rule", "CNT-007", "--module", str(wrong))
    assert found["verdict"] == "NOT_CONFORMANT" and found["reason"].startswith("failed: CNT-007")
    assert not unjudged(found)


@pytest.mark.nightly
def test_whole_suite_fails_no_rule_of_an_older_series(tmp_path: pathlib.Path) -> None:
    found = run(tmp_path, "7.2", "6.12")
    assert found["totals"]["failed"] == 0
    assert unjudged(found)
