# SPDX-License-Identifier: Apache-2.0
"""The model xgene behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

SOURCES, MASKED, SWITCH, BRIDGE = 0x000, 0x004, 0x1000, 0x2000
COUNTER, TYPE, AGENTS = 0x4000, 0x4400, 0x4A00
COUNT_SET, COUNT_CLEAR, INTERRUPT_SET, INTERRUPT_CLEAR = 0x4C00, 0x4C20, 0x4C40, 0x4C60
STATUS, CONTROL = 0x4C80, 0x4E04
ENABLE, RESET = 1, 2
ALL_MASKED, NONE_MASKED = 0xFFFFFFFF, 0xFFFFFFF0
L3 = 4


@pytest.fixture
def pmu(make_model: Callable[[str], Model]) -> Model:
    return make_model("xgene")


def start(pmu: Model, counter: int, code: int) -> None:
    pmu.write(TYPE + 4 * counter, code)
    pmu.write(COUNT_SET, 1 << counter)
    pmu.write(INTERRUPT_SET, 1 << counter)
    pmu.write(CONTROL, ENABLE)


@pytest.mark.parametrize(
    ("setter", "clearer"), [(COUNT_SET, COUNT_CLEAR), (INTERRUPT_SET, INTERRUPT_CLEAR)]
)
def test_pairs_of_registers_set_and_clear_bits(pmu: Model, setter: int, clearer: int) -> None:
    pmu.write(setter, 0x1A)
    pmu.write(setter, 0x05)
    pmu.write(clearer, 0x03)
    assert [pmu.read(setter), pmu.read(clearer)] == [0xC, 0]


def test_a_counter_counts_if_it_is_enabled_and_the_device_runs(pmu: Model) -> None:
    pmu.write(TYPE + 8, 0x06)
    for count, control, want in ((0, 1, 0), (4, 0, 0), (4, 1, 5)):
        pmu.write(COUNT_SET, count)
        pmu.write(CONTROL, control)
        pmu.pulse(0x06, 5)
        pmu.pulse(0x07, 100)
        assert pmu.read(COUNTER + 8) == want
    assert pmu.page("enabled") == 4


def test_a_reset_clears_the_counters_and_is_no_state(pmu: Model) -> None:
    start(pmu, 3, 2)
    pmu.pulse(2, 5)
    pmu.write(CONTROL, RESET | ENABLE)
    assert [pmu.read(COUNTER + 12), pmu.read(CONTROL)] == [0, ENABLE]


def test_an_overflow_is_acknowledged_by_its_bit(pmu: Model) -> None:
    pmu.write(MASKED, NONE_MASKED)
    start(pmu, 1, 2)
    pmu.write(COUNTER + 4, 0xFFFFFFF0)
    assert pmu.pulse(2, 100) == 0x10
    assert [pmu.read(COUNTER + 4), pmu.read(STATUS), pmu.read(SOURCES)] == [0, 2, L3]
    assert [pmu.page("line"), pmu.pulse(2, 100)] == [1, 0]
    pmu.write(STATUS, 1)
    assert pmu.page("line") == 1
    pmu.write(STATUS, 2)
    assert [pmu.read(STATUS), pmu.read(SOURCES), pmu.page("line")] == [0, 0, 0]
    assert pmu.pulse(2, 100) == 100


def test_a_source_is_masked_after_power_on_and_by_its_bit(pmu: Model) -> None:
    start(pmu, 0, 2)
    pmu.write(COUNTER, 0xFFFFFFFF)
    pmu.pulse(2, 1)
    assert [pmu.read(SOURCES), pmu.page("line")] == [L3, 0]
    for masked, line in ((NONE_MASKED, 1), (ALL_MASKED, 0), (~L3 & 0xF, 1)):
        pmu.write(MASKED, masked)
        assert [pmu.read(MASKED), pmu.page("line")] == [masked & 0xF, line]


def test_an_overflow_without_interrupt_only_sets_its_status(pmu: Model) -> None:
    pmu.write(MASKED, NONE_MASKED)
    start(pmu, 0, 2)
    pmu.write(INTERRUPT_CLEAR, 1)
    pmu.write(COUNTER, 0xFFFFFFFF)
    pmu.pulse(2, 1)
    assert [pmu.read(STATUS), pmu.read(SOURCES), pmu.page("line")] == [1, 0, 0]


def test_the_switch_names_one_bridge_with_one_controller(pmu: Model) -> None:
    pmu.write(AGENTS, 0x3FF)
    assert [pmu.read(SWITCH), pmu.read(BRIDGE), pmu.read(AGENTS)] == [0, 0, 0x3FF]
