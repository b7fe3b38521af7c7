# SPDX-License-Identifier: Apache-2.0
"""On a CPU without a periodic tick, events still rotate and a throttle ends. perf keeps the tick while it needs it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ci.faults import modules
from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

TICKLESS = "nohz_full=1 rcu_nocbs=1"
BUSY = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done"
DEADLINE_S = 30
MUTANT = "C105"
"""Does not start the counter again after a throttle."""
CASE = "Throttle.ThrottleEndsOnTheSecondCpuToo"


@pytest.fixture(scope="module", params=nightly_params.stock_kernels("tickless"))
def vm(request: pytest.FixtureRequest) -> Iterator[guest.Guest]:
    """A guest with the driver whose second CPU has no tick."""
    found = kernel.find(request.param)
    machine = runs.machine(found, suite.find_target("refpmu"), cmdline=TICKLESS)
    with guest.Guest(machine) as running:
        running.boot()
        at_boot = running.kmsg()["reports"]
        running.load("refpmu.ko")
        yield running
        assert running.kmsg()["reports"] == at_boot
        running.bye()


def ticks(vm: guest.Guest, cpu: int) -> int:
    """Timer interrupts of `cpu` while its only task is busy."""
    script = (
        f"grep LOC /proc/interrupts; taskset {1 << cpu} sh -c '{BUSY}'; grep LOC /proc/interrupts"
    )
    done = vm.exec(["sh", "-c", script])
    assert done.status == 0, done.stderr
    before, after = (re.findall(r"\d+", line)[cpu] for line in done.stdout.splitlines())
    return int(after) - int(before)


@pytest.mark.rule("THR-009")
def test_a_throttle_ends_on_a_cpu_without_a_tick(vm: guest.Guest) -> None:
    # The case is conclusive only if the tick stops otherwise.
    assert ticks(vm, 1) < ticks(vm, 0) / 4
    result = vm.case(CASE, DEADLINE_S)
    assert result["result"] == "PASS", result["message"]


@pytest.mark.rule("CTX-013")
def test_events_rotate_without_a_tick(vm: guest.Guest) -> None:
    result = vm.case("Context.EventsTakeTurnsWithoutATick", DEADLINE_S)
    assert result["result"] == "PASS", result["message"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", kernel.known())
def test_a_throttle_that_does_not_end_is_detected(name: str) -> None:
    found = kernel.find(name)
    broken = {"modules/refpmu.ko": modules.faulty_module(MUTANT, found)}
    machine = runs.machine(found, suite.find_target("refpmu"), files=broken, cmdline=TICKLESS)
    with guest.Guest(machine) as stuck:
        stuck.boot()
        stuck.load("refpmu.ko")
        assert stuck.case(CASE, DEADLINE_S)["result"] == "FAIL"
        stuck.bye()
