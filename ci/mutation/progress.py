# SPDX-License-Identifier: Apache-2.0
"""Shows how far a run of the mutants is, and how long it may still take."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TextIO

from ci.mutation import report
from ci.mutation.passes import unit_of
from ci.mutation.patch import FUZZ, KUNIT, SUITE, UNIT, Mutant
from ci.mutation.trial import Trial
from ci.units import records

EVERY_S = 30
"""At least so often a line is printed."""
TYPICAL_S: Mapping[str, float] = {UNIT: 10, FUZZ: 10, KUNIT: 60, SUITE: 10}
"""Duration of a trial that has never run on this machine, by observer."""
Planned = tuple[Mutant, str, str]
"""A trial that may run: mutant, kernel, observer."""


class Progress:
    """Counts trials and prints them: on a terminal one line that changes, elsewhere plain lines."""

    def __init__(self, planned: Sequence[Planned], parallel: int, out: TextIO) -> None:
        """`parallel`: the number of trials that run at the same time."""
        self._left = {_key(*each): _expected(*each) for each in planned}
        self._total = len(self._left)
        self._parallel = parallel
        self._out = out
        self._live = out.isatty()
        self._begun = time.monotonic()
        self._alive = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Progress:
        unknown = sum(records.duration(unit, -1) < 0 for unit in self._left)
        first = f", {unknown} of them for the first time" if unknown else ""
        self.print_line(f"{self._total} trials{first}: about {self._remaining()}")
        self._ticker.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._ticker.join()
        with self._lock:
            self._clear()

    def done(self, trial: Trial, fresh: bool) -> None:
        """Counts a trial that has ended. A `fresh` one is printed and its duration recorded; others were recorded
        before."""
        key = _key(trial.mutant, trial.kernel, trial.observer)
        if fresh:
            records.note_duration(key, trial.duration_s)
        with self._lock:
            self._left.pop(key, None)
            self._alive += not trial.killed
        if fresh:
            self.print_line(report.line(trial))

    def skip(self, planned: Planned) -> None:
        """Removes a trial that need not run, since another observer killed the mutant."""
        with self._lock:
            if self._left.pop(_key(*planned), None) is not None:
                self._total -= 1

    def print_line(self, text: str) -> None:
        """Prints a permanent line."""
        with self._lock:
            self._clear()
            self._out.write(f"{text}\n")
            self._show()

    def state(self) -> str:
        """The line about the current state."""
        ended = self._total - len(self._left)
        alive = f", {self._alive} not killed" if self._alive else ""
        spent = time.monotonic() - self._begun
        return (
            f"[{ended}/{self._total}] trials{alive}, {spent:.0f} s, about {self._remaining()} left"
        )

    def _remaining(self) -> str:
        seconds = sum(self._left.values()) / self._parallel
        return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"

    def _tick(self) -> None:
        while not self._ended.wait(1 if self._live else EVERY_S):
            with self._lock:
                if self._live:
                    self._clear()
                    self._show()
                else:
                    self._out.write(f"{self.state()}\n")
                    self._out.flush()

    def _show(self) -> None:
        if self._live and self._ticker.is_alive():
            self._out.write(self.state())
        self._out.flush()

    def _clear(self) -> None:
        if self._live:
            self._out.write("\r\x1b[K")


def _key(mutant: Mutant, kernel: str, observer: str) -> str:
    return unit_of(mutant, kernel, observer)


def _expected(mutant: Mutant, kernel: str, observer: str) -> float:
    return records.duration(_key(mutant, kernel, observer), TYPICAL_S[observer])
