# SPDX-License-Identifier: Apache-2.0
"""`pmuconf fuzz` finds nothing on a right driver, a leak of a wrong one, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ci.faults import modules
from vm import guest, kernel, runs, suite

pytestmark = pytest.mark.guest

KERNEL = "6.12"
RUN_S = 200
"""The limit of a run on a busy machine."""
LEAK = "STR-008"
"""Each event takes a reference to the module and never returns it."""
PROGRAMS = 32
"""One process of programs."""
STATE = (
    "cat /proc/sys/kernel/perf_event_max_sample_rate /proc/sys/kernel/perf_cpu_time_max_percent;"
    " pgrep -x pmuconf | wc -l; lsmod | grep ^refpmu; ls /tmp"
)


@pytest.fixture(scope="module", name="vm")
def booted() -> Iterator[guest.Guest]:
    found = kernel.find(KERNEL)
    places = {"modules/broken.ko": modules.faulty_module(LEAK, found)}
    with guest.Guest(runs.machine(found, suite.find_target("refpmu"), files=places)) as vm:
        vm.boot()
        yield vm
        vm.bye()


def fuzz(vm: guest.Guest, out: str = "/tmp") -> guest.Done:
    argv = ["pmuconf", "fuzz", "--pmu", "refpmu", "--programs", str(PROGRAMS), "--out", out]
    return vm.exec(argv, RUN_S)


def test_right_driver_has_no_finding_and_nothing_stays(vm: guest.Guest) -> None:
    vm.load("refpmu.ko")
    before = vm.exec(["sh", "-c", STATE]).stdout
    done = fuzz(vm)
    assert (done.status, done.stderr) == (0, "")
    assert f" {PROGRAMS} programs, " in done.stdout and ", 0 findings" in done.stdout
    assert vm.exec(["sh", "-c", STATE]).stdout == before


def test_signal_ends_run_with_summary(vm: guest.Guest) -> None:
    argv = ["timeout", "-s", "INT", "5", "pmuconf", "fuzz", "--pmu", "refpmu", "--out", "/tmp"]
    done = vm.exec(argv, RUN_S)
    assert done.status == 0 and ", stopped by a signal" in done.stdout


def test_full_disk_is_one_line(vm: guest.Guest) -> None:
    script = "mkdir /tmp/full; mount -t tmpfs -o size=4k none /tmp/full; cp /init /tmp/full/x"
    vm.exec(["sh", "-c", script])
    done = fuzz(vm, "/tmp/full")
    assert done.status == 2 and done.stderr.endswith("No space left on device\n")
    assert len(done.stderr.splitlines()) == 1


def test_reference_that_stays_is_found_with_a_program(vm: guest.Guest) -> None:
    assert vm.unload("refpmu")["ok"] is True
    vm.load("broken.ko")
    done = fuzz(vm)
    assert done.status == 1 and done.stdout.startswith("LEAK: the module has "), done.stdout
    kept = vm.exec(["sh", "-c", "cat /tmp/fuzz-refpmu-1-*.program"]).stdout
    assert kept.startswith("pmuconf program for pmu:refpmu\n")
    # The fault is in an open that fails or succeeds, so the shortest program has one.
    assert "\nopen " in kept
