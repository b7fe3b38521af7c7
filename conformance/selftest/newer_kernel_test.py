# SPDX-License-Identifier: Apache-2.0
"""A kernel that is newer than the rules fails none of them: differences of its perf core are not judged."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from ci.faults import modules
from pmubase import store
from vm import guest, kernel, runs, suite
from vm.cli import main

pytestmark = pytest.mark.guest

CASE = "AttrSize.MoreThanAPageIsRefused"
DEADLINE_S = 60
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


def test_differences_of_the_core_are_not_judged(tmp_path: pathlib.Path) -> None:
    target = tmp_path / "software_newer.toml"
    target.write_text(
        'base = "software"\n[target]\nname = "software_newer"\nrules_of = "6.1"\n', encoding="utf-8"
    )
    files = {"answers.toml": store.ROOT / "faults" / "answers" / "ABI.toml"}
    found = suite.find_target(str(target))
    with guest.Guest(runs.machine(kernel.find("6.12"), found, files=files)) as vm:
        vm.boot()
        differs = vm.case(CASE, DEADLINE_S, lie="/answers.toml:open-e2big-is-einval")
        same = vm.case(CASE, DEADLINE_S)
        vm.bye()
    assert (differs["result"], differs["skip_reason"]) == ("SKIP", "kernel_newer")
    assert "its core may differ from that of 6.1" in differs["message"]
    assert same["result"] == "PASS"


def test_failure_of_the_driver_is_judged(tmp_path: pathlib.Path) -> None:
    wrong = modules.faulty_module("M01-1", kernel.find("6.12"))
    found = run(tmp_path, "6.12", "6.1", "--rule", "CNT-007", "--module", str(wrong))
    assert found["verdict"] == "NOT_CONFORMANT" and found["reason"].startswith("failed: CNT-007")
    assert not unjudged(found)


@pytest.mark.nightly
def test_whole_suite_fails_no_rule_of_an_older_series(tmp_path: pathlib.Path) -> None:
    assert run(tmp_path, "7.2", "6.12")["totals"]["failed"] == 0
