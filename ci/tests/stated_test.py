# SPDX-License-Identifier: Apache-2.0
"""The check reports a file that a unit reads but does not state."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci import check, stated
from ci.units import catalogue, nightly, traces
from ci.units.inputs import Inputs
from ci.units.unit import OUT, Unit

needs_strace = pytest.mark.skipif(not traces.can_trace(), reason="strace is not allowed here")


PROGRAM = "product:build/guest/conformance/pmuconf"
GENERATED = "product:build/tidy/conformance/generated/rules/CNT.h"
POINTER = "cache:kernels/6.1-amd64.json"


@pytest.mark.parametrize(
    ("names", "found", "missing"),
    [
        (["file:ci/judge.py"], ["file:ci/judge.py"], []),
        (["glob:driver/*"], ["file:driver/core_pmu/irq.c", "names:driver/core_pmu"], []),
        (["glob:driver/*"], ["file:kunit/rig.c"], ["file:kunit/rig.c"]),
        (["suite:runner"], [PROGRAM], []),
        (["glob:driver/*"], [PROGRAM], [PROGRAM]),
        (
            ["product:build/fuzz/a"],
            ["product:build/fuzz/a", "product:build/fuzz/b"],
            ["product:build/fuzz/b"],
        ),
        (["glob:conformance/rules/*"], [GENERATED], []),
        ([], [GENERATED], [GENERATED]),
        ([], [POINTER, "exists:a", "program:gcc"], [POINTER]),
    ],
)
def test_an_input_must_be_stated_by_its_name_or_by_a_glob(
    names: list[str], found: list[str], missing: list[str]
) -> None:
    assert stated.unstated(names, found) == missing


@needs_strace
def test_traced_unit_has_separate_reports(tmp_path: Path) -> None:
    command = ("sh", "-c", f"cat docs/check.md >{OUT}/stated-report")
    unit = Unit("group/one", (command,), 60, "repeat")
    assert "file:docs/check.md" in stated.traced(unit, tmp_path)
    assert (tmp_path / "stated-report").is_file()
    assert not (OUT / "stated-report").exists()


@needs_strace
def test_a_unit_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="status 3"):
        stated.traced(Unit("group/one", (("sh", "-c", "exit 3"),), 60, "repeat"), tmp_path)


def test_nightly_traces_each_unit_with_stated_inputs() -> None:
    known = Inputs(check.ROOT)
    units = catalogue.check_units(known)
    night = {unit.name for unit in nightly.nightly_units(known, 8)}
    for unit in units:
        name = f"stated/{unit.name.replace('/', '+')}"
        assert (name in night) == (not unit.build and not unit.traced and unit.traceable)


def test_unknown_unit_is_a_one_line_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert stated.main(["soup"]) == 2
    assert capsys.readouterr().err == "stated: no unit 'soup' with stated inputs\n"
