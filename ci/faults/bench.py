# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of one target in guests, on variants of the code under test and on the clean original."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from ci.faults.trial import Attempt, Clean, complaints
from pmubase.errors import UserError
from vm import session, suite
from vm.channel import Message
from vm.guest import GuestLost

Built = TypeVar("Built")
"""The product of a variant's build: a module or a kernel."""
Open = Callable[[suite.Target, Built, Path, list[Message]], session.Session]
"""Opens guests with a variant. They write a log, and add their messages to a list."""


class Unclean(UserError):
    """The clean original cannot be judged, so no variant can be judged either."""


class Bench(Generic[Built]):
    """One target on one kernel: its cases, and guests with a variant."""

    def __init__(
        self,
        target: suite.Target,
        original: Callable[[], Built],
        open_guests: Open[Built],
        log: Path,
        ends: bool = False,
    ) -> None:
        """`original` returns the clean variant. `ends`: the kernel reports at the end of a guest, for each case."""
        self.target = target
        self.cases = tuple(suite.cases(target, suite.Selection()))
        self.clean = Clean(self._run_clean)
        self._original = original
        self._open = open_guests
        self._log = log
        self._ends = ends
        self._stack = contextlib.ExitStack()
        self._guests: session.Session | None = None
        self._messages: list[Message] = []

    def close(self) -> None:
        """Ends the guests of the original."""
        self._stack.close()

    def rest(self) -> None:
        """Ends the guest of the original, which costs time also while it is idle. The next case starts another one."""
        if self._guests is not None:
            self._guests.power_off_now()

    def attempt(
        self,
        built: Built,
        attempt: Attempt,
        cases: Sequence[suite.Case],
        log: Path,
        run: Callable[[session.Session, suite.Case], str],
    ) -> str:
        """Runs cases on a variant. Returns the verdict on a guest that died before any case ran, such as CRASH."""
        messages: list[Message] = []
        try:
            with self._open(self.target, built, log, messages) as guests:
                attempt.run(cases, lambda case: run(guests, case), self.clean.passes)
                if not attempt.done:
                    attempt.add_signs([*filter(self._is_clean_for, _end(guests, messages))])
        except UserError as error:
            if isinstance(error, Unclean) or not isinstance(error.__context__, GuestLost):
                raise
            return str(error.__context__.verdict)
        return ""

    def _is_clean_for(self, complaint: str) -> bool:
        """Whether the original passes the case of a complaint. A complaint without a case stands for any case."""
        known = {case.id: case for case in self.cases}
        return self.clean.fits(known.get(complaint, self.cases[0]))

    def _run_clean(self, case: suite.Case) -> str:
        with convert_to_unclean("the clean original"):
            first = self._guests is None
            if self._guests is None:
                guests = self._open(self.target, self._original(), self._log, self._messages)
                self._guests = self._stack.enter_context(guests)
            result = run_case(self._guests, case)
            # Messages about the module's load and unload are the same for all cases, so one check is enough.
            ends = first or self._ends
            return "CRASH" if ends and _end(self._guests, self._messages) else result


@contextlib.contextmanager
def convert_to_unclean(whom: str) -> Iterator[None]:
    """Converts an error into Unclean."""
    try:
        yield
    except UserError as error:
        raise Unclean(f"{whom}: {error}", error.details) from error


def run_case(guests: session.Session, case: suite.Case) -> str:
    """The result of a case. The cause of a BROKEN result may also break later cases, so they get another guest."""
    result = str(guests.run(case)["result"])
    if result == "BROKEN":
        guests.power_off_now()
    return result


def run_twice(guests: session.Session, case: suite.Case) -> str:
    """The same, but a failure must repeat itself: guests run while another kernel is built, so a single failure may be
    due to the load of this machine."""
    result = run_case(guests, case)
    return run_case(guests, case) if result == "FAIL" else result


def _end(guests: session.Session, messages: list[Message]) -> list[str]:
    """The kernel's complaints after the last case. A debug kernel also looks for memory leaks."""
    before = len(messages)
    guests.finish()
    return complaints(messages[before:])
