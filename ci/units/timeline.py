# SPDX-License-Identifier: Apache-2.0
"""Draws a page that shows when each unit ran, and on which core."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from ci.units.schedule import Span
from vm import store

COLOURS = ("#4878a8", "#a85848", "#58a868", "#a89848", "#7858a8", "#48a0a0", "#a85890", "#808080")
ROW_PX = 34
WIDTH_PX = 1500


def lanes(spans: Sequence[Span], cores: int) -> list[tuple[Span, tuple[int, ...]]]:
    """Each span with its cores. A span without a free core is drawn in a row below the cores."""
    free = [0.0] * cores
    placed = []
    for span in sorted(spans, key=lambda each: (each.begin_s, each.unit.name)):
        own: list[int] = []
        for lane, until in enumerate(free):
            if until <= span.begin_s + 0.01 and len(own) < max(1, min(span.unit.cores, cores)):
                own.append(lane)
        if not own:
            free.append(0.0)
            own = [len(free) - 1]
        for lane in own:
            free[lane] = span.end_s
        placed.append((span, tuple(own)))
    return placed


def busy(spans: Sequence[Span], cores: int) -> float:
    """The fraction of the cores' time, from 0 to 1, that was assigned to units."""
    end = max((span.end_s for span in spans), default=0.0)
    used = sum((s.end_s - s.begin_s) * min(s.unit.cores, cores) for s in spans)
    return min(used / (end * cores), 1.0) if end else 0.0


def page(spans: Sequence[Span], cores: int, idle: float, title: str) -> str:
    """One HTML file without references to others. `idle`: the idle fraction of the cores' time."""
    end = max((span.end_s for span in spans), default=1.0) or 1.0
    placed = lanes(spans, cores)
    rows = max((lane for _, own in placed for lane in own), default=0) + 1
    groups = sorted({span.unit.group for span in spans})
    colours = {group: COLOURS[n % len(COLOURS)] for n, group in enumerate(groups)}
    scale = WIDTH_PX / end
    bars = []
    for span, own in placed:
        x, width = span.begin_s * scale, max((span.end_s - span.begin_s) * scale, 1)
        name = html.escape(span.unit.name)
        took = f"{span.end_s - span.begin_s:.1f} s"
        for lane in own:
            label = name if width > 7 * len(name) else ""
            bars.append(
                f'<g><title>{name}: {took}, from {span.begin_s:.0f} s</title><rect x="{x:.1f}"'
                f' y="{lane * ROW_PX}" width="{width:.1f}" height="{ROW_PX - 4}"'
                f' fill="{colours[span.unit.group]}"/><text x="{x + 4:.1f}"'
                f' y="{lane * ROW_PX + 20}">{label}</text></g>'
            )
    step = next(n for n in (1, 5, 10, 30, 60, 300, 600, 3600, 36000) if end / n <= 30)
    ticks = [
        f'<text class="tick" x="{n * step * scale:.0f}" y="{rows * ROW_PX + 14}">{n * step} s</text>'
        for n in range(int(end / step) + 1)
    ]
    key = " ".join(f'<b style="color:{colours[g]}">&#9632;</b> {html.escape(g)}' for g in groups)
    longest = sorted(spans, key=lambda s: s.begin_s - s.end_s)[:25]
    table = "".join(
        f"<tr><td>{html.escape(s.unit.name)}</td><td>{s.end_s - s.begin_s:.1f}</td>"
        f"<td>{s.unit.cores}</td></tr>"
        for s in longest
    )
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        "<style>body{font:14px sans-serif;margin:1em}text{font:11px sans-serif;fill:#fff}"
        ".tick{fill:#444}td{padding:0 1em 0 0}td+td{text-align:right}</style>"
        f"<h1>{html.escape(title)}</h1><p>{len(spans)} units ran in {end:.0f} s on {cores} cores;"
        f" the cores were idle for {idle:.0%} of that time.</p><p>{key}</p>"
        f'<svg width="{WIDTH_PX + 60}" height="{rows * ROW_PX + 24}">{"".join(bars + ticks)}</svg>'
        "<h2>The longest</h2><table><tr><td>unit</td><td>seconds</td><td>cores</td></tr>"
        f"{table}</table></html>\n"
    )


def write(path: Path, spans: Sequence[Span], cores: int, idle: float, title: str) -> None:
    """Writes the page to a file."""
    store.write(path, page(spans, cores, idle, title).encode())
