# SPDX-License-Identifier: Apache-2.0
"""Pictures of measurements are SVG whose texts are texts, whose colours are of the page, and whose series differ without
colours."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pmubase import store
from results import measurements, plots
from results.measurements import MARKS, Axis, Measurement, Series
from results.tests import measured

MOST_BYTES = 150_000
CONTRAST = 3.0
"""The least contrast of graphics by WCAG 2.1, 1.4.11."""
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
EXTREME: list[list[tuple[float, float]]] = [
    [],
    [(5, 5)],
    [(0, 0), (0, 0)],
    [(-1e30, 1e30), (1e30, 1e30)],
    [(1e-30, 2e-30), (3e-30, 4e-30)],
    [(10**18, 10**18 + 1), (10**18 + 1, 10**18 + 2)],
]
PAPERS = {"light": "#ffffff", "dark": "#14171b"}
STYLES = store.ROOT / "results" / "assets"


def read(data: measured.Measured) -> Measurement:
    """A measurement as of results.json."""
    (one,) = measurements.of_case({"id": "A.One", "measurements": [data]}, "x")
    return one


def drawn(data: measured.Measured | Measurement, prefix: str = "p1") -> ET.Element:
    """The parsed picture."""
    one = data if isinstance(data, Measurement) else read(data)
    return ET.fromstring(plots.draw(one, prefix, "label"))


def texts(picture: ET.Element) -> list[str]:
    return [one.text or "" for one in picture.iter(f"{SVG}text")]


def one_with_id(picture: ET.Element, name: str) -> ET.Element:
    """The element with this id, which has the prefix of drawn()."""
    (one,) = [one for one in picture.iter() if one.get("id") == f"p1-{name}"]
    return one


def one_series(mark: str, *points: tuple[float, float], name: str = "a") -> Measurement:
    axes = Axis("time", "ms"), Axis("count", "")
    return Measurement("n", "T", "", mark, *axes, (Series(name, points),))


@pytest.mark.parametrize("mark", MARKS)
def test_largest_picture_is_bounded_and_has_no_colours_of_its_own(mark: str) -> None:
    text = plots.draw(read(measured.largest(mark)), "p1", "label")
    assert len(text) < MOST_BYTES
    style = (STYLES / "pictures.css").read_text(encoding="utf-8")
    names = set(re.findall(r"var\(--(\w+)\)", text))
    assert names == set(plots.VARIABLES)
    assert all(f"--{name}: " in style for name in names - {"ink"})
    assert not re.search(r"rgb|metadata|<style|(fill|stroke): (?!none|var)", text)


@pytest.mark.parametrize("mark", MARKS)
def test_picture_is_the_same_each_time(mark: str) -> None:
    one = read(measured.largest(mark, series=3, points=30))
    program = (
        "import json, sys\nfrom results import plots\nfrom results.tests.plots_test import read\n"
        "sys.stdout.write(plots.draw(read(json.load(sys.stdin)), 'p1', 'label'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=store.ROOT,
        input=json.dumps(measured.largest(mark, series=3, points=30)),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == plots.draw(one, "p1", "label")


@pytest.mark.parametrize("mark", [mark for mark in MARKS if mark != "spans"])
def test_each_series_is_in_the_legend(mark: str) -> None:
    found = texts(drawn(measured.largest(mark, series=5, points=20)))
    assert [text for text in found if text.startswith("event ")] == [f"event {n}" for n in range(5)]


def test_axes_have_labels_with_units_and_texts_are_texts() -> None:
    found = texts(drawn(measured.counts()))
    assert {"event", "count (instructions)", "count", "truth", "0", "7"} <= set(found)


def test_rows_of_spans_are_series_and_the_first_is_at_the_top() -> None:
    picture = drawn(measured.turns())
    rows = [one for one in picture.iter(f"{SVG}text") if (one.text or "").startswith("event ")]
    assert [row.text for row in rows] == [f"event {number}" for number in range(6)]
    heights = [float(row.get("y", "")) for row in rows]
    assert heights == sorted(heights)


def test_points_are_where_their_numbers_are() -> None:
    """Ticks have places and numbers. Each point is where its numbers are between them."""
    picture = drawn(one_series("points", (0, 0), (1, 2), (4, 4)))
    axis = one_with_id(picture, "matplotlib.axis_1")
    xs = {
        float(text.text or ""): float(text.get("x", ""))
        for text in axis.iter(f"{SVG}text")
        if re.match(r"\d", text.text or "")
    }
    points = one_with_id(picture, "axes_1").findall(f".//{SVG}g[@clip-path]/{SVG}use")
    places = [float(point.get("x", "")) for point in points]
    scale = (xs[4] - xs[0]) / 4
    assert places == pytest.approx([xs[0], xs[0] + scale, xs[0] + 4 * scale], abs=0.001)


@pytest.mark.parametrize("mark", ["line", "steps", "points", "bars"])
def test_series_differ_without_their_colours(mark: str) -> None:
    picture = drawn(measured.largest(mark, points=48))
    shapes = {f"#{one.get('id')}": one.get("d") for one in picture.iter(f"{SVG}path")}
    samples = [
        [
            (re.sub(r"--p\d", "", one.get("style", "")), shapes.get(one.get(HREF, "")))
            for one in sample.iter()
            if one.tag in (f"{SVG}path", f"{SVG}use")
        ]
        for sample in one_with_id(picture, "legend_1")
    ]
    looks = [str(sample) for sample in samples if sample]
    assert len(looks) == len(set(looks)) == 16


@pytest.mark.parametrize("theme", PAPERS)
def test_colours_have_contrast_in_both_themes(theme: str) -> None:
    style = (STYLES / "pictures.css").read_text(encoding="utf-8")
    light, dark = style.split(':root[data-theme="dark"] {')[:2]
    part = light if theme == "light" else dark.partition("}")[0]
    colours = dict(re.findall(r"--(p\d): (#[0-9a-f]{6});", part))
    assert sorted(colours) == list(plots.VARIABLES[2:])
    for name, colour in colours.items():
        assert contrast(colour, PAPERS[theme]) >= CONTRAST, name


def contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2.1, from 1 to 21."""
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def test_ids_begin_with_the_prefix_and_each_reference_has_its_id() -> None:
    text = plots.draw(read(measured.largest("line")), "p7", "label")
    ids = re.findall(r' id="([^"]*)"', text)
    assert ids and len(ids) == len(set(ids)) and all(name.startswith("p7-") for name in ids)
    used = re.findall(r"url\(#([^)]*)\)", text) + re.findall(r'href="#([^"]*)"', text)
    assert used and set(used) <= set(ids)


