# SPDX-License-Identifier: Apache-2.0
"""The model fsl_imx9_ddr behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

GLOBAL, LOCAL, COUNTER, HIGH = 0x40, 0x50, 0x58, 0x5C
FREEZE, INTERRUPT, FREEZE_ON_OVERFLOW = 1 << 31, 1 << 30, 1 << 29
CONDITION = 1 << 26
STEP = 0x10


@pytest.fixture
def ddr(make_model: Callable[[str], Model]) -> Model:
    return make_model("fsl_imx9_ddr")


def start(ddr: Model, counter: int, event: int) -> None:
    ddr.write(LOCAL + STEP * counter, CONDITION | event << 16)
    ddr.write(GLOBAL, INTERRUPT | FREEZE_ON_OVERFLOW)


def test_a_counter_counts_unless_it_or_the_device_is_frozen(ddr: Model) -> None:
    start(ddr, 3, 0x41)
    for everything, one, want in ((FREEZE, 0, 0), (0, FREEZE, 0), (0, 0, 5)):
        ddr.write(GLOBAL, everything)
        ddr.write(LOCAL + STEP * 3, one | CONDITION | 0x41 << 16)
        ddr.pulse(0x41, 5)
        ddr.pulse(0x42, 100)
        assert ddr.read(COUNTER + STEP * 3) == want
    assert ddr.page("enabled") == 1 << 2


def test_an_event_of_one_counter_happens_in_that_counter(ddr: Model) -> None:
    for counter in (3, 4):
        start(ddr, counter, 0x41)
    ddr.pulse(3 << 16 | 0x41, 5)
    assert [ddr.read(COUNTER + STEP * counter) for counter in (3, 4)] == [5, 0]


def test_only_the_first_counter_counts_cycles_in_64_bits(ddr: Model) -> None:
    for counter in (0, 1):
        start(ddr, counter, 0)
    ddr.pulse(0, (1 << 33) + 7)
    assert [ddr.read(HIGH), ddr.read(COUNTER), ddr.read(COUNTER + STEP)] == [2, 7, 0]
    ddr.write(HIGH, 0)
    assert [ddr.read(HIGH), ddr.read(COUNTER)] == [0, 7]
    ddr.write(COUNTER, 0)
    assert ddr.read(COUNTER) == 0


def test_a_set_highest_bit_freezes_all_counters_until_it_is_cleared(ddr: Model) -> None:
    start(ddr, 1, 12)
    start(ddr, 2, 13)
    ddr.write(COUNTER + STEP, (1 << 31) - 4)
    assert ddr.pulse(12, 10) == 4
    assert ddr.page("line") == 1
    assert ddr.read(GLOBAL) == FREEZE | INTERRUPT | FREEZE_ON_OVERFLOW
    assert ddr.pulse(13, 10) == 0
    ddr.write(COUNTER + STEP, 0)
    assert ddr.page("line") == 0
    ddr.pulse(13, 10)
    assert ddr.read(COUNTER + STEP * 2) == 0
    ddr.write(GLOBAL, INTERRUPT | FREEZE_ON_OVERFLOW)
    assert ddr.pulse(13, 10) == 10
    assert ddr.read(COUNTER + STEP * 2) == 10


@pytest.mark.parametrize(
    ("everything", "one"),
    [(FREEZE_ON_OVERFLOW, CONDITION), (INTERRUPT | FREEZE_ON_OVERFLOW, 0)],
)
def test_an_interrupt_needs_its_bits(ddr: Model, everything: int, one: int) -> None:
    ddr.write(LOCAL + STEP, one | 12 << 16)
    ddr.write(GLOBAL, everything)
    ddr.write(COUNTER + STEP, (1 << 31) - 1)
    ddr.pulse(12, 1)
    assert [ddr.read(COUNTER + STEP), ddr.page("line")] == [1 << 31, 0]


def test_all_counters_count_the_event_that_freezes_them(ddr: Model) -> None:
    start(ddr, 1, 12)
    start(ddr, 2, 12)
    ddr.write(COUNTER + STEP, (1 << 31) - 4)
    ddr.pulse(12, 10)
    assert [ddr.read(COUNTER + STEP), ddr.read(COUNTER + STEP * 2)] == [1 << 31, 4]


def test_without_the_freeze_a_counter_wraps_at_32_bits(ddr: Model) -> None:
    start(ddr, 10, 15)
    ddr.write(GLOBAL, 0)
    ddr.write(COUNTER + STEP * 10, (1 << 32) - 1)
    ddr.pulse(15, 3)
    assert ddr.read(COUNTER + STEP * 10) == 2
