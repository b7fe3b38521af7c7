# SPDX-License-Identifier: Apache-2.0
"""The measurements of a case in results.json, and their bounds. docs/results.md describes them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from results.errors import ResultsError

KEY = "measurements"
MARKS = ("line", "points", "bars", "steps", "spans")
MOST_MEASUREMENTS = 4
"""The measurements of a case."""
MOST_SERIES = 16
MOST_POINTS = 512
"""The points of a measurement, in all of its series."""
MOST_CHARACTERS = 200
"""The length of a text."""
MOST = 1e30
"""The largest absolute value of a number."""
NAME = re.compile(r"[a-z][a-z0-9_]*")
CONTROL = re.compile(r"[\x00-\x1f\x7f]")

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """The quantity of an axis, and its unit; "" if it has none."""

    label: str
    unit: str

    def __str__(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class Series:
    """Points [x, y]. With the mark `spans`, a point is the begin and the end of a span, both on the x axis."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Measurement:
    """Series of numbers that a case recorded."""

    name: str
    title: str
    at: str
    """The combination of the case's dimensions; "" if it has none."""
    mark: str
    """One of MARKS."""
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    left_out: int = 0
    """The number of points beyond the bounds, which the case dropped."""


def of_case(case: Mapping[str, Any], where: str) -> list[Measurement]:
    """The measurements of a case in results.json. ResultsError names `where`, the case, and the key that is wrong."""
    if KEY not in case:
        return []
    return _Reader(f"{where}: case {case.get('id')}").all(case[KEY])


class _Reader:
    """Checks measurements. Its errors begin with the place of the measurements."""

    def __init__(self, where: str) -> None:
        self.where = where

    def all(self, data: Any) -> list[Measurement]:
        """The measurements of the key."""
        rows = self._list(data, KEY, MOST_MEASUREMENTS)
        return [self._one(row, f"{KEY}[{number}]") for number, row in enumerate(rows)]

    def _one(self, data: Any, key: str) -> Measurement:
        row = self._object(data, key)
        name = self._text(row, "name", key)
        if not NAME.fullmatch(name):
            raise self._error(f"{key}.name", f"'{name}' does not match {NAME.pattern}")
        mark = self._text(row, "mark", key)
        if mark not in MARKS:
            raise self._error(f"{key}.mark", f"'{mark}' is none of {', '.join(MARKS)}")
        rows = self._list(row.get("series"), f"{key}.series", MOST_SERIES)
        if not rows:
            raise self._error(f"{key}.series", "no series")
        series = tuple(
            self._series(one, f"{key}.series[{number}]", mark) for number, one in enumerate(rows)
        )
        points = sum(len(one.points) for one in series)
        if points > MOST_POINTS:
            raise self._error(f"{key}.series", f"{points} points, more than {MOST_POINTS}")
        at = self._text(row, "at", key) if "at" in row else ""
        title = self._text(row, "title", key)
        x, y = (self._axis(row.get(axis), f"{key}.{axis}") for axis in ("x", "y"))
        left_out = row.get("left_out", 0)
        if isinstance(left_out, bool) or not isinstance(left_out, int) or left_out < 0:
            raise self._error(f"{key}.left_out", "no number of points")
        return Measurement(name, title, at, mark, x, y, series, left_out)

    def _axis(self, data: Any, key: str) -> Axis:
        row = self._object(data, key)
        return Axis(self._text(row, "label", key), self._text(row, "unit", key))

    def _series(self, data: Any, key: str, mark: str) -> Series:
        row = self._object(data, key)
        name = self._text(row, "name", key)
        points = self._list(row.get("points"), f"{key}.points", MOST_POINTS)
        found = [self._point(one, f"{key}.points[{number}]") for number, one in enumerate(points)]
        if mark == "spans":
            for number, (begin, end) in enumerate(found):
                if begin > end:
                    raise self._error(f"{key}.points[{number}]", f"{begin:g} is after {end:g}")
        return Series(name, tuple(found))

    def _point(self, data: Any, key: str) -> Point:
        if not isinstance(data, list) or len(data) != 2:
            raise self._error(key, "no list of two numbers")
        return self._number(data[0], key), self._number(data[1], key)

    def _number(self, data: Any, key: str) -> float:
        if isinstance(data, bool) or not isinstance(data, (int, float)):
            raise self._error(key, "no list of two numbers")
        if not math.isfinite(data) or abs(data) > MOST:
            raise self._error(key, f"{data:.6g} is not from -{MOST:g} to {MOST:g}")
        return data

    def _text(self, row: Mapping[str, Any], name: str, key: str) -> str:
        text = row.get(name)
        if not isinstance(text, str) or CONTROL.search(text):
            raise self._error(f"{key}.{name}", "no text of one line")
        if len(text) > MOST_CHARACTERS:
            raise self._error(f"{key}.{name}", f"longer than {MOST_CHARACTERS} characters")
        return text

    def _object(self, data: Any, key: str) -> Mapping[str, Any]:
        if not isinstance(data, dict):
            raise self._error(key, "no object")
        return data

    def _list(self, data: Any, key: str, most: int) -> list[Any]:
        if not isinstance(data, list):
            raise self._error(key, "no list")
        if len(data) > most:
            raise self._error(key, f"{len(data)} elements, more than {most}")
        return data

    def _error(self, key: str, problem: str) -> ResultsError:
        return ResultsError(f"{self.where}: {key}: {problem}")
