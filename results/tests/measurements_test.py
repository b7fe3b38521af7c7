# SPDX-License-Identifier: Apache-2.0
"""Measurements of results.json are read within their bounds, and others are one line that names file and case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from results import document, measurements
from results.errors import ResultsError
from results.measurements import Axis, Measurement, Series
from results.tests import measured, runs
from results.tests.page_test import CASE, DOCUMENT
from vm import channel

SERIES = {"name": "event 0", "points": [[0, 1.5], [4, 2]]}
ONE: dict[str, Any] = {
    **{"name": "turns", "title": "Turns", "at": "scope=task", "mark": "spans"},
    **{"x": {"label": "time", "unit": "ms"}, "y": {"label": "event", "unit": ""}},
    **{"series": [{"name": "event 0", "points": [[0, 1.5], [4, 5]]}]},
}


def case(*rows: object) -> dict[str, Any]:
    """A case with these measurements."""
    return CASE | {"measurements": list(rows)}


def many(series: int, points: int) -> dict[str, Any]:
    """A measurement with this number of series, each with this number of points."""
    rows = [{"name": "a", "points": [[0, 1]] * points}] * series
    return ONE | {"series": rows}


def test_measurement_has_all_of_its_facts() -> None:
    axes = Axis("time", "ms"), Axis("event", "")
    series = (Series("event 0", ((0, 1.5), (4, 5))),)
    wanted = Measurement("turns", "Turns", "scope=task", "spans", *axes, series)
    assert measurements.of_case(case(ONE), "x") == [wanted]
    assert [str(axis) for axis in axes] == ["time (ms)", "event"]


def test_case_without_measurements_has_none() -> None:
    assert measurements.of_case(CASE, "x") == []


def test_combination_is_optional() -> None:
    without = {key: value for key, value in ONE.items() if key != "at"}
    (one,) = measurements.of_case(case(without), "x")
    assert one.at == ""


def test_greatest_measurements_are_accepted() -> None:
    rows = [many(16, 32), many(1, 512), ONE, ONE | {"title": "a" * 200}]
    found = measurements.of_case(case(*rows), "x")
    assert [sum(len(series.points) for series in one.series) for one in found] == [512, 512, 2, 2]


def test_examples_have_each_mark() -> None:
    found = {
        one.mark
        for rows in measured.everything().values()
        for one in measurements.of_case(case(*rows), "x")
    }
    assert found == set(measurements.MARKS)


def test_bounds_are_those_of_the_channel() -> None:
    schema = json.loads((runs.ROOT / "vm" / "channel_schema.json").read_text(encoding="utf-8"))
    kinds = schema["$defs"]
    (result,) = [one["then"] for one in schema["allOf"] if "result" in str(one["if"])]
    assert result["properties"]["measurements"]["maxItems"] == measurements.MOST_MEASUREMENTS
    one = kinds["measurement"]["properties"]
    assert one["series"]["maxItems"] == measurements.MOST_SERIES
    assert kinds["series"]["properties"]["points"]["maxItems"] == measurements.MOST_POINTS
    assert channel.MOST_POINTS == measurements.MOST_POINTS
    assert one["mark"]["enum"] == list(measurements.MARKS)
    assert one["name"]["pattern"] == f"^{measurements.NAME.pattern}$"
    assert kinds["text"]["maxLength"] == measurements.MOST_CHARACTERS
    assert -kinds["number"]["minimum"] == kinds["number"]["maximum"] == measurements.MOST


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({}, "measurements: no list"),
        ([ONE] * 5, "measurements: 5 elements, more than 4"),
        ([1], "measurements[0]: no object"),
        (
            [ONE, ONE | {"name": "A b"}],
            "measurements[1].name: 'A b' does not match [a-z][a-z0-9_]*",
        ),
        ([ONE | {"mark": "pie"}], "measurements[0].mark: 'pie' is none of line, points, bars"),
        ([ONE | {"title": 7}], "measurements[0].title: no text of one line"),
        ([ONE | {"title": "a\nb"}], "measurements[0].title: no text of one line"),
        ([ONE | {"title": "a" * 201}], "measurements[0].title: longer than 200 characters"),
        ([ONE | {"at": None}], "measurements[0].at: no text of one line"),
        ([ONE | {"x": None}], "measurements[0].x: no object"),
        ([ONE | {"y": {"label": "a"}}], "measurements[0].y.unit: no text of one line"),
        ([ONE | {"series": None}], "measurements[0].series: no list"),
        ([ONE | {"series": []}], "measurements[0].series: no series"),
        ([many(17, 1)], "measurements[0].series: 17 elements, more than 16"),
        ([many(1, 513)], "measurements[0].series[0].points: 513 elements, more than 512"),
        ([many(3, 171)], "measurements[0].series: 513 points, more than 512"),
        ([ONE | {"series": [{"name": "a", "points": [[1, 2], [3]]}]}], "points[1]: no list of two"),
        ([ONE | {"series": [{"name": "a", "points": [[1, "2"]]}]}], "points[0]: no list of two"),
        ([ONE | {"series": [{"name": "a", "points": [[1, True]]}]}], "points[0]: no list of two"),
        (
            [ONE | {"series": [{"name": "a", "points": [[0, float("nan")]]}]}],
            "[0]: nan is not from",
        ),
        (
            [ONE | {"series": [{"name": "a", "points": [[0, float("inf")]]}]}],
            "[0]: inf is not from",
        ),
        ([ONE | {"series": [{"name": "a", "points": [[0, 1e31]]}]}], "1e+31 is not from -1e+30 to"),
        ([ONE | {"series": [{"name": "a", "points": [[0, 1], [3, 2]]}]}], "[1]: 3 is after 2"),
    ],
)
def test_measurement_out_of_bounds_is_one_line(tmp_path: Path, rows: object, said: str) -> None:
    file = tmp_path / "results.json"
    content = DOCUMENT | {"cases": [CASE | {"measurements": rows}]}
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ResultsError) as refusal:
        document.read(file)
    text = str(refusal.value)
    assert text.startswith(f"{file}: case A.One: measurements") and said in text
    assert text.count("\n") == 0 and len(text) < 300 + len(str(file))


def test_point_whose_end_is_before_its_begin_is_only_refused_in_spans() -> None:
    series = [{"name": "a", "points": [[3, 2]]}]
    assert measurements.of_case(case(ONE | {"mark": "points", "series": series}), "x")
