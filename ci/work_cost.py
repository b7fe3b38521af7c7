# SPDX-License-Identifier: Apache-2.0
"""Measures the CPU time of an emulator with the plugin that counts work, relative to the time without it."""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from vm import guest, kernel, qemu, runs, suite, work
from vm.errors import PmuvmError

LOOP = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
"""A loop of the shell: branches, calls and accesses in the usual mixture."""
LOOP_S = BOOT_S = 900
ROUNDS = 3
DEFAULT_KERNEL = "6.12"


@dataclasses.dataclass(frozen=True)
class Times:
    """CPU time of one emulator, in clock ticks. Other work on the host affects it less than the time that passes."""

    boot: float
    loop: float


SELECTIONS = (
    ("instructions",),
    ("instructions", "branches"),
    ("instructions", "calls", "returns"),
    ("instructions", "loads", "stores"),
    ("instructions", "taken"),
    ("instructions", "l1d-load-misses", "l1d-store-misses"),
    ("instructions", "l1i-misses"),
    work.EVENTS,
)


def ticks_of_child() -> int:
    """The CPU time of the only child of this process."""
    (child,) = Path("/proc/thread-self/children").read_text("ascii").split()
    fields = Path(f"/proc/{child}/stat").read_text("ascii").rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def measure(machine: qemu.Machine) -> Times:
    """Boots a guest and runs the loop."""
    with guest.Guest(machine) as vm:
        vm.boot(BOOT_S)
        booted = ticks_of_child()
        done = vm.exec(["sh", "-c", LOOP], LOOP_S)
        ended = ticks_of_child()
        vm.bye()
    if done.status != 0:
        raise PmuvmError(f"the loop ended with status {done.status}: {done.stderr.strip()}")
    return Times(booted, ended - booted)


def ratio(pairs: Sequence[tuple[Times, Times]]) -> Times:
    """The medians of the ratios of second to first."""
    return Times(
        statistics.median(second.boot / first.boot for first, second in pairs),
        statistics.median(second.loop / first.loop for first, second in pairs),
    )


def main(arguments: Sequence[str]) -> int:
    """Prints a table. Returns 2 if a guest did not run."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.work_cost", description=__doc__)
    parser.add_argument("--kernel", default=DEFAULT_KERNEL, help="default %(default)s")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="pairs; default %(default)s")
    options = parser.parse_args(arguments)
    try:
        found = kernel.find(options.kernel)
        software = suite.find_target("software")
        print("| counted | CPUs | boot | loop |\n|---|---|---|---|")
        for cpus in (1, 2):
            plain = runs.machine(found, software.on(accel="tcg", cpus=cpus))
            for events in SELECTIONS:
                counting = runs.machine(found, software.on(accel="tcg", cpus=cpus, work=events))
                pairs = [(measure(plain), measure(counting)) for _ in range(options.rounds)]
                of = ratio(pairs)
                name = "all" if events == work.EVENTS else ", ".join(events)
                print(f"| {name} | {cpus} | {of.boot:.2f} | {of.loop:.2f} |", flush=True)
    except (PmuvmError, guest.GuestLost) as error:
        print(f"work_cost: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
