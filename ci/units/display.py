# SPDX-License-Identifier: Apache-2.0
"""Prints the progress of units, and at the end the failures with their causes and repro commands."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from ci.units.unit import Outcome, Unit

TAIL_LINES = 40
NAMES_SHOWN = 20
RED, GREEN, YELLOW, PLAIN = "\033[31m", "\033[32m", "\033[33m", "\033[0m"
CLEAR = "\r\033[K"


class Display:
    """Prints a line for each unit that ran. A terminal also shows the running units."""

    def __init__(self, count: int, out: TextIO) -> None:
        self._count = count
        self._done = 0
        self._out = out
        self._live = out.isatty()
        self._colours = self._live and "NO_COLOR" not in os.environ

    def begin(self, text: str) -> None:
        """Prints the first line."""
        self._print(text)

    def ended(self, outcome: Outcome, running: Sequence[str]) -> None:
        """Prints a line about a unit that has ended. A cached unit has none."""
        self._done += 1
        if not outcome.cached:
            self._print(self._line(outcome))
            for remark in outcome.remarks:
                self._print(f"    {self._colour(YELLOW, remark)}")
            if outcome.failed:
                self._failure(outcome)
        if self._live and running:
            self._out.write(f"{CLEAR}[{self._done}/{self._count}] {', '.join(running)}"[:150])
            self._out.flush()

    def end(
        self, outcomes: Sequence[Outcome], never: Sequence[Unit], stopped: bool = False
    ) -> None:
        """Prints the last lines: the failures by name, and the count of all tests.

        `stopped`: the run ended at its first failure, which is why `never` did not run.
        """
        cached = [outcome for outcome in outcomes if outcome.cached]
        tests = sum(len(outcome.cases) for outcome in cached)
        if cached:
            self._print(
                f"cached: {len(cached)} units, {tests} tests: nothing that they read changed"
            )
        for outcome in outcomes:
            if outcome.failed:
                names = [case.id for case in outcome.failed]
                more = len(names) - NAMES_SHOWN
                text = ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
                self._print(f"failed in {outcome.unit.name}: {text}")
        if stopped and never:
            self._print(f"stopped at the first failure: {len(never)} units did not run")
        for unit in () if stopped else never:
            self._print(f"not run: {unit.name}: a build that it needs failed")
        for outcome in outcomes:
            for remark in outcome.remarks[:1]:
                self._print(f"{outcome.unit.name}: {remark}")
        every = [case for outcome in outcomes for case in outcome.cases]
        passed = sum(case.result == "PASS" for case in every)
        skipped = sum(case.result in ("SKIP", "WAIVED") for case in every)
        failed = len(every) - passed - skipped + len(never)
        self._print(f"{passed} passed, {failed} failed, {skipped} skipped")

    def _line(self, outcome: Outcome) -> str:
        unit = outcome.unit
        failed = len(outcome.failed)
        passed = sum(case.result == "PASS" for case in outcome.cases)
        word = self._colour(RED, f"{failed} FAILED") if failed else self._colour(GREEN, "ok")
        count = "" if unit.build else f"{passed} passed"
        why = f"  ({outcome.why})" if outcome.why and not unit.build else ""
        head = f"[{self._done:>3}/{self._count}] {unit.name:52}"
        return f"{head} {word} {count:>12} {outcome.took_s:>7.1f} s{why}"

    def _failure(self, outcome: Outcome) -> None:
        for case in outcome.failed[:NAMES_SHOWN]:
            self._print(f"    {case.id}: {case.message}" if case.message else f"    {case.id}")
        for line in _tail(outcome.unit.log):
            self._print(f"    | {line}")
        self._print(f"    whole log: {os.path.relpath(outcome.unit.log)}")
        self._print(f"    repeat only this: {outcome.unit.repeat}")

    def _colour(self, code: str, text: str) -> str:
        return f"{code}{text}{PLAIN}" if self._colours else text

    def _print(self, text: str) -> None:
        self._out.write(f"{CLEAR if self._live else ''}{text}\n")
        self._out.flush()


def _tail(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
    except OSError:
        return []
