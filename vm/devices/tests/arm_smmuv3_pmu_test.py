# SPDX-License-Identifier: Apache-2.0
"""The model arm_smmuv3_pmu behaves as the architecture of the SMMU describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

COUNTER, TYPE, FILTER, EVENTS = 0x000, 0x400, 0xA00, 0xE20
COUNT_SET, COUNT_CLEAR, INTERRUPT_SET, INTERRUPT_CLEAR = 0xC00, 0xC20, 0xC40, 0xC60
STATUS_CLEAR, STATUS_SET = 0xC80, 0xCC0
CONFIGURATION, CONTROL, INTERRUPTS = 0xE00, 0xE04, 0xE50


@pytest.fixture
def pmcg(make_model: Callable[[str], Model]) -> Model:
    return make_model("arm_smmuv3_pmu")


def start(pmcg: Model, counter: int, event: int, value: int = 0) -> None:
    pmcg.write(TYPE + 4 * counter, event)
    pmcg.write(COUNTER + 4 * counter, value)
    pmcg.write(INTERRUPT_SET, 1 << counter, 64)
    pmcg.write(COUNT_SET, 1 << counter, 64)
    pmcg.write(INTERRUPTS, 1)
    pmcg.write(CONTROL, 1)


@pytest.mark.parametrize(
    ("setter", "clearer"),
    [
        (COUNT_SET, COUNT_CLEAR),
        (INTERRUPT_SET, INTERRUPT_CLEAR),
        (STATUS_SET, STATUS_CLEAR),
    ],
)
def test_pairs_of_registers_set_and_clear_bits(pmcg: Model, setter: int, clearer: int) -> None:
    pmcg.write(setter, 0x1F3, 64)
    pmcg.write(setter, 0x004, 64)
    pmcg.write(clearer, 0x003, 64)
    assert [pmcg.read(setter, 64), pmcg.read(clearer, 64)] == [0xF4, 0xF4]


def test_the_device_has_eight_counters_of_32_bits_and_eight_events(pmcg: Model) -> None:
    assert pmcg.read(CONFIGURATION) == 31 << 8 | 7
    assert pmcg.read(EVENTS, 64) == 0xFF


def test_a_counter_counts_if_it_is_enabled_and_the_device_runs(pmcg: Model) -> None:
    pmcg.write(TYPE + 8, 3)
    for count, control, want in ((0, 1, 0), (4, 0, 0), (4, 1, 5)):
        pmcg.write(COUNT_SET, count, 64)
        pmcg.write(CONTROL, control)
        pmcg.pulse(3, 5)
        pmcg.pulse(4, 100)
        assert pmcg.read(COUNTER + 8) == want
    assert pmcg.page("enabled") == 4


def test_the_filter_of_a_counter_keeps_its_value_and_does_not_change_its_event(pmcg: Model) -> None:
    start(pmcg, 7, 1 << 29 | 2)
    pmcg.write(FILTER + 28, 0xFFFFFFFF)
    assert pmcg.read(FILTER + 28) == 0xFFFFFFFF
    pmcg.pulse(2, 9)
    assert pmcg.read(COUNTER + 28) == 9


def test_an_overflow_is_acknowledged_by_its_bit(pmcg: Model) -> None:
    start(pmcg, 1, 5, (1 << 32) - 4)
    assert pmcg.pulse(5, 10) == 4
    assert [pmcg.read(COUNTER + 4), pmcg.read(STATUS_SET, 64), pmcg.page("line")] == [0, 2, 1]
    pmcg.write(STATUS_CLEAR, 1, 64)
    assert pmcg.page("line") == 1
    pmcg.write(STATUS_CLEAR, 2, 64)
    assert [pmcg.read(STATUS_SET, 64), pmcg.page("line")] == [0, 0]
    assert pmcg.pulse(5, 10) == 10


@pytest.mark.parametrize(("register", "value"), [(INTERRUPT_CLEAR, 1), (INTERRUPTS, 0)])
def test_the_line_needs_both_enable_bits(pmcg: Model, register: int, value: int) -> None:
    start(pmcg, 0, 1, (1 << 32) - 1)
    pmcg.write(register, value, 64)
    assert pmcg.pulse(1, 3) == 1
    assert [pmcg.read(STATUS_SET, 64), pmcg.page("line")] == [1, 0]
    pmcg.write(INTERRUPTS, 1)
    pmcg.write(INTERRUPT_SET, 1, 64)
    assert pmcg.page("line") == 1


def test_a_disabled_device_keeps_its_counts(pmcg: Model) -> None:
    start(pmcg, 0, 1, (1 << 32) - 1)
    pmcg.write(CONTROL, 0)
    pmcg.pulse(1, 3)
    assert pmcg.read(COUNTER) == (1 << 32) - 1
