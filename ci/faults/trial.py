# SPDX-License-Identifier: Apache-2.0
"""The result of a fault with one observer, and the run of cases until one of them catches it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from faults.fault import Fault
from vm.channel import Message
from vm.suite import Case

CAUGHT, MISSED, BROKEN = "caught", "missed", "broken"
DEATHS = 3
"""After so many dead guests no more cases run on a fault."""
LOST = ("CRASH", "TIMEOUT")
FINE = ("PASS", "SKIP", "WAIVED")
"""Results that do not count against the code under test."""
HOST = "host"
"""The name of this machine where another trial has a kernel."""

Run = Callable[[Case], str]
"""Runs one case and returns its result."""


class Goal(Enum):
    """When a trial ends."""

    CATCH = "at the first test that catches the fault"
    RULES = "when each rule that the fault names was failed"
    ALL = "after all tests"


@dataclass(frozen=True)
class Planned:
    """A trial to run."""

    fault: Fault
    kernel: str
    observer: str
    rules: tuple[str, ...] = ()
    """The rules of the fault that apply on the kernel."""


@dataclass(frozen=True)
class Ran:
    """A test that ran: its name, its result, the rules that it verifies, and its source file."""

    name: str
    result: str
    rules: tuple[str, ...] = ()
    file: str = ""


@dataclass(frozen=True)
class Trial:
    """The result of a planned trial."""

    fault: Fault
    kernel: str
    observer: str
    result: str
    by: tuple[str, ...] = ()
    """The tests that caught it."""
    failed_rules: tuple[tuple[str, str], ...] = ()
    """The rules that the fault names and that a test failed: rule and first such test."""
    other_rules: tuple[str, ...] = ()
    """The other rules that failed tests verify."""
    tried: int = 0
    detail: str = ""
    took_s: float = 0.0
    ran: tuple[Ran, ...] = ()
    """The tests that ran. It is empty for a recorded result."""
    recorded: bool = False

    @property
    def caught(self) -> bool:
        """Whether the observer noticed the fault."""
        return self.result == CAUGHT

    @property
    def unfailed_rules(self) -> tuple[str, ...]:
        """The rules that the fault names and that no test failed."""
        failed = {rule for rule, _ in self.failed_rules}
        return tuple(rule for rule in self.fault.rules if rule not in failed)


def broken(planned: Planned, why: str) -> Trial:
    """The result of a fault that could not be tried."""
    return Trial(planned.fault, planned.kernel, planned.observer, BROKEN, detail=why)


def missed(done: Trial, why: str) -> Trial:
    """The trial as a miss."""
    return replace(done, result=MISSED, detail=why)


def decide(
    planned: Planned,
    ran: Sequence[Ran],
    catches: Sequence[str],
    detail: str = "",
    others: Sequence[str] = (),
) -> Trial:
    """The result from the tests that ran. `catches`: the tests whose result is a catch. `others`: signs of the fault
    that belong to no test."""
    failed = [test for test in ran if test.name in catches]
    rules: dict[str, str] = {}
    for test in failed:
        for rule in test.rules:
            rules.setdefault(rule, test.name)
    fault = planned.fault
    return Trial(
        fault,
        planned.kernel,
        planned.observer,
        CAUGHT if catches or others else MISSED,
        by=(*dict.fromkeys((*catches, *others)),),
        failed_rules=tuple((rule, rules[rule]) for rule in fault.rules if rule in rules),
        other_rules=tuple(rule for rule in sorted(rules) if rule not in fault.rules),
        tried=len(ran),
        detail=detail,
        ran=tuple(ran),
    )


class Attempt:
    """Runs cases on a fault until the goal is reached. A result counts only if the original passes the case."""

    def __init__(self, planned: Planned, goal: Goal) -> None:
        self._planned = planned
        self._goal = goal
        self.ran: list[Ran] = []
        self._catches: list[str] = []
        self._signs: list[str] = []
        self._lost: list[tuple[str, str]] = []
        self._unfit: list[str] = []
        self._left = set(planned.rules)

    @property
    def done(self) -> bool:
        """Whether the goal is reached, apart from rules that no case of a group verifies."""
        return self._goal is not Goal.ALL and bool(self._catches or self._signs)

    def run(self, cases: Sequence[Case], run: Run, clean: Callable[[Case], bool]) -> None:
        """Runs cases. Goal.RULES: after a catch, only cases of rules that were not failed yet."""
        for case in cases:
            if self.done and (self._goal is Goal.CATCH or not self._left & set(case.rules)):
                continue
            if len(self._lost) >= DEATHS:
                return
            result = run(case)
            self.ran.append(Ran(case.id, result, case.rules, case.file))
            if result in FINE or not clean(case):
                continue
            if result in self._planned.fault.results:
                self._catches.append(case.id)
                self._left -= set(case.rules)
            elif result == "BROKEN":
                self._unfit.append(case.id)
            if result in LOST:
                self._lost.append((result, case.id))

    def add_signs(self, found: Sequence[str]) -> None:
        """Adds complaints of the kernel that came after the last case."""
        if "CRASH" in self._planned.fault.results:
            self._signs += found

    def trial(self) -> Trial:
        """The result."""
        wanted = self._planned.fault.results
        details = [f"{result} in {name}" for result, name in self._lost if result not in wanted]
        if self._unfit and not self._catches:
            details.append(f"BROKEN, not FAIL, in {', '.join(self._unfit)}")
        return decide(self._planned, self.ran, self._catches, "; ".join(details), self._signs)


def complaints(messages: Sequence[Message]) -> list[str]:
    """The complaints at a guest's end: the cases that it blames, and reports that belong to no case."""
    cases = [m["id"] for m in messages if m["t"] == "result" and m["result"] == "CRASH"]
    reports = [f"(kernel: {line})" for m in messages if m["t"] == "kmsg" for line in m["reports"]]
    return list(dict.fromkeys([*cases, *reports]))


class Clean:
    """The results of the original. Only the cases that it passes can catch a fault."""

    def __init__(self, run: Run) -> None:
        """`run` is called once for each requested case, and never by two threads at the same time."""
        self._run = run
        self._lock = threading.Lock()
        self._results: dict[str, str] = {}

    def passes(self, case: Case) -> bool:
        """Whether the original passes the case."""
        return self._result(case) == "PASS"

    def fits(self, case: Case) -> bool:
        """Whether the original passes the case, or the case does not apply to it."""
        return self._result(case) in FINE

    def _result(self, case: Case) -> str:
        with self._lock:
            if case.id not in self._results:
                self._results[case.id] = self._run(case)
            return self._results[case.id]

    def failed(self) -> list[tuple[str, str]]:
        """The cases that the original fails. A skipped case is no failure."""
        return [(name, result) for name, result in self._results.items() if result not in FINE]


def cases_to_try(
    fault: Fault, rules: Sequence[str], cases: Sequence[Case], first: str, own: bool
) -> list[Case]:
    """The cases to run in their order. `own`: the case `first`, those that the fault names, and those of its rules, the
    ones with the fewest other rules first; else all others. Without rules, all cases are its own.
    """
    names = [first, *fault.cases]
    wanted = set(rules)

    def is_own(case: Case) -> bool:
        return not fault.rules or bool(set(case.rules) & wanted) or case.id in names

    def order(case: Case) -> tuple[int, int]:
        place = names.index(case.id) if case.id in names else len(names)
        return place, len(set(case.rules) - wanted) if own and wanted else 0

    return sorted((case for case in cases if is_own(case) == own), key=order)
