# SPDX-License-Identifier: Apache-2.0
"""Shows how many trials have ended, and how long the others may take."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TextIO

from ci.faults import report
from ci.faults.passes import unit_of
from ci.faults.trial import Planned, Trial
from ci.remember import records
from faults.fault import FUZZ, KERNEL, KUNIT, SUITE, TEST, UNIT

EVERY_S = 30
"""At least so often a line is printed."""
TYPICAL_S: Mapping[str, float] = {UNIT: 10, FUZZ: 10, KUNIT: 60, SUITE: 10, TEST: 60, KERNEL: 60}
"""Duration of a trial that has never run on this machine, by observer; KERNEL: of a built kernel."""


class Progress:
    """Counts trials and prints them: on a terminal one line that changes, elsewhere plain lines."""

    def __init__(self, planned: Sequence[Planned], parallel: int, out: TextIO) -> None:
        """`parallel`: the number of trials that run at the same time."""
        self._left = {unit_of(one): _expected(one) for one in planned}
        self._total = len(self._left)
        self._parallel = parallel
        self._out = out
        self._live = out.isatty()
        self._begun = time.monotonic()
        self._bad = 0
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

    def end(self, planned: Planned, done: Trial) -> None:
        """Counts a trial that has ended. If it ran now, its duration is recorded and a line printed."""
        if not done.recorded:
            records.note_duration(unit_of(planned), done.took_s)
        with self._lock:
            self._left.pop(unit_of(planned), None)
            self._bad += not done.caught and not done.fault.missed
        if not done.recorded:
            self.print_line(report.line(done))

    def remove(self, planned: Planned) -> None:
        """Removes a trial that need not run."""
        with self._lock:
            if self._left.pop(unit_of(planned), None) is not None:
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
        bad = f", {self._bad} not caught" if self._bad else ""
        spent = time.monotonic() - self._begun
        return f"[{ended}/{self._total}] trials{bad}, {spent:.0f} s, about {self._remaining()} left"

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


def _expected(planned: Planned) -> float:
    kind = KERNEL if planned.fault.breaks == KERNEL else planned.observer
    return records.duration(unit_of(planned), TYPICAL_S[kind])
