# SPDX-License-Identifier: Apache-2.0
"""A plugin of QEMU counts executed work. A program of the guest reads exact counts from a PCI device."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from pmubase import store
from vm import PACKAGE, guest, kernel, qemu, runs, suite, work
from vm.testing.workloads import compile_program

pytestmark = pytest.mark.guest

PROGRAM = PACKAGE / "testing" / "work_program.c"
TURNS = 1000
Counts = dict[tuple[str, str], tuple[int, int]]

PER_TURN = {
    "empty": {"instructions": 2, "branches": 1, "taken": 1},
    "accesses": {"instructions": 5, "branches": 1, "taken": 1, "loads": 2, "stores": 2},
    "calls": {
        **{"instructions": 4, "branches": 3, "taken": 3, "calls": 1, "returns": 1},
        **{"loads": 1, "stores": 1},
    },
    "indirect": {
        **{"instructions": 4, "branches": 3, "taken": 3, "calls": 1, "returns": 1},
        **{"loads": 2, "stores": 1},
    },
    # A jump to the next instruction is not taken: its successor is not elsewhere.
    "untaken": {"instructions": 5, "branches": 3, "taken": 1},
}
"""The events of one turn of each loop of the program, in user mode. All others do not happen."""
EXACT = tuple(name for name in work.EVENTS if "miss" not in name)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("program")
    include = f"-I{store.ROOT}/driver/include"
    text = PROGRAM.read_text("utf-8")
    return compile_program(folder, "work_program", text, "-O1", include)


def machine(program: pathlib.Path, **options: object) -> qemu.Machine:
    target = suite.find_target("software").on(accel="tcg", **options)
    return runs.machine(kernel.find("6.12"), target, files={"bin/work_program": program})


def run(vm: guest.Guest, *words: str) -> tuple[list[str], Counts]:
    """Runs the program. Returns the words of the header, and user and kernel counts by loop and event."""
    done = vm.exec(list(words))
    assert done.status == 0, done.stderr
    header, *lines = (line.split() for line in done.stdout.splitlines())
    return header, {(line[0], line[1]): (int(line[2]), int(line[3])) for line in lines}


def expected() -> Counts:
    return {
        (loop, event): (TURNS * PER_TURN[loop].get(event, 0), 0)
        for loop in PER_TURN
        for event in work.EVENTS
    }


def mask(events: tuple[str, ...]) -> str:
    return str(sum(1 << work.EVENTS.index(event) for event in events))


def test_names_of_events_are_those_of_the_header() -> None:
    header = (store.ROOT / "driver/include/uapi/refpmu_work.h").read_text("utf-8")
    for number, name in enumerate(work.EVENTS):
        macro = f"REFPMU_WORK_{name.upper().replace('-', '_')}"
        assert f"#define {macro} {number}" in header
    assert f"#define REFPMU_WORK_EVENTS {len(work.EVENTS)}\n" in header


@pytest.mark.parametrize("icount", [None, 1])
def test_counts_of_user_mode_are_exact(program: pathlib.Path, icount: int | None) -> None:
    with guest.Guest(machine(program, work=EXACT, cpus=1, icount=icount)) as vm:
        vm.boot()
        header, counts = run(vm, "work_program", "0", str(TURNS), *PER_TURN)
        vm.bye()
    assert header[:-1] == ["header", "1", mask(EXACT), "1", "0" if icount is None else "2"]
    # An interrupt of the timer may come in a loop; user mode must not see it.
    users = {key: value[0] for key, value in counts.items()}
    assert users == {key: value[0] for key, value in expected().items()}


def test_kernel_work_counts_in_kernel_mode(program: pathlib.Path) -> None:
    with guest.Guest(machine(program, work=("calls",), cpus=1, icount=1)) as vm:
        vm.boot()
        _, counts = run(vm, "work_program", "0", str(TURNS), "syscalls", "empty")
        vm.bye()
    user, in_kernel = counts["syscalls", "calls"]
    assert user == TURNS
    # A system call has at least its dispatch and its function.
    assert in_kernel >= 2 * TURNS
    assert counts["empty", "instructions"][0] == 2 * TURNS


def test_each_cpu_has_counts_of_its_own(program: pathlib.Path) -> None:
    with guest.Guest(machine(program, work=EXACT, cpus=2)) as vm:
        vm.boot()
        for cpu in (0, 1):
            words = ("work_program", str(cpu), str(TURNS), *PER_TURN)
            header, counts = run(vm, "taskset", str(1 << cpu), *words)
            assert header[:-1] == ["header", "1", mask(EXACT), "2", "0"]
            users = {key: value[0] for key, value in counts.items()}
            assert users == {key: value[0] for key, value in expected().items()}
        vm.bye()


def test_a_cache_that_is_too_small_misses_each_line(program: pathlib.Path) -> None:
    misses = tuple(name for name in work.EVENTS if "miss" in name)
    with guest.Guest(machine(program, work=misses, cpus=1, icount=1)) as vm:
        vm.boot()
        _, counts = run(vm, "work_program", "0", str(TURNS), "misses", "empty")
        vm.bye()
    # Each turn reads the next line of a 64 KiB buffer.
    users = {event: counts["misses", event][0] for event in misses}
    assert users == {"l1d-load-misses": TURNS, "l1d-store-misses": 0, "l1i-misses": 0}
    assert [counts["empty", event][0] for event in misses] == [0, 0, 0]


@pytest.mark.parametrize("cpus", [1, 2])
def test_counts_continue_in_a_restored_guest(
    program: pathlib.Path, tmp_path: pathlib.Path, cpus: int
) -> None:
    booted = machine(program, work=("branches",), cpus=cpus)
    words = ("taskset", "1", "work_program", "0", str(TURNS), "empty")
    with guest.Guest(booted) as vm:
        vm.boot()
        before, _ = run(vm, *words)
        vm.save(tmp_path / "state")
    with guest.Guest(dataclasses.replace(booted, state=tmp_path / "state")) as vm:
        vm.resume()
        after, counts = run(vm, *words)
        vm.bye()
    assert after[:-1] == before[:-1] == ["header", "1", "3", str(cpus), "0"]
    # The boot is most of the work, so a count from 0 would be less.
    assert int(before[-1]) < int(after[-1]) < 2 * int(before[-1])
    assert counts["empty", "branches"][0] == TURNS
