# SPDX-License-Identifier: Apache-2.0
"""Draws measurements as SVG by matplotlib. The pictures have the colours of the page's style sheet.

Series differ in their dashes, markers or fills too, so that a reader needs no colours.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Sequence
from typing import Any

from results import ticks
from results.measurements import Measurement, Point, Series

WIDTH = 480
HEIGHT = 240
"""The height without the legend. Both are in pixels of a picture that is not scaled."""
LEGEND_ROW = 16
CHARACTER = 7
"""The mean width of a character in a legend."""
HANDLE = 44
"""The width of the sample of a series in a legend, with its margins."""
LONGEST_NAME = 28
MARGIN = 6
PAD = 4
TEXT_HEIGHT = 14
COLOURS = 6
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (9, 3)))
MARKERS = "os^DvPX*"
FILLS = (1.0, 0.25, 0.6, 0.0)
"""The opacities of bars."""
MARKED = 8
"""The markers on a line with many points."""
MOST_TICKS = 16
"""With more values of x, bars have ticks at round numbers only."""
FEW_POINTS = 100
MOST_OUTLINED = 60
"""With more bars, the outlines would cover them."""
SHORTEST = 0.002
"""The width of the shortest span that is visible, as a part of the x axis."""
INK, GRID = "#000000", "#808080"
NAMES = {INK: "ink", GRID: "line"} | {f"#0000{16 * n + 1:02x}": f"p{n}" for n in range(COLOURS)}
"""The colours that matplotlib works with, and their names in the style sheet."""
PALETTE = [colour for colour, name in NAMES.items() if name.startswith("p")]
STYLE = {
    **{
        "font.size": 11,
        "font.family": ["DejaVu Sans"],
        "axes.labelsize": 11,
        "legend.fontsize": 11,
    },
    **{"xtick.labelsize": 11, "ytick.labelsize": 11, "xtick.major.size": 0, "ytick.major.size": 0},
    **{"text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": GRID, "axes.linewidth": 1},
    **{
        "xtick.major.pad": 8,
        "xtick.color": INK,
        "ytick.color": INK,
        "grid.color": GRID,
        "grid.linewidth": 0.5,
    },
    **{"axes.spines.top": False, "axes.spines.right": False, "text.parse_math": False},
    **{"axes.facecolor": "none", "figure.facecolor": "none", "patch.facecolor": "none"},
    **{"axes.grid": True, "axes.axisbelow": True, "lines.linewidth": 1.5, "lines.markersize": 5},
    **{"legend.frameon": False, "lines.markeredgewidth": 0.5, "axes.xmargin": 0.02},
}


def available() -> bool:
    """True if matplotlib is installed. A board does not need it."""
    return importlib.util.find_spec("matplotlib") is not None


def draw(measurement: Measurement, prefix: str, label: str) -> str:
    """One SVG element. `prefix` begins its ids, and is unique in a page. `label` describes the picture to those who
    cannot see it. ImportError if matplotlib is not installed."""
    # pylint: disable=import-outside-toplevel
    import matplotlib
    from matplotlib.figure import Figure

    from results.svg import Renderer

    legend = measurement.mark != "spans"
    columns, rows = _legend_size(measurement.series) if legend else (0, 0)
    height = HEIGHT + rows * LEGEND_ROW
    with matplotlib.rc_context():
        matplotlib.rcParams.update(matplotlib.rcParamsDefault)
        matplotlib.rcParams.update(STYLE)
        figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=72)
        axes = figure.add_subplot()
        _MARKS[measurement.mark](axes, measurement)
        _label(axes, measurement)
        if legend:
            _add_legend(axes, columns)
        renderer = Renderer(WIDTH, height, prefix, NAMES)
        _lay_out(figure, renderer, rows)
        figure.draw(renderer)
    return renderer.text(label)


def _lay_out(figure: Any, renderer: Any, rows: int) -> None:
    """Leaves room for the texts. matplotlib's own layouts draw the figure several times."""
    (axes,) = figure.axes
    widths = [renderer.width_of(text) for text in ticks.shown(axes.yaxis)]
    last = [renderer.width_of(text) for text in ticks.shown(axes.xaxis)[-1:]]
    left = MARGIN + TEXT_HEIGHT + 2 * PAD + max(widths, default=0)
    right = MARGIN + max(last, default=0) / 2
    bottom = MARGIN + 2 * TEXT_HEIGHT + 2 * PAD
    top = MARGIN + rows * LEGEND_ROW
    width, height = renderer.get_canvas_width_height()
    figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height)
    axes.yaxis.set_label_coords((MARGIN + TEXT_HEIGHT - left) / (width - left - right), 0.5)


