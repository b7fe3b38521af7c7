# SPDX-License-Identifier: Apache-2.0
"""The model starlink behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

CONTROL, STATUS, ENABLE, CYCLES, SELECT, COUNTER = 0x40, 0x48, 0x50, 0x58, 0x60, 0x160
HIT, CYCLE_EVENT, CYCLE_BIT = 0x00901202, 0x58, 1 << 63


@pytest.fixture
def starlink(make_model: Callable[[str], Model]) -> Model:
    return make_model("starlink")


def test_a_counter_counts_its_event_while_the_device_is_enabled(starlink: Model) -> None:
    starlink.write(SELECT + 24, HIT, 64)
    starlink.pulse(HIT, 100)
    starlink.write(CONTROL, 1, 64)
    starlink.pulse(HIT, 5)
    starlink.pulse(HIT + 1, 100)
    starlink.pulse(CYCLE_EVENT, 6)
    assert [starlink.read(COUNTER + 24, 64), starlink.read(CYCLES, 64)] == [5, 6]
    starlink.write(CONTROL, 0, 64)
    starlink.pulse(HIT, 5)
    assert starlink.read(COUNTER + 24, 64) == 5


@pytest.mark.parametrize(
    ("event", "at", "bit"), [(HIT, COUNTER + 24, 1 << 3), (CYCLE_EVENT, CYCLES, CYCLE_BIT)]
)
def test_an_overflow_is_acknowledged_by_its_bit(
    starlink: Model, event: int, at: int, bit: int
) -> None:
    starlink.write(SELECT + 24, HIT, 64)
    starlink.write(ENABLE, bit, 64)
    starlink.write(CONTROL, 1, 64)
    starlink.write(at, (1 << 64) - 4, 64)
    assert starlink.pulse(event, 10) == 4
    assert [starlink.read(at, 64), starlink.read(STATUS, 64)] == [0, bit]
    assert starlink.page("line") == 1
    starlink.write(STATUS, 1 << 7, 64)
    assert starlink.page("line") == 1
    starlink.write(STATUS, bit, 64)
    assert [starlink.read(STATUS, 64), starlink.page("line")] == [0, 0]


def test_an_overflow_that_is_not_enabled_raises_no_line(starlink: Model) -> None:
    starlink.write(SELECT, HIT, 64)
    starlink.write(CONTROL, 1, 64)
    starlink.write(COUNTER, (1 << 64) - 1, 64)
    assert starlink.pulse(HIT, 1) == 1
    assert [starlink.read(STATUS, 64), starlink.page("line")] == [1, 0]
