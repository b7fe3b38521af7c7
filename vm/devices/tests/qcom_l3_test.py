# SPDX-License-Identifier: Apache-2.0
"""The model qcom_l3 behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

TYPE, COUNTER, CONTROL = 0x220, 0x420, 0x500
COUNT_SET, COUNT_CLEAR, INTERRUPT_SET, INTERRUPT_CLEAR = 0x508, 0x50C, 0x510, 0x514
CHAIN, STATUS, HALVES = 0x718, 0x740, 0x96C
ENABLE, RESET = 1, 2
HALF = 1 << 31


@pytest.fixture
def l3(make_model: Callable[[str], Model]) -> Model:
    return make_model("qcom_l3")


def start(l3: Model, counter: int, code: int) -> None:
    l3.write(TYPE + 8 * counter, code)
    l3.write(COUNT_SET, 1 << counter)
    l3.write(CONTROL, ENABLE)


@pytest.mark.parametrize(
    ("setter", "clearer"), [(COUNT_SET, COUNT_CLEAR), (INTERRUPT_SET, INTERRUPT_CLEAR)]
)
def test_pairs_of_registers_set_and_clear_bits(l3: Model, setter: int, clearer: int) -> None:
    l3.write(setter, 0x1F3)
    l3.write(setter, 0x004)
    l3.write(clearer, 0x003)
    assert [l3.read(setter), l3.read(clearer)] == [0xF4, 0xF4]


def test_a_counter_counts_if_it_is_enabled_and_the_device_runs(l3: Model) -> None:
    l3.write(TYPE + 16, 0x21)
    for count, control, want in ((0, 1, 0), (4, 0, 0), (4, 1, 5)):
        l3.write(COUNT_SET, count)
        l3.write(CONTROL, control)
        l3.pulse(0x21, 5)
        l3.pulse(0x20, 100)
        assert l3.read(COUNTER + 16) == want
    assert l3.page("enabled") == 4


def test_a_reset_clears_the_counters_and_stops_the_device(l3: Model) -> None:
    start(l3, 7, 0x24)
    l3.pulse(0x24, 5)
    l3.write(CONTROL, RESET)
    assert [l3.read(COUNTER + 56), l3.read(CONTROL)] == [0, 0]


def test_a_counter_overflows_once_without_interrupts_at_the_top_bit(l3: Model) -> None:
    start(l3, 1, 0x21)
    l3.write(INTERRUPT_SET, 2)
    l3.write(COUNTER + 8, HALF - 4)
    assert l3.pulse(0x21, HALF + 10) == HALF + 4
    assert [l3.read(COUNTER + 8), l3.read(STATUS), l3.page("line")] == [0, 2, 1]


def test_each_change_of_the_top_bit_is_acknowledged_by_its_bit(l3: Model) -> None:
    start(l3, 1, 0x21)
    l3.write(INTERRUPT_SET, 2)
    l3.write(HALVES, 2)
    for value in (HALF, 0):
        assert l3.pulse(0x21, HALF + 10) == HALF
        assert [l3.read(COUNTER + 8), l3.read(STATUS), l3.page("line")] == [value, 2, 1]
        assert l3.pulse(0x21, 1) == 0
        l3.write(STATUS, 1)
        assert l3.page("line") == 1
        l3.write(STATUS, 2)
        assert [l3.read(STATUS), l3.page("line")] == [0, 0]
    assert l3.page("interrupts") == 2


def test_an_overflow_without_interrupt_only_sets_its_status(l3: Model) -> None:
    start(l3, 0, 0x21)
    l3.write(COUNTER, 2 * HALF - 1)
    l3.pulse(0x21, 1)
    assert [l3.read(COUNTER), l3.read(STATUS), l3.page("line")] == [0, 1, 0]


def test_a_chained_counter_counts_the_overflows_of_the_one_below(l3: Model) -> None:
    l3.write(CHAIN, 2)
    start(l3, 0, 0x21)
    start(l3, 1, 0x00)
    l3.write(COUNTER + 8, 2 * HALF - 1)
    for n in (HALF, HALF, 7):
        assert l3.pulse(0x21, n) == n
    l3.pulse(0x00, 100)
    assert [l3.read(COUNTER), l3.read(COUNTER + 8)] == [7, 0]
    l3.write(CHAIN, 0)
    l3.pulse(0x00, 100)
    assert l3.read(COUNTER + 8) == 100