def short(name: str) -> str:
    """The name of a series in a picture."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME - 1]}…"


def _legend_size(series: Sequence[Series]) -> tuple[int, int]:
    """Columns and rows."""
    widest = HANDLE + CHARACTER * max(len(short(one.name)) for one in series)
    columns = max(1, min(len(series), (WIDTH - 60) // widest))
    return columns, -(-len(series) // columns)


def _add_legend(axes: Any, columns: int) -> None:
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0,
        ncols=columns,
        handlelength=2.4,
        columnspacing=1.2,
        labelspacing=0.3,
    )


def _columns(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _style(number: int) -> dict[str, Any]:
    """The look of a line or of points. Markers that occur again are hollow."""
    colour = PALETTE[number % COLOURS]
    marker: dict[str, Any] = {"marker": MARKERS[number % len(MARKERS)], "markeredgecolor": colour}
    if number >= len(MARKERS):
        marker |= {"markerfacecolor": "none", "markeredgewidth": 1}
    return {"color": colour, **marker}


def _series(measurement: Measurement) -> Iterator[tuple[int, str, list[float], list[float]]]:
    for number, one in enumerate(measurement.series):
        yield number, short(one.name), *_columns(one.points)


def _lines(axes: Any, measurement: Measurement) -> None:
    """Lines and steps. Their markers are at other points in each series, so that they do not cover each other."""
    drawstyle = "steps-post" if measurement.mark == "steps" else "default"
    for number, name, xs, ys in _series(measurement):
        every = max(1, len(xs) // MARKED)
        axes.plot(
            xs,
            ys,
            label=name,
            drawstyle=drawstyle,
            linestyle=DASHES[number % len(DASHES)],
            markevery=(number % every, every),
            **_style(number),
        )


def _points(axes: Any, measurement: Measurement) -> None:
    many = sum(len(one.points) for one in measurement.series) > FEW_POINTS
    for number, name, xs, ys in _series(measurement):
        axes.plot(xs, ys, label=name, linestyle="", markersize=4 if many else 6, **_style(number))


def _bars(axes: Any, measurement: Measurement) -> None:
    """The bars of all series at one x are next to each other."""
    from matplotlib.patches import PathPatch  # pylint: disable=import-outside-toplevel
    from matplotlib.path import Path  # pylint: disable=import-outside-toplevel

    values = sorted({x for one in measurement.series for x, _ in one.points})
    gaps = [after - before for before, after in zip(values, values[1:], strict=False)]
    places = {x: x for x in values}
    if len(values) <= MOST_TICKS:
        if gaps and max(gaps) > 1.01 * min(gaps):
            places = {x: float(number) for number, x in enumerate(values)}
            gaps = [1.0]
        axes.set_xticks(list(places.values()), [ticks.text(x) for x in values])
    outlined = sum(len(one.points) for one in measurement.series) <= MOST_OUTLINED
    width = 0.8 * min(gaps, default=1.0) / len(measurement.series)
    for number, name, xs, ys in _series(measurement):
        begin = width * (number - len(measurement.series) / 2)
        corners = []
        for x, y in zip(xs, ys, strict=True):
            low = places[x] + begin
            corners += [(low, 0), (low, y), (low + width, y), (low + width, 0)]
        codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO] * len(xs)
        colour = PALETTE[number % COLOURS]
        shape = PathPatch(
            Path(corners, codes) if corners else Path([(0, 0)]),
            label=name,
            edgecolor=colour if outlined else "none",
            facecolor=(*_parts(colour), FILLS[number % len(FILLS)] or (0 if outlined else 0.4)),
            linestyle=DASHES[number % len(DASHES)],
        )
        axes.add_patch(shape)
    axes.grid(False, axis="x")
    axes.autoscale_view()
    if all(y >= 0 for one in measurement.series for _, y in one.points):
        axes.set_ylim(bottom=0)


def _parts(colour: str) -> tuple[float, float, float]:
    """Red, green and blue, from 0 to 1."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _spans(axes: Any, measurement: Measurement) -> None:
    """Each series is a row; the first one is at the top."""
    ends = [end for one in measurement.series for point in one.points for end in point]
    least = SHORTEST * ((max(ends) - min(ends)) if ends else 1)
    rows = len(measurement.series)
    for number, one in enumerate(measurement.series):
        xs = [x for begin, end in one.points for x in (begin, max(end, begin + least), None)]
        ys = [y for _ in one.points for y in (number, number, None)]
        axes.plot(
            [float("nan") if x is None else x for x in xs],
            [float("nan") if y is None else y for y in ys],
            color=PALETTE[number % COLOURS],
            linewidth=min(14, 130 / rows),
            solid_capstyle="butt",
        )
    axes.set_yticks(range(rows), [short(one.name) for one in measurement.series])
    axes.set_ylim(rows - 0.5, -0.5)
    axes.grid(False, axis="y")


def _label(axes: Any, measurement: Measurement) -> None:
    """Names the axes, and gives them round numbers."""
    x, y = measurement.x, measurement.y
    axes.set_xlabel(str(x))
    axes.set_ylabel(str(y))
    points = [point for one in measurement.series for point in one.points]
    spans = measurement.mark == "spans"
    xs = [value for point in points for value in point] if spans else [x for x, _ in points]
    if measurement.mark != "bars" or len(set(xs)) > MOST_TICKS:  # Otherwise each bar has a tick.
        ticks.place(axes.xaxis, xs)
    if not spans:
        ys = [y for _, y in points]
        ticks.place(axes.yaxis, ys)
        if ys and 0 <= min(ys) < 0.5 * max(ys):
            axes.set_ylim(bottom=0 if measurement.mark == "bars" else -0.03 * max(ys))


_MARKS = {
    "line": _lines,
    "steps": _lines,
    "points": _points,
    "bars": _bars,
    "spans": _spans,
}
