# SPDX-License-Identifier: Apache-2.0
"""Shows how many trials have ended, and how long the others may take."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TextIO

from ci.remember import records

EVERY_S = 30
"""At least so often a line is printed."""


class Counting:
    """Counts trials and prints them: on a terminal one line that changes, elsewhere plain lines."""

    alive_word = "not killed"
    """Describes a trial without the wanted result."""

    def __init__(self, expected: Mapping[str, float], parallel: int, out: TextIO) -> None:
        """`expected`: the seconds that each trial may take. `parallel`: the number of trials that run at the same
        time."""
        self._left = dict(expected)
        self._total = len(self._left)
        self._parallel = parallel
        self._out = out
        self._live = out.isatty()
        self._begun = time.monotonic()
        self._alive = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._ticker = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Counting:
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

    def end(self, unit: str, good: bool, took_s: float, line: str | None) -> None:
        """Counts a trial that has ended. With a line, the trial ran now: its duration is recorded and the line printed.
        Without one, it was recorded before."""
        if line is not None:
            records.note_duration(unit, took_s)
        with self._lock:
            self._left.pop(unit, None)
            self._alive += not good
        if line is not None:
            self.print_line(line)

    def remove(self, unit: str) -> None:
        """Removes a trial that need not run."""
        with self._lock:
            if self._left.pop(unit, None) is not None:
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
        alive = f", {self._alive} {self.alive_word}" if self._alive else ""
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
