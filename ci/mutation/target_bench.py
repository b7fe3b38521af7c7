# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of one target in guests, on a variant and on the clean original, until a case kills the variant."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

from ci.mutation import trial
from ci.mutation.trial import Clean, Goal, Trial
from faults.mutant_file import Mutant
from pmubase.errors import UserError
from vm import session, suite
from vm.channel import Message
from vm.guest import GuestLost

Built = TypeVar("Built")
"""The product of a variant's build: a module or a kernel."""


class Unclean(Exception):
    """The clean original cannot be judged, so no variant can be judged either."""


class TargetBench(abc.ABC, Generic[Built]):
    """One target on one kernel: its cases, and guests with a variant."""

    def __init__(
        self, name: str, target: suite.Target, clean: Built, out: Path, debug: bool = False
    ) -> None:
        """`name`: the kernel. `out`: folder of the logs. `debug`: the kernel reports at the end of a guest."""
        self.name = name
        self.target = target
        self.out = out
        self.cases = tuple(suite.cases(target, suite.Selection()))
        self.clean = Clean(self._run_clean)
        self.stack = contextlib.ExitStack()
        self._debug = debug
        self._original = clean
        self._guests: session.Session | None = None
        self._messages: list[Message] = []

    def __exit__(self, *_: object) -> None:
        self.stack.close()

    @abc.abstractmethod
    def open(self, built: Built, log: Path, messages: list[Message]) -> session.Session:
        """Guests with the variant `built`. Their messages are added to `messages`."""

    def run_case(self, guests: session.Session, case: suite.Case) -> str:
        """The result of a case on a variant."""
        return run_case(guests, case)

    def judge(
        self,
        built: Built,
        mutant: Mutant,
        goal: Goal,
        groups: Sequence[Sequence[suite.Case]],
        log: Path,
    ) -> Trial:
        """Runs groups of cases until one of them kills. `mutant`: the header of the variant."""
        messages: list[Message] = []
        try:
            with self.open(built, log, messages) as guests:

                def run_until(cases: Sequence[suite.Case]) -> Trial:
                    run = partial(self.run_case, guests)
                    done = trial.run_until(goal, mutant, self.name, cases, run, self.clean.passes)
                    if done.killed:
                        return done
                    found = filter(self._is_clean_for, _end(guests, messages))
                    return trial.at_the_end(done, [*found])

                first, *others = groups
                done = run_until(first)
                for cases in others:
                    if cases and not done.killed:
                        done = done.continued_by(run_until(cases))
                return done
        except UserError as error:
            lost = error.__context__
            if not isinstance(lost, GuestLost):
                return trial.broken(mutant, self.name, str(error))
            # The guest died before any case ran.
            result = "KILLED" if lost.verdict in mutant.kill else lost.verdict
            killers = ("(load)",) if result == "KILLED" else ()
            detail = f"at load: {lost.cause}"
            return Trial(mutant, self.name, result, killed_by=killers, detail=detail, searched=True)

    def _is_clean_for(self, complaint: str) -> bool:
        """Whether the original passes the case of a complaint. A complaint without a case stands for any case."""
        known = {case.id: case for case in self.cases}
        return self.clean.fits(known.get(complaint, self.cases[0]))

    def _run_clean(self, case: suite.Case) -> str:
        with convert_to_unclean("the clean original"):
            first = self._guests is None
            if self._guests is None:
                log = self.out / f"clean-{self.target.name}-{self.name}.log"
                guests = self.open(self._original, log, self._messages)
                self._guests = self.stack.enter_context(guests)
            result = run_case(self._guests, case)
            # Messages about the module's load and unload are the same for all cases, so one check is enough.
            ends = first or self._debug
            return "CRASH" if ends and _end(self._guests, self._messages) else result


@contextlib.contextmanager
def convert_to_unclean(whom: str) -> Iterator[None]:
    """Converts an error into Unclean."""
    try:
        yield
    except UserError as error:
        raise Unclean(f"{whom}: {error}") from error


def run_case(guests: session.Session, case: suite.Case) -> str:
    """The result of a case. The cause of a BROKEN result may also break later cases, so they get another guest."""
    result = str(guests.run(case)["result"])
    if result == "BROKEN":
        guests.power_off_now()
    return result


def _end(guests: session.Session, messages: list[Message]) -> list[str]:
    """The kernel's complaints after the last case. A debug kernel also looks for memory leaks."""
    before = len(messages)
    guests.finish()
    return trial.complaints(messages[before:])
