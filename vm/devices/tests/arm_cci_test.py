# SPDX-License-Identifier: Apache-2.0
"""The model arm_cci behaves as the manual of the CCI-400 describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

CONTROL, IDENTITY = 0x100, 0xFE8
RUN, RESET, RESET_CYCLES = 1, 2, 4
SELECT, COUNTER, COUNT, FLAG = (0x9000 + at for at in (0x0, 0x4, 0x8, 0xC))
STEP = 0x1000
CYCLES = 0xFF


@pytest.fixture
def cci(make_model: Callable[[str], Model]) -> Model:
    return make_model("arm_cci")


def start(cci: Model, counter: int, event: int, value: int = 0) -> None:
    cci.write(SELECT + STEP * counter, event)
    cci.write(COUNTER + STEP * counter, value)
    cci.write(COUNT + STEP * counter, 1)
    cci.write(CONTROL, RUN)


def test_the_device_is_revision_1_with_four_counters(cci: Model) -> None:
    assert [cci.read(CONTROL) >> 11, cci.read(IDENTITY) >> 4] == [4, 6]


def test_a_counter_counts_if_it_is_enabled_and_the_device_runs(cci: Model) -> None:
    cci.write(SELECT + STEP * 4, 0x65)
    for count, control, want in ((0, RUN, 0), (1, 0, 0), (1, RUN, 5)):
        cci.write(COUNT + STEP * 4, count)
        cci.write(CONTROL, control)
        cci.pulse(0x65, 5)
        cci.pulse(0x66, 100)
        assert cci.read(COUNTER + STEP * 4) == want
    assert cci.page("enabled") == 1 << 3


def test_the_first_counter_counts_cycles(cci: Model) -> None:
    start(cci, 0, 0x12)
    cci.pulse(0x12, 3)
    cci.pulse(CYCLES, 4)
    assert [cci.read(COUNTER), cci.page("enabled")] == [4, 1 << 32]


def test_an_overflow_is_acknowledged_by_its_flag(cci: Model) -> None:
    start(cci, 2, 1, (1 << 32) - 4)
    assert cci.pulse(1, 10) == 4
    flags = [cci.read(FLAG + STEP * i) for i in range(5)]
    assert [flags, cci.read(COUNTER + STEP * 2)] == [[0, 0, 1, 0, 0], 0]
    cci.write(FLAG + STEP * 2, 0)
    cci.write(FLAG + STEP * 1, 1)
    assert cci.page("line") == 1
    cci.write(FLAG + STEP * 2, 1)
    assert [cci.read(FLAG + STEP * 2), cci.page("line")] == [0, 0]
    assert cci.pulse(1, 10) == 10


def test_reset_bits_clear_counters(cci: Model) -> None:
    for reset, want in ((RESET, [7, 0]), (RESET_CYCLES, [0, 7])):
        start(cci, 0, 0, 7)
        start(cci, 1, 3, 7)
        cci.write(CONTROL, reset)
        assert [cci.read(COUNTER), cci.read(COUNTER + STEP)] == want
        assert cci.read(CONTROL) == 4 << 11
