# SPDX-License-Identifier: Apache-2.0
"""The part of a page's data about measurements: their pictures, and the numbers behind them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from results import facts, measurements, plots
from results.document import Run
from results.measurements import Measurement

MOST_BYTES = 3_000_000
"""The pictures and numbers of a page, in bytes. The rest of the page of a run has at most half as many."""
MOST_PICTURES = 100
"""A picture costs about 0.2 s."""
NO_LIBRARY = "There is no picture, since matplotlib was not installed where this page was made."
NO_ROOM = "This page has no room for more pictures. The file results.json has the numbers under the key measurements."


class _Room:
    """The room in a page that remains for pictures."""

    def __init__(self) -> None:
        self._bytes = MOST_BYTES
        self._pictures = 0
        self._library = plots.available()

    def column(self, number: int, run: Run, case: str, one: Measurement) -> dict[str, Any]:
        """The picture of a measurement in one run, and its numbers. A note has the reason if there is no picture."""
        found: dict[str, Any] = {"run": number}
        if one.left_out:
            found["left_out"] = one.left_out
        data = [[series.name, series.points] for series in one.series]
        size = len(json.dumps(data).encode())
        if self._pictures >= MOST_PICTURES or size > self._bytes:
            return found | {"note": NO_ROOM}
        self._pictures += 1
        found["series"] = data
        if not self._library:
            self._bytes -= size
            return found | {"note": NO_LIBRARY}
        picture = plots.draw(one, f"p{self._pictures}", _description(run, case, one))
        size += len(json.dumps(picture).encode())
        self._bytes -= size
        return found | {"picture": picture}


def of_runs(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The measured cases, those with a bad result first. Several runs of a measurement are columns of one figure."""
    room = _Room()
    return [_case(runs, room, *one) for one in _ordered(runs)]


def _ordered(runs: Sequence[Run]) -> Iterator[tuple[str, list[str]]]:
    """The measured cases and their rules."""
    rules: dict[str, list[str]] = {}
    ranks: dict[str, int] = {}
    for run in runs:
        for case in run.data["cases"]:
            if case.get(measurements.KEY):
                result = case["result"]
                rank = facts.BAD.index(result) if result in facts.BAD else len(facts.BAD)
                rules.setdefault(case["id"], case["rules"])
                ranks[case["id"]] = min(rank, ranks.get(case["id"], rank))
    yield from sorted(rules.items(), key=lambda one: ranks[one[0]])


def _case(runs: Sequence[Run], room: _Room, name: str, rules: list[str]) -> dict[str, Any]:
    figures: dict[tuple[str, str, int], dict[str, Any]] = {}
    for number, run in enumerate(runs):
        seen: dict[tuple[str, str], int] = {}
        for case in run.data["cases"]:
            if case["id"] != name:
                continue
            for one in measurements.of_case(case, str(run.path)):
                key = (one.name, one.at)
                seen[key] = seen.get(key, 0) + 1
                figure = figures.setdefault((*key, seen[key]), _figure(one))
                figure["columns"].append(room.column(number, run, name, one))
    return {"case": name, "rules": rules, "figures": list(figures.values())}


def _figure(one: Measurement) -> dict[str, Any]:
    figure: dict[str, Any] = {"name": one.name, "title": one.title, "at": one.at, "columns": []}
    if one.mark == "spans":
        figure["heads"] = ["begin", "end"]
        figure["axes"] = f"x: {one.x}, one row for each {one.y}"
        figure["heads"] = [
            f"{head} ({one.x.unit})" if one.x.unit else head for head in ("begin", "end")
        ]
    else:
        figure["heads"] = [str(one.x), str(one.y)]
        figure["axes"] = f"x: {one.x}, y: {one.y}"
    return figure


def _description(run: Run, case: str, one: Measurement) -> str:
    """Describes a picture to those who cannot see it."""
    at = f", {one.at}" if one.at else ""
    names = ", ".join(series.name for series in one.series)
    return f"{one.title}, {case}{at}, {run.place}. x: {one.x}, y: {one.y}. Series: {names}."
