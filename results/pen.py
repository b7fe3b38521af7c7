# SPDX-License-Identifier: Apache-2.0
"""Writes the commands of a path in SVG, in few bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def number(value: float) -> str:
    """A coordinate in pixels, with a resolution of 0.1 pixels."""
    text = f"{value:.1f}".removesuffix(".0")
    if text.startswith(("0.", "-0.")):
        text = text.replace("0", "", 1)
    return "0" if text == "-0" else text


class Pen:
    """Moves from point to point. A command is relative to the rounded place of the last point, so that no error adds
    up."""

    def __init__(self) -> None:
        self._words: list[str] = []
        self._last = (0, 0)  # in tenths of a pixel
        self._begin = (0, 0)
        self._command = ""
        self._points = 0

    def draw(self, command: str, points: Sequence[tuple[float, float]]) -> None:
        """One command: m (move), l (line), q or c (curve). The first one of a path is a move in any case."""
        rounded = [(round(10 * x), round(10 * y)) for x, y in points]
        if not self._words:
            command = "m"
        x, y = self._last
        offsets = [(ahead - x, down - y) for ahead, down in rounded]
        self._last = rounded[-1]
        self._points += 1
        if command == "m":
            self._begin = self._last
        elif command == "l" and offsets == [(0, 0)]:
            self._points -= 1
            return
        values = [value for offset in offsets for value in offset]
        if command == "l" and values[1] == 0:
            command, values = "h", values[:1]
        elif command == "l" and values[0] == 0:
            command, values = "v", values[1:]
        self._add(command, [number(value / 10) for value in values])

    def close(self) -> None:
        """Draws a line to the begin."""
        self._words.append("z")
        self._command = ""
        self._last = self._begin

    def text(self) -> str:
        """The path. A lone point occurs twice, since browsers draw no marker on it otherwise."""
        return "".join([*self._words, "h0"] if self._points == 1 else self._words)

    def _add(self, command: str, numbers: Iterable[str]) -> None:
        """A command that repeats needs no letter; a line after a move neither. A sign separates, like a space."""
        repeats = (
            command == self._command and command in "lm" or (command, self._command) == ("l", "m")
        )
        text = "" if repeats and command != "m" else command
        for word in numbers:
            text += (
                word
                if word.startswith("-") or text in ("m", "l", "h", "v", "q", "c")
                else f" {word}"
            )
        self._words.append(text)
        self._command = command
