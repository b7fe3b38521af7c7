# SPDX-License-Identifier: Apache-2.0
"""Paths of SVG are short and exact."""

from __future__ import annotations

import pytest

from results.pen import Pen, number


@pytest.mark.parametrize(
    ("value", "text"),
    [(1, "1"), (1.04, "1"), (1.06, "1.1"), (0.5, ".5"), (-0.5, "-.5"), (-0.01, "0"), (10, "10")],
)
def test_number_has_one_decimal(value: float, text: str) -> None:
    assert number(value) == text


def test_lines_are_relative_and_need_few_letters() -> None:
    pen = Pen()
    for point in [(10.0, 20.0), (13.3, 18.0), (14.0, 18.5), (14.0, 10.0), (20.0, 10.0)]:
        pen.draw("l", [point])
    assert pen.text() == "m10 20 3.3-2 .7 .5v-8.5h6"


def test_rounding_errors_do_not_add_up() -> None:
    pen = Pen()
    pen.draw("m", [(0.0, 0.0)])
    for step in range(1, 101):
        pen.draw("l", [(step * 0.04, 0.0)])
    assert sum(float(word) for word in pen.text().split("h")[1:]) == pytest.approx(4.0)


def test_second_part_begins_at_the_begin_of_a_closed_one() -> None:
    pen = Pen()
    for command, point in [("m", (1.0, 1.0)), ("l", (2.0, 3.0)), ("l", (4.0, 4.0))]:
        pen.draw(command, [point])
    pen.close()
    pen.draw("m", [(2.0, 2.0)])
    pen.draw("l", [(3.0, 2.0)])
    assert pen.text() == "m1 1 1 2 2 1zm1 1h1"


def test_curve_is_relative_to_its_begin() -> None:
    pen = Pen()
    pen.draw("m", [(1.0, 1.0)])
    pen.draw("c", [(2.0, 1.0), (3.0, 2.0), (3.0, 3.0)])
    pen.draw("l", [(4.0, 3.0)])
    assert pen.text() == "m1 1c1 0 2 1 2 2h1"


def test_lone_point_has_a_line_so_that_its_marker_is_drawn() -> None:
    pen = Pen()
    pen.draw("l", [(1.0, 2.0)])
    assert pen.text() == "m1 2h0"


def test_path_without_points_is_empty() -> None:
    assert Pen().text() == ""
