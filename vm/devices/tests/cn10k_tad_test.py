# SPDX-License-Identifier: Apache-2.0
"""The model cn10k_tad behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

VALUE, SELECT, SLICE = 0x800, 0x900, 0x1000


@pytest.fixture
def tad(make_model: Callable[[str], Model]) -> Model:
    return make_model("cn10k_tad")


def test_a_counter_counts_while_its_event_is_selected(tad: Model) -> None:
    for at in (SELECT + 8, SLICE + SELECT + 8):
        tad.write(at, 0x1A, 64)
    tad.pulse(0x1A, 5)
    tad.pulse(0x1B, 100)
    assert [tad.read(VALUE + 8, 64), tad.read(SLICE + VALUE + 8, 64)] == [5, 0]
    assert tad.page("enabled") == 1 << 1
    tad.write(SELECT + 8, 0, 64)
    tad.pulse(0x1A, 5)
    assert tad.read(VALUE + 8, 64) == 5


def test_the_driver_clears_a_counter(tad: Model) -> None:
    tad.write(SELECT, 1, 64)
    tad.pulse(1, 5)
    tad.write(VALUE, 0, 64)
    tad.pulse(1, 2)
    assert [tad.read(VALUE, 64), tad.read(SELECT, 64)] == [2, 1]


def test_a_counter_wraps_after_64_bits(tad: Model) -> None:
    tad.write(SELECT, 1, 64)
    tad.write(VALUE, (1 << 64) - 3, 64)
    assert tad.pulse(1, 5) == 5
    assert [tad.read(VALUE, 64), tad.page("line")] == [2, 0]
