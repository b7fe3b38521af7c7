# SPDX-License-Identifier: Apache-2.0
"""The numbers on the axes of a picture: round, short, and all with the same number of decimals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

SCALES = ((1e12, ",T"), (1e9, ",G"), (1e6, ",M"), (1e3, ",k"))
"""The scales and their suffixes. THIN replaces each comma."""
SCALED = 1e4
"""Smaller numbers have no scale."""
LARGEST = 1e16
"""Larger numbers have an exponent."""
SMALLEST = 1e-3
THIN = "\u202f"
"""Separates groups of three digits."""
MOST_TICKS = 7
LONG = 7
"""An axis with labels of more characters has fewer of them."""


def place(axis: Any, values: Sequence[float]) -> None:
    """Puts ticks on an axis of matplotlib that shows these values."""
    # pylint: disable=import-outside-toplevel
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    class Formatter(FuncFormatter):  # type: ignore[misc] # Debian's matplotlib has no types.
        """Formats all ticks of an axis together."""

        def format_ticks(self, values: Sequence[float]) -> list[str]:
            """The labels of the ticks."""
            return texts([float(value) for value in values])

    whole = all(value == round(value) for value in values)
    longest = max((len(text(value)) for value in values), default=0)
    bins = MOST_TICKS if longest <= LONG else MOST_TICKS - 2
    axis.set_major_locator(MaxNLocator(bins, steps=[1, 2, 2.5, 5, 10], integer=whole))
    axis.set_major_formatter(Formatter(lambda value, _: text(value)))


def shown(axis: Any) -> list[str]:
    """The labels of the ticks inside an axis of matplotlib, in increasing order."""
    low, high = sorted(axis.get_view_interval())
    found = [float(value) for value in axis.get_majorticklocs()]
    labels = axis.get_major_formatter().format_ticks(found)
    return [label for value, label in zip(found, labels, strict=True) if low <= value <= high]


def texts(values: Sequence[float]) -> list[str]:
    """The labels of ticks at equal distances, in increasing order."""
    if not values:
        return []
    largest = max(abs(value) for value in values)
    step = min((b - a for a, b in zip(values, values[1:], strict=False)), default=largest)
    if largest == 0:
        return ["0"] * len(values)
    if largest >= LARGEST or largest < SMALLEST:
        return [f"{value:.3g}" for value in values]
    scale, suffix = 1.0, ""
    if largest >= SCALED:  # A suffix must not hide the differences.
        scale, suffix = next((one for one in SCALES if step >= one[0] / 2), (scale, suffix))
    decimals = _decimals(step / scale)
    return [
        f"{value / scale:,.{decimals}f}{suffix}".replace(",", THIN) if value else "0"
        for value in values
    ]


def text(value: float) -> str:
    """One number."""
    if value != 0 and not SMALLEST <= abs(value) < LARGEST:
        return f"{value:.3g}"
    shown = f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return shown.replace(",", THIN)


def _decimals(step: float) -> int:
    """The decimals that show a step, at most 6."""
    for decimals in range(6):
        if math.isclose(round(step, decimals), step, rel_tol=1e-6):
            return decimals
    return 6
