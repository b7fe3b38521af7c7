# SPDX-License-Identifier: Apache-2.0
"""Runs cases on a mutant and decides whether one of them killed it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from faults.mutant_file import SUITE, Mutant
from vm.channel import Message
from vm.suite import Case

DEATHS = 3
"""After so many dead guests no more cases run on a mutant."""
LOST = ("CRASH", "TIMEOUT")
FINE = ("PASS", "SKIP", "WAIVED")
"""Results that do not count against a driver."""

Run = Callable[[Case], str]
"""Runs one case and returns its result."""


class Goal(Enum):
    """When a trial ends."""

    KILL = "at the first test that kills"
    RULES = "when each rule that the mutant names was failed"
    ALL = "after all tests"


@dataclass(frozen=True)
class Ran:
    """A test that ran on a mutant: its name, its result, the rules that it verifies, and its source file."""

    name: str
    result: str
    rules: tuple[str, ...] = ()
    file: str = ""


@dataclass(frozen=True)
class Trial:
    """The result of one mutant with one observer on one kernel (`host`, if the observer needs none)."""

    mutant: Mutant
    kernel: str
    result: str
    killed_by: tuple[str, ...] = ()
    other_rules: bool = False
    detail: str = ""
    duration_s: float = 0.0
    tried: int = 0
    observer: str = SUITE
    failed_rules: tuple[tuple[str, str], ...] = ()
    """The rules that the mutant names and that a test failed: rule and first such test."""
    searched: bool = False
    """Whether all tests of the rules that are not in failed_rules ran."""
    ran: tuple[Ran, ...] = ()
    """The tests that ran. It is empty for a recorded kill."""

    @property
    def killed(self) -> bool:
        """Whether the observer caught the mutant."""
        return self.result == "KILLED"

    @property
    def unfailed_rules(self) -> tuple[str, ...]:
        """The rules that the mutant names and that no test failed."""
        failed = {rule for rule, _ in self.failed_rules}
        return tuple(rule for rule in self.mutant.rules if rule not in failed)

    def continued_by(self, later: Trial) -> Trial:
        """This trial, continued by a later one with other cases. The later one decides."""
        killed = later.killed and bool(self.mutant.rules)
        undecided = later.result == "SURVIVED" and self.result != "SURVIVED"
        return replace(
            later,
            result=self.result if undecided else later.result,
            detail="; ".join(text for text in (self.detail, later.detail) if text),
            other_rules=killed,
            tried=self.tried + later.tried,
            searched=self.searched,
            ran=(*self.ran, *later.ran),
        )


def failed_rules(mutant: Mutant, failed: Sequence[Ran]) -> tuple[tuple[str, str], ...]:
    """The rules that the mutant names, each with the first of the `failed` tests that verifies it."""
    found: dict[str, str] = {}
    for test in failed:
        for rule in test.rules:
            found.setdefault(rule, test.name)
    return tuple((rule, found[rule]) for rule in mutant.rules if rule in found)


def complaints(messages: Sequence[Message]) -> list[str]:
    """The complaints at a guest's end: the cases that it blames, and reports that belong to no case."""
    cases = [m["id"] for m in messages if m["t"] == "result" and m["result"] == "CRASH"]
    reports = [f"(kernel: {line})" for m in messages if m["t"] == "kmsg" for line in m["reports"]]
    return list(dict.fromkeys([*cases, *reports]))


def at_the_end(done: Trial, found: Sequence[str]) -> Trial:
    """Adds to `done` the complaints about the mutant that came after the last case."""
    if "CRASH" not in done.mutant.kill or not found:
        return done
    return replace(done, result="KILLED", killed_by=tuple(found))


def broken(mutant: Mutant, kernel: str, why: str) -> Trial:
    """The result of a mutant that could not be tried."""
    return Trial(mutant, kernel, "BROKEN", detail=why)


def run_until(
    goal: Goal,
    mutant: Mutant,
    kernel: str,
    cases: Sequence[Case],
    run: Run,
    clean: Callable[[Case], bool],
) -> Trial:
    """Runs `cases` on a mutant until the goal is reached. Goal.RULES: after a kill, only cases of rules that were not
    failed yet.

    A result counts only if the unmutated driver passes the case. `clean` runs the case for that.
    """
    killed_by: list[str] = []
    failed: list[Ran] = []
    lost: list[tuple[str, str]] = []
    unfit: list[str] = []
    ran: list[Ran] = []
    left = set(mutant.rules) & {rule for case in cases for rule in case.rules}
    searched = True
    for case in cases:
        if killed_by and goal is not Goal.ALL:
            if goal is Goal.KILL or not left:
                searched = searched and not left & set(case.rules)
                continue
            if not left & set(case.rules):
                continue
        if len(lost) == DEATHS:
            searched = False
            break
        result = run(case)
        ran.append(Ran(case.id, result, case.rules, case.file))
        if result in FINE or not clean(case):
            continue
        if result in mutant.kill:
            killed_by.append(case.id)
            failed.append(ran[-1])
            left -= set(case.rules)
        if result == "BROKEN":
            unfit.append(case.id)
        if result in LOST:
            lost.append((result, case.id))
    apart = [(result, name) for result, name in lost if result not in mutant.kill]
    verdict = "KILLED" if killed_by else apart[0][0] if apart else "SURVIVED"
    details = [f"{result} in {name}" for result, name in apart]
    if unfit and not killed_by:
        details.append(f"BROKEN, not FAIL, in {', '.join(unfit)}")
    return Trial(
        mutant,
        kernel,
        verdict,
        killed_by=tuple(killed_by),
        detail="; ".join(details),
        tried=len(ran),
        failed_rules=failed_rules(mutant, failed),
        searched=searched,
        ran=tuple(ran),
    )


class Clean:
    """The results of the unmutated driver. Only the cases that it passes can kill a mutant."""

    def __init__(self, run: Run) -> None:
        """`run` is called once for each requested case, and never by two threads at the same time."""
        self._run = run
        self._lock = threading.Lock()
        self._results: dict[str, str] = {}

    def passes(self, case: Case) -> bool:
        """Whether the clean driver passes the case."""
        return self._result(case) == "PASS"

    def fits(self, case: Case) -> bool:
        """Whether the clean driver passes the case, or the case does not apply to it."""
        return self._result(case) in FINE

    def _result(self, case: Case) -> str:
        with self._lock:
            if case.id not in self._results:
                self._results[case.id] = self._run(case)
            return self._results[case.id]

    def faults(self) -> list[tuple[str, str]]:
        """The cases that the clean driver fails. A skipped case is no fault."""
        return [(name, result) for name, result in self._results.items() if result not in FINE]


def cases_of_rules(mutant: Mutant, cases: Sequence[Case]) -> list[Case]:
    """The cases of a mutant's rules; all cases if the suite has none for them."""
    chosen = [case for case in cases if set(case.rules) & set(mutant.rules)]
    return chosen or list(cases)


def with_remarks(mutant: Mutant, cases: Sequence[Case]) -> Mutant:
    """The mutant, with a remark for each of its rules that no case verifies."""
    known = {rule for case in cases for rule in case.rules}
    strange = [rule for rule in mutant.rules if rule not in known]
    remarks = list(mutant.remarks)
    if strange:
        remarks.append(f"no case of the suite verifies {', '.join(strange)}")
    if strange and len(strange) == len(mutant.rules):
        remarks.append("all cases are tried")
    return replace(mutant, remarks=tuple(remarks))
