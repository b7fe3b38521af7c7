# SPDX-License-Identifier: Apache-2.0
"""The numbers on an axis are short, differ, and have the same decimals."""

from __future__ import annotations

import pytest

from results import ticks


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([], []),
        ([0], ["0"]),
        ([0, 1, 2], ["0", "1", "2"]),
        ([0, 2.5, 5], ["0", "2.5", "5.0"]),
        ([-0.2, 0, 0.2], ["-0.2", "0", "0.2"]),
        ([0, 2000, 4000], ["0", "2 000", "4 000"]),
        ([0, 20_000, 40_000], ["0", "20 k", "40 k"]),
        ([0, 250_000, 1_000_000], ["0", "250 k", "1 000 k"]),
        ([0, 500_000, 1_000_000], ["0", "0.5 M", "1.0 M"]),
        ([0, 2e9, 4e9], ["0", "2 G", "4 G"]),
        ([5e12, 6e12], ["5 T", "6 T"]),
        ([99_990, 100_000], ["99 990", "100 000"]),
        ([1_732_594_000_001, 1_732_594_000_002], ["1 732 594 000 001", "1 732 594 000 002"]),
        ([0, 1e17], ["0", "1e+17"]),
        ([0, 1e-5], ["0", "1e-05"]),
    ],
)
def test_ticks_are_short_and_differ(values: list[float], wanted: list[str]) -> None:
    assert ticks.texts(values) == [text.replace(" ", ticks.THIN) for text in wanted]


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(0, "0"), (1.25, "1.25"), (100_000, "100 000"), (12_345_678, "12 345 678"), (1e20, "1e+20")],
)
def test_one_number_is_exact(value: float, wanted: str) -> None:
    assert ticks.text(value) == wanted.replace(" ", ticks.THIN)
