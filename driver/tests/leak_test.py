# SPDX-License-Identifier: Apache-2.0
"""Cases leave no event, no reference to the module, and no locked page behind, and the module unloads."""

from __future__ import annotations

import re

import pytest

from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

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


@pytest.mark.rule("STR-008")
@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_cases_leave_nothing_behind(name: str) -> None:
    machine = runs.machine(kernel.find(name), suite.find_target("refpmu"))
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        before = vm.exec(["sh", "-c", STATE]).stdout
        assert re.findall(r"\d+", before) == ["0", "0", "0"], before
        for case in CASES:
            result = vm.case(case, 60)
            assert result["result"] == "PASS", (case, result["message"])
        assert vm.exec(["sh", "-c", STATE]).stdout == before
        assert vm.unload("refpmu")["ok"]
        assert vm.kmsg()["reports"] == []
        vm.bye()
