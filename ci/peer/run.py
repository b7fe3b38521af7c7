# SPDX-License-Identifier: Apache-2.0
"""Runs the built tests in guests, one after the other. A test that kills or blocks its guest costs one guest."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import time
from collections.abc import Callable, Iterator, Sequence

from vm import guest, qemu
from vm.errors import PmuvmError

FOLDER = "perf_event_tests"
"""Folder with the tests in a guest."""
SETUP = """
echo 0 >/proc/sys/kernel/perf_event_paranoid
mount -t tmpfs cgroup /sys/fs/cgroup
mkdir /sys/fs/cgroup/perf_event
mount -t cgroup -o perf_event cgroup /sys/fs/cgroup/perf_event
"""
"""Makes a guest like the machines that the suite expects. A test of EACCES runs as root only with this paranoid."""
THREADS = "OMP_NUM_THREADS=10 OMP_WAIT_POLICY=passive"
"""Settings of OpenMP. The number of overflows that its tests expect is that of five threads or more, on any machine."""
WORDS = (
    *("PASSED", "FAILED", "FAILED (KERNEL TOO OLD)", "SKIPPED", "WARNING", "NEED TESTCASE"),
    *("USE CAUTION", "KNOWN ISSUE", "KNOWN KERNEL BUG", "KERNEL FAILED", "KERNEL OK"),
    *("UNEXPLAINED", "UNIMPLEMENTED", "NO", "YES", "OLD BEHAVIOR", "NEW BEHAVIOR"),
)
"""The results that a test of the suite prints at the end of a line."""
RESULT = re.compile(
    rf"^.*?\s({'|'.join(map(re.escape, sorted(WORDS, key=len, reverse=True)))})$", re.M
)
KILLED = "[killed at the deadline]"
"""The agent's remark about a program that it killed."""
TIMEOUT, CRASH, NO_RESULT, NOT_BUILT = "TIMEOUT", "CRASH", "NO RESULT", "NOT BUILT"
GUEST = "GUEST "
"""Prefix of the result of a test whose guest was lost."""
SIGNALLED = 128


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of one test."""

    test: str
    result: str
    seconds: float
    output: str
    status: int | None = None
    """The exit status; 128 + the number of a signal; None if it has none."""
    reports: tuple[str, ...] = ()
    """The kernel's reports while it ran."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """The data that all guests share."""

    machine: qemu.Machine
    module: str | None
    """File in /modules to load first."""
    parameters: tuple[str, ...]
    deadline_s: int
    """Deadline of one test."""
    quiet: bool = True
    """Whether the tests print only their results."""


class Guests:
    """Boots guests as they are needed. As a context manager it ends with its guest."""

    def __init__(self, plan: Plan, log: pathlib.Path | None = None) -> None:
        self._plan = plan
        self._log = log
        self._vm: guest.Guest | None = None
        self._reports = 0
        self.boots = 0

    def __enter__(self) -> Guests:
        return self

    def __exit__(self, *_: object) -> None:
        self.power_off()

    def power_off(self) -> None:
        """Ends the guest at once."""
        if self._vm is not None:
            self._vm.__exit__(None, None, None)
            self._vm = None

    def run(self, test: str) -> Result:
        """Runs one test."""
        vm = self._vm or self._boot()
        begun = time.monotonic()
        settings = f"{THREADS} TESTS_QUIET=y" if self._plan.quiet else THREADS
        command = f"cd /tmp; {settings} exec /{FOLDER}/{test}"
        try:
            done = vm.exec(["sh", "-c", command], self._plan.deadline_s)
            seconds = round(time.monotonic() - begun, 1)
            reports = vm.kmsg()["reports"]
        except guest.GuestLost as lost:
            seconds = round(time.monotonic() - begun, 1)
            self.power_off()
            return Result(test, GUEST + lost.verdict, seconds, f"{lost.cause}\n{lost.tail}")
        fresh, self._reports = tuple(reports[self._reports :]), len(reports)
        found = verdict(done)
        if found == TIMEOUT:
            # Children of the test may still run, and the next test must not depend on them.
            self.power_off()
        return Result(test, found, seconds, (done.stdout + done.stderr).strip(), done.status, fresh)

    def _boot(self) -> guest.Guest:
        self.boots += 1
        self._reports = 0
        vm = guest.Guest(self._plan.machine, self._log)
        vm.__enter__()
        self._vm = vm
        try:
            vm.boot()
            if self._plan.module is not None:
                vm.load(self._plan.module, self._plan.parameters)
            done = vm.exec(["sh", "-e", "-c", SETUP])
        except guest.ModuleRefused as refused:
            raise PmuvmError(f"a module does not load: {refused}") from refused
        except guest.GuestLost as lost:
            raise PmuvmError(f"no guest boots: {lost.cause}", details=lost.tail) from lost
        if done.status != 0:
            raise PmuvmError(f"cannot prepare the guest: {done.stderr.strip()}")
        return vm


def verdict(done: guest.Done) -> str:
    """The result of a test from the end of its program."""
    if KILLED in done.stderr:
        return TIMEOUT
    if done.status > SIGNALLED:
        return CRASH
    found: list[str] = RESULT.findall(done.stdout)
    return found[-1] if found else NO_RESULT


def run_all(
    guests: Guests, tests: Sequence[str], failed: dict[str, str], done: Callable[[Result], None]
) -> Iterator[Result]:
    """Runs the tests in order. `failed`: the reason for each test that was not built. `done` receives each result."""
    for test in tests:
        if test in failed:
            result = Result(test, NOT_BUILT, 0.0, failed[test])
        else:
            result = guests.run(test)
        done(result)
        yield result
