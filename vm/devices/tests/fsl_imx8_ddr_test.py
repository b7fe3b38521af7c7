# SPDX-License-Identifier: Apache-2.0
"""The model fsl_imx8_ddr behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

CONTROL, COUNTER, FILTER = 0x00, 0x20, 0x30
FULL, CLEAR, ENABLE = 1, 2, 4
BIAS = 0xF0 << 16
READ, WRITE = 0x20, 0x21


@pytest.fixture
def ddr(make_model: Callable[[str], Model]) -> Model:
    return make_model("fsl_imx8_ddr")


def start(ddr: Model, counter: int, event: int) -> None:
    ddr.write(CONTROL + 4 * counter, 0)
    bias = 0 if counter else BIAS
    ddr.write(CONTROL + 4 * counter, ENABLE | CLEAR | bias | event << 24)


def test_counters_count_while_the_counter_of_cycles_runs(ddr: Model) -> None:
    start(ddr, 2, READ)
    ddr.pulse(READ, 5)
    assert ddr.read(COUNTER + 8) == 0
    start(ddr, 0, 0)
    ddr.pulse(READ, 5)
    ddr.pulse(WRITE, 100)
    assert [ddr.read(COUNTER + 8), ddr.page("enabled")] == [5, 1 << 1]
    ddr.write(CONTROL, 0)
    ddr.pulse(READ, 5)
    assert ddr.read(COUNTER + 8) == 5


def test_the_counter_of_cycles_counts_each_event_from_the_bias_on(ddr: Model) -> None:
    start(ddr, 0, 0)
    ddr.pulse(0, 3)
    ddr.pulse(READ, 4)
    assert ddr.read(COUNTER) == (0xF0 << 24) + 7


def test_the_clear_bit_clears_events_when_it_is_0_and_cycles_when_it_becomes_1(ddr: Model) -> None:
    start(ddr, 0, 0)
    start(ddr, 1, READ)
    ddr.pulse(READ, 5)
    ddr.write(CONTROL + 4, ENABLE | READ << 24)
    ddr.write(CONTROL, ENABLE | BIAS)
    assert [ddr.read(COUNTER + 4), ddr.read(COUNTER)] == [0, (0xF0 << 24) + 5]
    assert ddr.read(CONTROL + 4) == ENABLE | CLEAR | READ << 24
    ddr.write(CONTROL, ENABLE | CLEAR | BIAS)
    assert ddr.read(COUNTER) == 0xF0 << 24


def test_a_full_counter_of_cycles_stops_all_and_is_acknowledged_by_its_clear_bit(
    ddr: Model,
) -> None:
    start(ddr, 0, 0)
    start(ddr, 1, READ)
    assert ddr.pulse(READ, (1 << 28) + 10) == 1 << 28
    assert [ddr.page("line"), ddr.read(CONTROL) & FULL, ddr.read(COUNTER)] == [1, 1, 0]
    assert ddr.pulse(READ, 10) == 0
    ddr.write(CONTROL, ddr.read(CONTROL) & ~ENABLE)
    assert ddr.page("line") == 1
    start(ddr, 0, 0)
    assert [ddr.page("line"), ddr.read(COUNTER), ddr.read(COUNTER + 4)] == [0, 0xF0 << 24, 1 << 28]
    assert ddr.pulse(READ, 10) == 10


def test_a_full_counter_of_events_stops_without_an_interrupt(ddr: Model) -> None:
    start(ddr, 1, READ)
    for _ in range(16):
        start(ddr, 0, 0)
        ddr.pulse(READ, 1 << 28)
    assert [ddr.read(COUNTER + 4), ddr.read(CONTROL + 4) & FULL] == [0, 1]
    start(ddr, 0, 0)
    ddr.pulse(READ, 10)
    assert [ddr.read(COUNTER + 4), ddr.page("line")] == [0, 0]
    start(ddr, 1, READ)
    ddr.pulse(READ, 10)
    assert [ddr.read(COUNTER + 4), ddr.read(CONTROL + 4) & FULL] == [10, 0]


def test_a_burst_is_a_byte_and_the_filter_keeps_its_value(ddr: Model) -> None:
    start(ddr, 0, 0)
    start(ddr, 3, 0x41)
    ddr.write(FILTER, 0xFFFF0000)
    ddr.pulse(0x41, 5)
    assert [ddr.read(FILTER), ddr.read(FILTER + 12), ddr.read(COUNTER + 12)] == [0xFFFF0000, 5, 5]
