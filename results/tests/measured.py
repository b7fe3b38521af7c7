# SPDX-License-Identifier: Apache-2.0
"""Measurements for tests: what cases of a good PMU would record, with each mark."""

from __future__ import annotations

import random
from typing import Any

Measured = dict[str, Any]
MULTIPLEX = "Multiplex.TaskEventsTakeTurnsWithoutLoss"
TURN_MS = 4


def measurement(
    name: str, title: str, mark: str, axes: tuple[str, str], series: dict[str, list[Any]]
) -> Measured:
    """One measurement. `axes`: labels of x and y, with their units in brackets, as in "time (ms)"."""
    rows = [
        {"name": key, "points": [list(point) for point in points]} for key, points in series.items()
    ]
    x, y = map(_axis, axes)
    return {"name": name, "title": title, "mark": mark, "x": x, "y": y, "series": rows}


def _axis(text: str) -> dict[str, str]:
    label, _, unit = text.partition(" (")
    return {"label": label, "unit": unit.removesuffix(")")}


def _noise(number: int) -> float:
    """A random number from 0 to 1, the same in each run."""
    return random.Random(number).random()


def turns(events: int = 6, counters: int = 4, end_ms: int = 120) -> Measured:
    """Six events take turns on four counters, one tick of the kernel each."""
    rows: dict[str, list[Any]] = {f"event {event}": [] for event in range(events)}
    for turn in range(end_ms // TURN_MS):
        for counter in range(counters):
            begin = turn * TURN_MS + round(0.1 * _noise(turn), 3)
            rows[f"event {(turn + counter) % events}"].append((begin, (turn + 1) * TURN_MS))
    axes = ("time (ms)", "event")
    return measurement("turns", "Turns of events on the counters", "spans", axes, rows)


def running(events: int = 6, ticks: int = 60) -> Measured:
    """Time running over time enabled approaches 4/6."""
    share = {
        f"event {event}": [
            (
                TURN_MS * tick,
                round(66.7 + 33 * (_noise(7 * event + tick) - 0.5) / (1 + tick / 4), 2),
            )
            for tick in range(1, ticks + 1)
        ]
        for event in range(events)
    }
    axes = ("time (ms)", "running / enabled (%)")
    return measurement("running", "Time running over time enabled", "line", axes, share)


def counts(events: int = 8) -> Measured:
    """Scaled counts are near the truth."""
    counted = [(event, round(1_000_000 * (0.98 + 0.04 * _noise(event)))) for event in range(events)]
    rows = {"count": counted, "truth": [(event, 1_000_000) for event in range(events)]}
    axes = ("event", "count (instructions)")
    return measurement("counts", "Count against truth", "bars", axes, rows)


def skid(samples: int = 150) -> Measured:
    """Precise events have less skid."""
    rows = {
        "precise_ip 0": [(n, 20 + round(60 * _noise(n) * _noise(n + 999))) for n in range(samples)],
        "precise_ip 1": [(n, round(12 * _noise(n + 77))) for n in range(samples)],
        "precise_ip 2": [(n, 0) for n in range(0, samples, 5)],
    }
    axes = ("sample", "skid (instructions)")
    return measurement("skid", "Skid of samples", "points", axes, rows)


def distances() -> Measured:
    """The distances between samples are the period, and more after a lost interrupt."""
    rows = {
        "period 100 000": [(100_000 + 50 * n, round(200 / (1 + n * n))) for n in range(-20, 21)]
    }
    axes = ("distance (events)", "samples")
    return measurement("distances", "Distances between samples", "bars", axes, rows)


def throttling(ticks: int = 50) -> Measured:
    """The kernel stops the event in each tick after a number of samples."""
    samples = [(TURN_MS * n, 25 if n % 10 > 1 else 24 - round(9 * _noise(n))) for n in range(ticks)]
    limit = [(0, 25), (TURN_MS * ticks, 25)]
    rows = {"samples": samples, "limit": limit}
    axes = ("time (ms)", "samples per tick")
    return measurement("throttling", "Samples in each tick", "steps", axes, rows)


def read_cost() -> Measured:
    """The costs of a read(2) by the size of the group."""
    rows = {
        "read(2)": [(n, 850 + 95 * n) for n in (1, 2, 4, 8, 16)],
        "rdpmc": [(n, 38 * n) for n in (1, 2, 4, 8, 16)],
    }
    axes = ("events of the group", "median (ns)")
    return measurement("read_cost", "Cost of a read", "line", axes, rows)


def largest(mark: str, series: int = 16, points: int = 512) -> Measured:
    """A measurement of the greatest size, whose points are all over the picture."""
    each = points // series
    rows: dict[str, list[Any]] = {}
    for number in range(series):
        rows[f"event {number}"] = [
            (n, n + 0.75) if mark == "spans" else (n, round(1000 * _noise(n * 31 + number * 7)))
            for n in range(each)
        ]
    return measurement("largest", "The largest picture", mark, ("time (ms)", "count"), rows)


def everything() -> dict[str, list[Measured]]:
    """Measurements of a whole run by case, with each mark."""
    return {
        MULTIPLEX: [turns() | {"at": "scope=task member=leader"}, running()],
        "Multiplex.ScaledCountErrorIsBounded": [counts()],
        "Precise.IpPointsToSampledInstruction": [skid(), distances()],
        "Throttle.UnthrottledEventResumes": [throttling()],
        "Group.GroupReadingIsOneSnapshot": [read_cost()],
    }
