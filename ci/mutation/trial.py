# SPDX-License-Identifier: Apache-2.0
"""Runs cases on a mutant and decides whether one of them killed it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ci.mutation.patch import Mutant
from vm.channel import Message
from vm.suite import Case

DEATHS = 3
"""After so many dead guests no more cases run on a mutant."""
LOST = ("CRASH", "TIMEOUT")
FINE = ("PASS", "SKIP", "WAIVED")
"""Results that do not count against a driver."""

Run = Callable[[Case], str]
"""Runs one case and returns its result."""


@dataclass(frozen=True)
class Trial:
    """The result of one mutant on one kernel."""

    mutant: Mutant
    kernel: str
    result: str
    killed_by: tuple[str, ...] = ()
    other_rules: bool = False
    detail: str = ""
    duration_s: float = 0.0
    tried: int = 0
    observer: str = "cases"

    @property
    def killed(self) -> bool:
        """Whether the suite caught the mutant."""
        return self.result == "KILLED"

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
        )


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


def run_until_kill(
    mutant: Mutant,
    kernel: str,
    cases: Sequence[Case],
    run: Run,
    clean: Callable[[Case], bool],
    every: bool,
) -> Trial:
    """Runs `cases` on a mutant until one kills it, or all of them if `every`.

    A result counts only if the unmutated driver passes the case. `clean` runs the case for that.
    """
    killed_by: list[str] = []
    lost: list[tuple[str, str]] = []
    unfit: list[str] = []
    tried = 0
    for case in cases:
        result = run(case)
        tried += 1
        if result in FINE or not clean(case):
            continue
        if result in mutant.kill:
            killed_by.append(case.id)
            if not every:
                break
        if result == "BROKEN":
            unfit.append(case.id)
        if result in LOST:
            lost.append((result, case.id))
            if len(lost) == DEATHS:
                break
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
        tried=tried,
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
