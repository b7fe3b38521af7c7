# SPDX-License-Identifier: Apache-2.0
"""Cases leave no event, no reference to the module, and no locked page behind, and the module unloads."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from pathlib import Path

import pytest

from ci.faults import modules
from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

FAULT = "STR-008"

# One case for each type of resource: events, inherited events, buffers, signals, programs.
CASES = (
    "Inherit.StormsOfForksAreCountedExactly",
    "Inherit.ForkThatFailsLeavesNothing",
    "Stress.RandomCallsLeaveWorkingPmu",
    "Stress.OpensAndClosesFromManyThreadsDisturbNobody",
    "Stress.AllContextsWriteWholeRecords",
    "Stress.ExhaustionReturnsErrorAndRecovers",
    "Interrupt.ClosingRightAfterAnOverflowIsHarmless",
    "Bpf.ProgramRunsOncePerOverflow",
)
STATE = """
cat /sys/module/refpmu/refcnt
grep '^Mlocked:' /proc/meminfo
for fd in /proc/[0-9]*/fd/*; do readlink "$fd"; done | grep -c perf_event
"""


def assert_nothing_left(
    found: kernel.Kernel, files: Mapping[str, Path] = types.MappingProxyType({})
) -> None:
    """Runs the cases and unloads the module. `files`: path in the guest to path on the host."""
    machine = runs.machine(found, suite.find_target("refpmu"), files=files)
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        before = vm.exec(["sh", "-c", STATE]).stdout
        assert re.findall(r"\d+", before) == ["0", "0", "0"], before
        for case in CASES:
            result = vm.case(case, 60)
            assert result["result"] == "PASS", (case, result["message"])
        after = vm.exec(["sh", "-c", STATE]).stdout
        assert after == before, "left behind"
        assert vm.unload("refpmu")["ok"]
        assert vm.kmsg()["reports"] == []
        vm.bye()


@pytest.mark.rule("STR-008")
@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_cases_leave_nothing_behind(name: str) -> None:
    assert_nothing_left(kernel.find(name))


@pytest.mark.nightly
@pytest.mark.parametrize("name", kernel.known())
def test_reference_that_an_event_leaves_behind_is_detected(name: str) -> None:
    found = kernel.find(name)
    leaking = modules.faulty_module(FAULT, found)
    with pytest.raises(AssertionError, match="left behind"):
        assert_nothing_left(found, {"modules/refpmu.ko": leaking})
