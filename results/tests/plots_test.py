# SPDX-License-Identifier: Apache-2.0
"""Pictures of measurements are small SVG whose texts are texts, whose colours are of the page, and whose series differ
without colours."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from results import facts, measurements, plots
from results.measurements import MARKS, Axis, Measurement, Series
from results.tests import measured

MOST_BYTES = 17_000
MOST_USUAL_BYTES = 12_500
CONTRAST = 3.0
"""The least contrast of graphics by WCAG 2.1, 1.4.11."""
EXTREME: list[list[tuple[float, float]]] = [
    [],
    [(5, 5)],
    [(0, 0), (0, 0)],
    [(-1e30, 1e30), (1e30, 1e30)],
    [(1e-30, 2e-30), (3e-30, 4e-30)],
    [(10**18, 10**18 + 1), (10**18 + 1, 10**18 + 2)],
]
PAPERS = {"light": "#ffffff", "dark": "#14171b"}
STYLES = facts.ROOT / "results" / "assets"


def read(data: measured.Measured) -> Measurement:
    """A measurement as of results.json."""
    (one,) = measurements.of_case({"id": "A.One", "measurements": [data]}, "x")
    return one


def drawn(data: measured.Measured | Measurement, prefix: str = "p1") -> ET.Element:
    """The parsed picture."""
    one = data if isinstance(data, Measurement) else read(data)
    return ET.fromstring(plots.draw(one, prefix, "label"))


def texts(picture: ET.Element) -> list[str]:
    return [one.text or "" for one in picture.iter("text")]


def one_series(mark: str, *points: tuple[float, float], name: str = "a") -> Measurement:
    axes = Axis("time", "ms"), Axis("count", "")
    return Measurement("n", "T", "", mark, *axes, (Series(name, points),))


@pytest.mark.parametrize("mark", MARKS)
def test_largest_picture_is_small_and_has_no_colours_of_its_own(mark: str) -> None:
    text = plots.draw(read(measured.largest(mark)), "p1", "label")
    assert len(text) < MOST_BYTES
    few = read(measured.largest(mark, series=4))
    assert len(plots.draw(few, "p1", "label")) < MOST_USUAL_BYTES
    assert not re.search(r"(fill|stroke)=|rgb|metadata|[^l]\(?#[0-9a-f]{6}", text)
    classes = {name for found in re.findall(r'class="([^"]*)"', text) for name in found.split()}
    style = (STYLES / "pictures.css").read_text(encoding="utf-8")
    assert all(f".{name} " in style for name in classes - {"f-ink", "s-ink"}), classes


def test_axes_have_labels_with_units_and_texts_are_texts() -> None:
    found = texts(drawn(measured.counts()))
    assert {"event", "count (instructions)", "count", "truth", "0", "7"} <= set(found)


def test_rows_of_spans_are_series_and_the_first_is_at_the_top() -> None:
    picture = drawn(measured.turns())
    rows = [one for one in picture.iter("text") if (one.text or "").startswith("event ")]
    assert [row.text for row in rows] == [f"event {number}" for number in range(6)]
    heights = [float(row.get("y", "")) for row in rows]
    assert heights == sorted(heights)


def test_points_are_where_their_numbers_are() -> None:
    """Ticks have places and numbers. Each point is where its numbers are between them."""
    picture = drawn(one_series("points", (0, 0), (1, 2), (4, 4)))
    ticks = [
        (float(t.text or ""), t) for t in picture.iter("text") if re.match(r"\d", t.text or "")
    ]
    xs = {value: float(t.get("x", "")) for value, t in ticks if t.get("text-anchor") == "middle"}
    (path,) = [one for one in picture.findall("path") if "marker" in one.get("style", "")][:1]
    numbers = [float(word) for word in re.findall(r"-?\d*\.?\d+", path.get("d", ""))]
    assert len(numbers) == 6
    places = [numbers[0], numbers[0] + numbers[2], numbers[0] + numbers[2] + numbers[4]]
    scale = (xs[4] - xs[0]) / 4
    assert places == pytest.approx([xs[0], xs[0] + scale, xs[0] + 4 * scale], abs=0.2)


@pytest.mark.parametrize(("mark", "parts"), [("line", 2), ("points", 1), ("bars", 1)])
def test_series_differ_without_their_colours(mark: str, parts: int) -> None:
    """`parts`: the paths of a series in the legend, which is the end of the picture."""
    picture = drawn(measured.largest(mark, points=48))
    markers = {
        f"marker:url(#{one.get('id')})": [
            (path.get("d"), "f-" in path.get("class", "")) for path in one
        ]
        for one in picture.iter("marker")
    }
    samples = [
        (
            "f-" in one.get("class", ""),
            [one.get(key) for key in ("stroke-dasharray", "fill-opacity")],
            markers.get(one.get("style", "")),
        )
        for one in picture.findall("path")[-16 * parts :]
    ]
    looks = {str(samples[at : at + parts]) for at in range(0, len(samples), parts)}
    assert len(looks) == 16


@pytest.mark.parametrize("theme", PAPERS)
def test_colours_have_contrast_in_both_themes(theme: str) -> None:
    style = (STYLES / "pictures.css").read_text(encoding="utf-8")
    light, dark = style.split(':root[data-theme="dark"] {')[:2]
    part = light if theme == "light" else dark.partition("}")[0]
    colours = dict(re.findall(r"--(p\d): (#[0-9a-f]{6});", part))
    assert sorted(colours) == [plots.NAMES[colour] for colour in plots.PALETTE]
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
    assert set(re.findall(r"url\(#([^)]*)\)", text)) <= set(ids)


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
    (path,) = [one for one in picture.findall("path") if one.get("class") == "s-p0"]
    assert float(path.get("d", "").rpartition("h")[2]) >= 0.5


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
    assert {"1", "2", "1 000".replace(" ", "\u202f")} <= set(found)