def test_picture_has_a_role_and_a_label() -> None:
    picture = ET.fromstring(plots.draw(read(measured.counts()), "p1", 'a "b" <c> & d'))
    assert (picture.get("role"), picture.get("aria-label")) == ("img", 'a "b" <c> & d')


def test_names_are_texts_whatever_they_have() -> None:
    found = texts(drawn(one_series("line", (0, 0), name="<b>$x_1$ & \\frac")))
    assert "<b>$x_1$ & \\frac" in found


def test_long_names_are_shorter_in_the_picture() -> None:
    found = texts(drawn(one_series("line", (0, 0), name="a" * 200)))
    assert "a" * 27 + "…" in found


@pytest.mark.parametrize("mark", MARKS)
def test_extreme_numbers_have_a_picture(mark: str) -> None:
    for points in EXTREME:
        picture = drawn(one_series(mark, *points))
        assert not re.search("nan|inf", ET.tostring(picture, "unicode")), points


def test_short_span_is_visible() -> None:
    picture = drawn(one_series("spans", (0, 1000), (2000, 2000)))
    spans = one_with_id(picture, "BrokenBarHCollection_1").findall(f"{SVG}path")
    outlines = [one.get("style", "").partition("; ")[2] for one in spans]
    assert outlines == ["stroke: var(--p0); stroke-width: 0.5"] * 2


def test_settings_of_the_user_do_not_change_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib  # pylint: disable=import-outside-toplevel

    one = read(measured.counts())
    before = plots.draw(one, "p1", "label")
    monkeypatch.setitem(matplotlib.rcParams, "axes.grid.axis", "x")
    monkeypatch.setitem(matplotlib.rcParams, "figure.subplot.left", 0.3)
    assert plots.draw(one, "p1", "label") == before


def test_bars_at_uneven_distances_are_next_to_each_other() -> None:
    found = texts(drawn(one_series("bars", (1, 5), (2, 5), (1000, 5))))
    assert {"1", "2", "1000"} <= set(found)


@pytest.mark.parametrize(
    ("high", "low", "wanted"),
    [
        (4_000, 0, {"0", "2000", "4000"}),
        (40_000, 0, {"0", "20 k", "40 k"}),
        (4e9, 0, {"0", "2 G", "4 G"}),
        (0.5, 0, {"0.0", "0.2", "0.4"}),
        (1_000_000_004, 1_000_000_000, {"0", "2", "4", "+1e9"}),
    ],
)
def test_large_ticks_have_a_prefix_that_does_not_hide_their_differences(
    high: float, low: float, wanted: set[str]
) -> None:
    found = texts(drawn(one_series("line", (0, low), (1, high))))
    assert wanted <= set(found)
