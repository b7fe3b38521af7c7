# SPDX-License-Identifier: Apache-2.0
"""Draws measurements as SVG by matplotlib. The pictures have the colours of the page's style sheet.

Series differ in their dashes, markers or fills too, so that a reader needs no colours.
"""

from __future__ import annotations

import importlib.util
import io
import re
from typing import Any
from xml.etree import ElementTree

from results.measurements import Measurement

WIDTH, HEIGHT, LEGEND_ROW = 480, 240, 16
"""The size of a picture without its legend, and the height of a row of the legend, in pixels."""
LEGEND_CHARACTERS = 64
"""The characters in a row of the legend."""
SAMPLE_CHARACTERS = 7
"""The width of the sample of a series in the legend."""
LONGEST_NAME = 28
MARKED = 8
"""The markers on a line with many points."""
MOST_TICKS = 16
"""With more values of x, bars have ticks at round numbers only."""
MOST_OUTLINED = 60
"""With more bars, the outlines would cover them."""
VARIABLES = ("ink", "line", "p0", "p1", "p2", "p3", "p4", "p5")
"""The variables of the style sheet. matplotlib draws each of them with a colour of its own, which is its number."""
INK, GRID, *PALETTE = (f"#11111{number}" for number in range(len(VARIABLES)))
COLOUR = re.compile(r"#11111(\d)")
REFERENCE = re.compile(r"#(?=[a-z])")
"""The begin of a reference to an id."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (9, 3)))
MARKERS = "os^DvPX*"
FILLS = (1.0, 0.25, 0.6, 0.1)
"""The opacities of bars."""
TEXTS = ("font.size", "axes.labelsize", "legend.fontsize", "xtick.labelsize", "ytick.labelsize")
STYLE: dict[str, Any] = {
    **{"svg.fonttype": "none", "svg.hashsalt": "pmuconf", "text.parse_math": False},
    **{"font.sans-serif": ["DejaVu Sans"], "lines.markersize": 5, **dict.fromkeys(TEXTS, 11)},
    **{"xtick.major.size": 0, "ytick.major.size": 0, "figure.constrained_layout.use": True},
    **{"text.color": INK, "axes.labelcolor": INK, "xtick.labelcolor": INK, "ytick.labelcolor": INK},
    **{"axes.edgecolor": GRID, "grid.color": GRID, "grid.linewidth": 0.5, "axes.grid": True},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True},
    **{"axes.facecolor": "none", "figure.facecolor": "none", "legend.frameon": False},
}


def available() -> bool:
    """True if matplotlib is installed. A board does not need it."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(measurement: Measurement, prefix: str, label: str) -> str:
    """One SVG element. `prefix` begins its ids, and is unique in a page. `label` describes the picture to those who
    cannot see it. ImportError if matplotlib is not installed."""
    # pylint: disable=import-outside-toplevel
    from matplotlib import style
    from matplotlib.figure import Figure

    names = [short(one.name) for one in measurement.series]
    columns = min(
        len(names), max(1, LEGEND_CHARACTERS // (SAMPLE_CHARACTERS + max(map(len, names))))
    )
    rows = 0 if measurement.mark == "spans" else -(-len(names) // columns)
    text = io.StringIO()
    with style.context(["default", STYLE]):
        figure = Figure(figsize=(WIDTH / 72, (HEIGHT + rows * LEGEND_ROW) / 72))
        axes = figure.add_subplot(xlabel=str(measurement.x), ylabel=str(measurement.y))
        _add_ticks(axes, measurement)
        {"bars": _bars, "spans": _spans}.get(measurement.mark, _lines)(axes, measurement, names)
        if rows:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, borderaxespad=0)
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(text, format="svg", metadata=nothing)
    return _for_page(text.getvalue(), prefix, label)


def _for_page(text: str, prefix: str, label: str) -> str:
    """A picture of matplotlib with the colours of the page, ids that are unique in the page, and a description."""
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    picture = ElementTree.fromstring(text)
    for element in picture.iter():
        element.tail = None  # spaces
        for name, value in element.items():
            value = COLOUR.sub(lambda found: f"var(--{VARIABLES[int(found[1])]})", value)
            value = REFERENCE.sub(f"#{prefix}-", value)
            element.set(name, f"{prefix}-{value}" if name == "id" else value)
    picture.remove(picture[0])  # a style that is valid for the whole page
    size = picture.attrib["viewBox"]
    picture.attrib.clear()
    picture.attrib |= {"class": "plot", "viewBox": size, "role": "img", "aria-label": label}
    return ElementTree.tostring(picture, "unicode")


def short(name: str) -> str:
    """The name of a series in a picture."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME - 1]}…"


def _lines(axes: Any, measurement: Measurement, names: list[str]) -> None:
    """Points, lines and steps. Markers on lines are at other points in each series, so that they are all visible."""
    for number, (name, one) in enumerate(zip(names, measurement.series, strict=True)):
        every = 1 if measurement.mark == "points" else max(1, len(one.points) // MARKED)
        axes.plot(
            [x for x, _ in one.points],
            [y for _, y in one.points],
            label=name,
            color=PALETTE[number % len(PALETTE)],
            linestyle="" if measurement.mark == "points" else DASHES[number % len(DASHES)],
            drawstyle="steps-post" if measurement.mark == "steps" else "default",
            marker=MARKERS[number % len(MARKERS)],
            fillstyle="full" if number < len(MARKERS) else "none",
            markevery=(number % every, every),
        )
    ys = [y for one in measurement.series for _, y in one.points]
    if ys and 0 <= min(ys) < 0.5 * max(ys):
        axes.set_ylim(bottom=-0.03 * max(ys))


def _bars(axes: Any, measurement: Measurement, names: list[str]) -> None:
    """The bars of all series at one x are next to each other. Few values of x are at equal distances."""
    from matplotlib.colors import to_rgba  # pylint: disable=import-outside-toplevel

    values = sorted({x for one in measurement.series for x, _ in one.points})
    places = {x: x for x in values}
    if len(values) <= MOST_TICKS:
        places = {x: float(number) for number, x in enumerate(values)}
        axes.set_xticks(list(places.values()), [f"{x:.10g}" for x in values])
    at = sorted(places.values())
    width = 0.8 * min((b - a for a, b in zip(at, at[1:], strict=False)), default=1.0) / len(names)
    outlined = sum(len(one.points) for one in measurement.series) <= MOST_OUTLINED
    for number, (name, one) in enumerate(zip(names, measurement.series, strict=True)):
        colour = PALETTE[number % len(PALETTE)]
        bars = axes.bar(
            [places[x] + width * (number + 0.5 - len(names) / 2) for x, _ in one.points],
            [y for _, y in one.points],
            width,
            label=name,
            color=to_rgba(colour, FILLS[number % len(FILLS)]),
            edgecolor=colour if outlined else "none",
            linestyle=DASHES[number % len(DASHES)],
            clip_on=False,
        )
        for bar in bars:
            bar.set_in_layout(False)  # The layout of hundreds of bars takes seconds.
    axes.grid(False, axis="x")


def _spans(axes: Any, measurement: Measurement, names: list[str]) -> None:
    """Each series is a row; the first one is at the top. The outline makes a short span visible."""
    for number, one in enumerate(measurement.series):
        colour = PALETTE[number % len(PALETTE)]
        spans = [(begin, end - begin) for begin, end in one.points]
        axes.broken_barh(spans, (number - 0.25, 0.5), color=colour, linewidth=0.5, clip_on=False)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(False, axis="y")


def _add_ticks(axes: Any, measurement: Measurement) -> None:
    """Round numbers. Large ones have a prefix, unless it would hide their differences."""
    from matplotlib import ticker  # pylint: disable=import-outside-toplevel

    points = [point for one in measurement.series for point in one.points]
    spans = measurement.mark == "spans"
    xs = [value for point in points for value in point[: 2 if spans else 1]]
    for axis, values in ((axes.xaxis, xs), (axes.yaxis, [y for _, y in points])):
        whole = all(value == round(value) for value in values)
        axis.set_major_locator(ticker.MaxNLocator(6, steps=[1, 2, 2.5, 5, 10], integer=whole))
        largest = max((abs(value) for value in values), default=0)
        if largest >= 1e4 and max(values) - min(values) >= largest / 1000:
            axis.set_major_formatter(ticker.EngFormatter(sep=" "))
