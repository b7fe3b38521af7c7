# SPDX-License-Identifier: Apache-2.0
"""The model dmc620 behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

STATUS_HALF, STATUS_FULL = 0x8, 0xC
MASK, CONTROL, VALUE = 0x00, 0x10, 0x20
ENABLE = 1
HALF_CLOCK = 8
"""The counters of the divided clock; two of the clock itself follow."""


@pytest.fixture
def dmc(make_model: Callable[[str], Model]) -> Model:
    return make_model("dmc620")


def place(counter: int, register: int) -> int:
    return 0x10 + 0x28 * counter + register


def code(event: int, counter: int) -> int:
    return event << 3 | (counter < HALF_CLOCK) << 9


def start(dmc: Model, counter: int, event: int) -> None:
    dmc.write(place(counter, CONTROL), event << 2 | ENABLE)


@pytest.mark.parametrize("counter", [0, 7, 8, 9])
def test_a_counter_counts_its_event_in_its_clock_domain(dmc: Model, counter: int) -> None:
    start(dmc, counter, 0x12)
    dmc.pulse(code(0x12, counter), 7)
    dmc.pulse(code(0x13, counter), 100)
    dmc.pulse(code(0x12, counter) ^ 1 << 9, 100)
    assert dmc.read(place(counter, VALUE)) == 7
    assert dmc.page("enabled") == 1 << counter


def test_a_disabled_counter_keeps_its_value(dmc: Model) -> None:
    start(dmc, 2, 5)
    dmc.pulse(code(5, 2), 9)
    dmc.write(place(2, CONTROL), 0)
    dmc.pulse(code(5, 2), 9)
    assert [dmc.read(place(2, VALUE)), dmc.page("enabled")] == [9, 0]


def test_each_counter_has_its_own_registers(dmc: Model) -> None:
    for counter in range(10):
        for register in (MASK, MASK + 4, MASK + 8, MASK + 12, VALUE):
            dmc.write(place(counter, register), counter << 8 | register)
    for counter in range(10):
        for register in (MASK, MASK + 4, MASK + 8, MASK + 12, VALUE):
            assert dmc.read(place(counter, register)) == counter << 8 | register


@pytest.mark.parametrize(
    ("counter", "status", "bit"), [(0, STATUS_HALF, 1), (7, STATUS_HALF, 0x80), (9, STATUS_FULL, 2)]
)
def test_an_overflow_wraps_and_keeps_the_line_up_until_its_status_is_cleared(
    dmc: Model, counter: int, status: int, bit: int
) -> None:
    start(dmc, counter, 3)
    dmc.write(place(counter, VALUE), 0xFFFFFFF0)
    assert dmc.pulse(code(3, counter), 100) == 0x10
    assert [dmc.read(place(counter, VALUE)), dmc.read(status), dmc.page("line")] == [0, bit, 1]
    assert dmc.pulse(code(3, counter), 100) == 0
    dmc.write(STATUS_HALF + STATUS_FULL - status, 0)
    assert dmc.page("line") == 1
    dmc.write(status, 0)
    assert [dmc.read(status), dmc.page("line"), dmc.page("interrupts")] == [0, 0, 1]
    assert dmc.pulse(code(3, counter), 100) == 100
