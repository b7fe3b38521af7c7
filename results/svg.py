# SPDX-License-Identifier: Apache-2.0
"""A renderer of matplotlib that writes small SVG: its text stays text, and the page's style sheet has its colours.

Import this module only where matplotlib is installed.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from typing import Any

from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_hex
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path

from results.pen import Pen, number

ANCHORS = {"center": ("middle", 0.5), "right": ("end", 1.0)}
"""By the alignment of a text: its anchor in SVG, and the anchor's place in the width of the text."""


COMMANDS = {Path.MOVETO: "m", Path.LINETO: "l", Path.CURVE3: "q", Path.CURVE4: "c"}


class Renderer(RendererBase):  # type: ignore[misc] # Debian's matplotlib has no types.
    """Draws one figure of 72 dots per inch. `names` gives the part of a CSS class for each colour, as in "p0": the
    classes are "s-p0" for strokes and "f-p0" for fills. `prefix` begins each id, since a page has many pictures.
    """

    def __init__(self, width: float, height: float, prefix: str, names: Mapping[str, str]) -> None:
        super().__init__()
        self._width, self._height = width, height
        self._prefix = prefix
        self._names = names
        self._parts: list[str] = []
        self._markers: dict[str, str] = {}

    def text(self, label: str) -> str:
        """The picture. `label` describes it to those who cannot see it."""
        box = f"0 0 {number(self._width)} {number(self._height)}"
        markers = "".join(
            f'<marker id="{name}" markerUnits="userSpaceOnUse" overflow="visible">{path}</marker>'
            for path, name in self._markers.items()
        )
        defs = f"<defs>{markers}</defs>" if markers else ""
        return (
            f'<svg class="plot" viewBox="{box}" role="img" aria-label="{html.escape(label)}">'
            f"{defs}{''.join(self._parts)}</svg>"
        )

    def get_canvas_width_height(self) -> tuple[float, float]:
        """The size of the figure in pixels."""
        return self._width, self._height

    def width_of(self, text: str) -> float:
        """The width of a text in pixels."""
        font = FontProperties(family="DejaVu Sans", size=11)
        width, _, _ = self.get_text_width_height_descent(text, font, False)
        return float(width)

    def draw_path(self, gc: Any, path: Any, transform: Any, rgbFace: Any = None) -> None:
        """Draws lines or an area."""
        shape, style = self._shape(path, transform), self._style(gc, rgbFace)
        if shape and style:
            self._parts.append(f'<path{style} d="{shape}"/>')

    def draw_markers(
        self,
        gc: Any,
        marker_path: Any,
        marker_trans: Any,
        path: Any,
        trans: Any,
        rgbFace: Any = None,
    ) -> None:
        """Draws a marker at each point of a path. SVG repeats it, so a point costs only its coordinates."""
        pen = Pen()
        for xy, _ in path.iter_segments(trans, simplify=False):
            pen.draw("l", [(xy[-2], self._height - xy[-1])])
        if not pen.text():
            return
        outline = self._shape(marker_path, marker_trans, top=0.0)
        marker = f'<path{self._style(gc, rgbFace)} d="{outline}"/>'
        name = self._markers.setdefault(marker, f"{self._prefix}-{len(self._markers)}")
        self._parts.append(f'<path style="marker:url(#{name})" d="{pen.text()}"/>')

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        """Draws a text. The browser's font may be wider or narrower, so its anchor is that of its alignment."""
        if not s.strip():
            return
        anchor, part = ANCHORS.get(mtext.get_ha() if mtext else "", ("", 0.0))
        width, _, _ = self.get_text_width_height_descent(s, prop, False)
        turn = math.radians(angle)
        x, y = x + part * width * math.cos(turn), y - part * width * math.sin(turn)
        place = f'x="{number(x)}" y="{number(y)}"'
        if anchor:
            place += f' text-anchor="{anchor}"'
        if angle:
            place += f' transform="rotate({number(-angle)} {number(x)} {number(y)})"'
        self._parts.append(f"<text {place}>{html.escape(s, quote=False)}</text>")

    def _style(self, gc: Any, fill: Any) -> str:
        classes = []
        attributes = ""
        width = gc.get_linewidth()
        if width > 0 and gc.get_rgb()[3] > 0:
            classes.append(f"s-{self._name(gc.get_rgb())}")
            if width != 1:
                attributes += f' stroke-width="{number(width)}"'
            dashes = gc.get_dashes()[1]
            if dashes is not None:
                attributes += f' stroke-dasharray="{_numbers(dashes)}"'
        if fill is not None and (len(fill) < 4 or fill[3] > 0):
            classes.append(f"f-{self._name(fill)}")
            if len(fill) == 4 and fill[3] < 1:
                attributes += f' fill-opacity="{fill[3]:.2g}"'
        return f' class="{" ".join(classes)}"{attributes}' if classes else ""

    def _name(self, colour: Any) -> str:
        return self._names[to_hex(colour)]

    def _shape(self, path: Any, transform: Any, top: float | None = None) -> str:
        """The commands of a path, relative to the last point. `top`: the y coordinate of the top, by default that of
        the figure."""
        height = self._height if top is None else top
        pen = Pen()
        for values, code in path.iter_segments(transform, simplify=False):
            if code == Path.CLOSEPOLY:
                pen.close()
                continue
            xys = [(x, height - y) for x, y in zip(values[::2], values[1::2], strict=True)]
            pen.draw(COMMANDS[code], xys)
        return pen.text()


def _numbers(values: Iterable[float]) -> str:
    return " ".join(map(number, values))
