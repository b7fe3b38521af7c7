# SPDX-License-Identifier: Apache-2.0
"""On a CPU without a periodic tick perf still does what it does by time."""

from __future__ import annotations

import pytest

import daily
from pmuvm import guest, kernel, runs, suite

pytestmark = pytest.mark.guest

CASE = "Context.EventsTakeTurnsWithoutATick"
DEADLINE_S = 30


@pytest.mark.rule("CTX-013")
@pytest.mark.parametrize("name", daily.kernels())
def test_events_take_turns_without_a_tick(name: str) -> None:
    machine = runs.machine(kernel.find(name), suite.find_target("refpmu"), cmdline="nohz_full=1")
    with guest.Guest(machine) as vm:
        vm.boot()
        at_boot = vm.kmsg()["reports"]
        vm.load("refpmu.ko")
        result = vm.case(CASE, DEADLINE_S)
        assert result["result"] == "PASS", result["message"]
        assert vm.kmsg()["reports"] == at_boot
        vm.bye()
