# SPDX-License-Identifier: Apache-2.0
"""A throttle ends in time on a CPU that runs without a tick: one is asked for as long as it takes."""

from __future__ import annotations

import re

import pytest

import daily
from pmuvm import guest, kernel, runs, suite

pytestmark = pytest.mark.guest

TICKLESS = "nohz_full=1 rcu_nocbs=1"
BUSY = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"


def ticks(vm: guest.Guest, cpu: int) -> int:
    """Timer interrupts of `cpu` while the only task there is busy."""
    script = (
        f"grep LOC /proc/interrupts; taskset {1 << cpu} sh -c '{BUSY}'; grep LOC /proc/interrupts"
    )
    done = vm.exec(["sh", "-c", script])
    assert done.status == 0, done.stderr
    before, after = (re.findall(r"\d+", line)[cpu] for line in done.stdout.splitlines())
    return int(after) - int(before)


@pytest.mark.rule("THR-009")
@pytest.mark.parametrize("name", daily.kernels())
def test_a_throttle_ends_on_a_cpu_without_a_tick(name: str) -> None:
    machine = runs.machine(kernel.find(name), suite.find_target("refpmu"), cmdline=TICKLESS)
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        # Only where the tick does stop can the case show that one is asked for.
        assert ticks(vm, 1) < ticks(vm, 0) / 4
        result = vm.case("Throttle.ThrottleEndsOnTheSecondCpuToo", 20)
        assert result["result"] == "PASS", result["message"]
        vm.bye()
