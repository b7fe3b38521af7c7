# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of a run: one changing line on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import os
import time
from typing import TextIO

from .channel import Message
from .console import printable

EVERY = 10
GOOD = ("PASS", "SKIP", "WAIVED")
WIDTH = 100


class Progress:
    """Counts results and prints them."""

    def __init__(self, total: int, out: TextIO) -> None:
        self._total = total
        self._out = out
        self._live = out.isatty()
        self._colour = self._live and "NO_COLOR" not in os.environ
        self._begun = time.monotonic()
        self._done = 0
        self._bad = 0

    def print_line(self, text: str) -> None:
        """Prints a permanent line."""
        self._clear()
        print(text, file=self._out, flush=True)

    def result(self, message: Message) -> None:
        """Counts and prints the result of a case."""
        self._done += 1
        verdict = message["result"]
        if verdict not in GOOD:
            self._bad += 1
            text = printable(str(message["message"]).split("\n")[0])[:WIDTH]
            self.print_line(f"{self._paint(f'{verdict:8}')} {message['id']}: {text}")
        if self._live:
            self._clear()
            print(f"{self._count()}  {message['id']}"[:WIDTH], end="", file=self._out, flush=True)
            if self._done == self._total:
                self._clear()
        elif self._done % EVERY == 0 or self._done == self._total:
            self.print_line(self._count())

    def _count(self) -> str:
        bad = f", {self._bad} not passed" if self._bad else ""
        seconds = time.monotonic() - self._begun
        return f"[{self._done}/{self._total}] cases{bad}, {seconds:.0f} s"

    def _paint(self, text: str) -> str:
        return f"\x1b[31m{text}\x1b[0m" if self._colour else text

    def _clear(self) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=self._out)
