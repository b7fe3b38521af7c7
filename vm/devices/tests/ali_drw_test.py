# SPDX-License-Identifier: Apache-2.0
"""The model ali_drw behaves as the header of its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

CONTROL, STATE, TEST, PRELOAD, HIGH, LOW = 0xC00, 0xC04, 0xC08, 0xC0C, 0xC10, 0xC14
START, STOP, RESET = 1, 2, 4
SELECT, COUNTER = 0xC68, 0xC78
SET, CLEAR, ENABLED, ACKNOWLEDGE, STATUS = 0xCB8, 0xCBC, 0xCC0, 0xCC4, 0xCC8
FIRST_TESTED = 19
ENABLE = 0x80
CYCLES = 0x80


@pytest.fixture
def drw(make_model: Callable[[str], Model]) -> Model:
    return make_model("ali_drw")


def preload(drw: Model, counter: int, value: int) -> None:
    drw.write(TEST, FIRST_TESTED + counter)
    drw.write(PRELOAD, value)
    drw.write(TEST, 0)


def test_four_counters_share_a_select_register(drw: Model) -> None:
    drw.write(SELECT + 4, (ENABLE | 3) << 8 | (ENABLE | 7) << 24)
    drw.write(CONTROL, START)
    assert [drw.pulse(3, 10), drw.pulse(7, 20)] == [10, 20]
    assert [drw.read(COUNTER + 4 * i) for i in range(4, 8)] == [0, 10, 0, 20]
    assert drw.page("enabled") == 1 << 5 | 1 << 7


def test_a_counter_counts_if_it_is_enabled_and_the_device_runs(drw: Model) -> None:
    for select, control, want in ((1, START, 0), (ENABLE | 1, STOP, 0), (ENABLE | 1, START, 5)):
        drw.write(SELECT, select)
        drw.write(CONTROL, control)
        drw.pulse(1, 5)
        assert drw.read(COUNTER) == want
        assert drw.read(STATE) == (control == START)


def test_a_reset_clears_all_counters_and_does_not_stop_them(drw: Model) -> None:
    drw.write(SELECT, (ENABLE | 1) << 8 | ENABLE | 1)
    drw.write(CONTROL, START)
    drw.pulse(1, 5)
    drw.write(CONTROL, RESET)
    assert [drw.read(COUNTER), drw.read(COUNTER + 4), drw.read(STATE)] == [0, 0, 1]
    drw.pulse(1, 2)
    assert [drw.read(COUNTER), drw.read(COUNTER + 4)] == [2, 2]


def test_only_the_counter_that_the_test_register_selects_is_preloaded(drw: Model) -> None:
    preload(drw, 2, 0xFFFFFFF0)
    drw.write(PRELOAD, 77)
    assert [drw.read(COUNTER + 4 * i) for i in range(4)] == [0, 0, 0xFFFFFFF0, 0]


def test_interrupts_are_enabled_and_disabled_bit_by_bit(drw: Model) -> None:
    drw.write(SET, 0xF00)
    drw.write(SET, 0x1000)
    drw.write(CLEAR, 0x300)
    assert drw.read(ENABLED) == 0x1C00


def test_an_overflow_wraps_raises_the_line_and_stops_the_device(drw: Model) -> None:
    drw.write(SET, 0xFFFF00)
    drw.write(SELECT, (ENABLE | 1) << 8)
    preload(drw, 1, 0xFFFFFFF0)
    drw.write(CONTROL, START)
    assert drw.pulse(1, 100) == 0x10
    assert [drw.read(COUNTER + 4), drw.read(STATUS), drw.page("line")] == [0, 1 << 9, 1]
    assert drw.pulse(1, 100) == 0
    drw.write(ACKNOWLEDGE, 1 << 8)
    assert drw.read(STATUS) == 1 << 9
    drw.write(ACKNOWLEDGE, 1 << 9)
    assert [drw.read(STATUS), drw.page("line"), drw.page("interrupts")] == [0, 0, 1]
    assert drw.pulse(1, 100) == 100
    assert drw.read(COUNTER + 4) == 100


def test_an_overflow_without_interrupt_only_sets_its_status(drw: Model) -> None:
    drw.write(SELECT, ENABLE | 1)
    preload(drw, 0, 0xFFFFFFFF)
    drw.write(CONTROL, START)
    drw.pulse(1, 1)
    assert [drw.read(STATUS), drw.page("line"), drw.read(COUNTER)] == [1 << 8, 0, 0]


def test_the_cycle_counter_has_56_bits_and_no_select(drw: Model) -> None:
    drw.write(CONTROL, START)
    drw.pulse(CYCLES, (1 << 40) + 5)
    assert [drw.read(HIGH), drw.read(LOW)] == [1 << 8, 5]
    drw.pulse(CYCLES, (1 << 56) - (1 << 40) - 5)
    drw.pulse(CYCLES, 3)
    assert [drw.read(HIGH), drw.read(LOW), drw.read(STATUS)] == [0, 3, 0]
