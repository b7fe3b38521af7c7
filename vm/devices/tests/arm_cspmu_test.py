# SPDX-License-Identifier: Apache-2.0
"""The model arm_cspmu behaves as its driver and the architecture describe the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

TYPE, CYCLE_FILTER, FILTER = 0x400, 0x47C, 0xA00
ENABLE, DISABLE, INTERRUPT, NO_INTERRUPT = 0xC00, 0xC20, 0xC40, 0xC60
STATUS_CLEAR, STATUS_SET, CONFIGURATION, CONTROL = 0xC80, 0xCC0, 0xE00, 0xE04
RUN, RESET, RESET_CYCLES = 1, 2, 4
CYCLES, CYCLE_EVENT = 31, 1 << 32
ALL = 1 << CYCLES | 0xFF


@pytest.fixture
def cspmu(make_model: Callable[[str], Model]) -> Model:
    return make_model("arm_cspmu")


def preload(cspmu: Model, counter: int, value: int) -> None:
    cspmu.write(8 * counter, value & 0xFFFFFFFF)
    cspmu.write(8 * counter + 4, value >> 32)


def count(cspmu: Model, counter: int) -> int:
    return cspmu.read(8 * counter + 4) << 32 | cspmu.read(8 * counter)


def test_the_configuration_states_counters_and_width(cspmu: Model) -> None:
    found = cspmu.read(CONFIGURATION)
    assert [(found & 0xFF) + 1, (found >> 8 & 0x3F) + 1, found >> 14 & 1] == [9, 48, 1]


def test_a_counter_counts_its_event_if_it_and_the_device_are_enabled(cspmu: Model) -> None:
    cspmu.write(TYPE + 12, 7)
    for counters, control, want in ((0, RUN, 0), (1 << 3, 0, 0), (1 << 3, RUN, 5)):
        cspmu.write(DISABLE, ALL)
        cspmu.write(ENABLE, counters)
        cspmu.write(CONTROL, control)
        cspmu.pulse(7, 5)
        cspmu.pulse(6, 100)
        assert [count(cspmu, 3), cspmu.read(CONTROL)] == [want, control]
    cspmu.write(CONTROL, 0)
    cspmu.pulse(7, 100)
    assert count(cspmu, 3) == 5


def test_the_counter_of_cycles_is_number_31(cspmu: Model) -> None:
    cspmu.write(ENABLE, 1 << CYCLES | 1)
    cspmu.write(CONTROL, RUN)
    cspmu.pulse(CYCLE_EVENT, 9)
    assert [count(cspmu, CYCLES), count(cspmu, 0), count(cspmu, 8)] == [9, 0, 0]
    assert cspmu.page("enabled") == 1 << 8 | 1


@pytest.mark.parametrize(("set_at", "clear_at"), [(ENABLE, DISABLE), (INTERRUPT, NO_INTERRUPT)])
def test_bits_are_set_and_cleared_one_by_one(cspmu: Model, set_at: int, clear_at: int) -> None:
    cspmu.write(set_at, 0x0F)
    cspmu.write(set_at, 0xFFFFFFFF)
    cspmu.write(clear_at, 0x06)
    assert [cspmu.read(set_at), cspmu.read(clear_at)] == [ALL & ~0x06] * 2


def test_halves_of_a_counter_are_written_apart(cspmu: Model) -> None:
    preload(cspmu, 2, 0x123456789ABC)
    cspmu.write(16, 0xF)
    assert count(cspmu, 2) == 0x12340000000F
    cspmu.write(20, 0xABCD0001)
    assert [count(cspmu, 2), count(cspmu, 1), count(cspmu, 3)] == [0x10000000F, 0, 0]


def test_a_reset_is_of_the_counters_or_of_the_cycles(cspmu: Model) -> None:
    for bits, want in ((RESET, [0, 8]), (RESET_CYCLES, [7, 0]), (RESET | RESET_CYCLES, [0, 0])):
        preload(cspmu, 0, 7)
        preload(cspmu, CYCLES, 8)
        cspmu.write(CONTROL, bits)
        assert [count(cspmu, 0), count(cspmu, CYCLES), cspmu.read(CONTROL)] == [*want, 0]


@pytest.mark.parametrize(("counter", "code"), [(5, 77), (CYCLES, CYCLE_EVENT)])
def test_an_overflow_wraps_and_is_acknowledged_by_its_bit(
    cspmu: Model, counter: int, code: int
) -> None:
    cspmu.write(TYPE + 20, 77)
    cspmu.write(ENABLE, 1 << counter)
    cspmu.write(INTERRUPT, 1 << counter)
    cspmu.write(CONTROL, RUN)
    preload(cspmu, counter, (1 << 48) - 4)
    assert cspmu.pulse(code, 10) == 4
    assert [count(cspmu, counter), cspmu.read(STATUS_CLEAR)] == [0, 1 << counter]
    assert cspmu.page("line") == 1 and cspmu.pulse(code, 10) == 0
    cspmu.write(STATUS_CLEAR, ALL & ~(1 << counter))
    assert [cspmu.read(STATUS_SET), cspmu.page("line")] == [1 << counter, 1]
    cspmu.write(STATUS_CLEAR, 1 << counter)
    assert [cspmu.read(STATUS_SET), cspmu.page("line"), cspmu.page("interrupts")] == [0, 0, 1]
    assert [cspmu.pulse(code, 6), count(cspmu, counter)] == [6, 6]


def test_an_overflow_without_interrupt_only_sets_its_status(cspmu: Model) -> None:
    cspmu.write(TYPE, 1)
    cspmu.write(ENABLE, 1)
    cspmu.write(CONTROL, RUN)
    preload(cspmu, 0, (1 << 48) - 1)
    cspmu.pulse(1, 1)
    assert [cspmu.read(STATUS_CLEAR), cspmu.page("line")] == [1, 0]
    cspmu.write(INTERRUPT, 1)
    assert cspmu.page("line") == 1


def test_software_can_set_an_overflow(cspmu: Model) -> None:
    cspmu.write(INTERRUPT, 1 << CYCLES)
    cspmu.write(STATUS_SET, 1 << CYCLES)
    assert [cspmu.read(STATUS_CLEAR), cspmu.page("line")] == [1 << CYCLES, 1]


def test_filters_are_stored(cspmu: Model) -> None:
    cspmu.write(FILTER + 28, 0x1234)
    cspmu.write(CYCLE_FILTER, 0x5678)
    assert [cspmu.read(FILTER + 28), cspmu.read(FILTER), cspmu.read(CYCLE_FILTER)] == [
        *(0x1234, 0),
        0x5678,
    ]
