# SPDX-License-Identifier: Apache-2.0
"""The model skl_cbox behaves as its driver and Intel's manual describe the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

GLOBAL, GLOBAL_ENABLE, ENABLE = 0xE01, 1 << 29, 1 << 22
SELECTOR, COUNTER, FIXED_CONTROL, FIXED_COUNTER = 0x700, 0x706, 0x394, 0x395
CYCLES, LOOKUP = 0xFF, 0x1134


class Box(Model):
    """The box, by the numbers of its MSRs."""

    def get(self, msr: int) -> int:
        return self.read(msr * 8, 64)

    def set(self, msr: int, value: int) -> None:
        self.write(msr * 8, value, 64)


@pytest.fixture
def box(make_model: Callable[[str], Model]) -> Box:
    model = make_model("skl_cbox")
    model.__class__ = Box
    assert isinstance(model, Box)
    model.set(GLOBAL, GLOBAL_ENABLE)
    return model


def test_enabled_counters_count_their_event(box: Box) -> None:
    for i in range(4):
        box.set(SELECTOR + i, (ENABLE if i != 2 else 0) | (LOOKUP + i))
        box.pulse(LOOKUP + i, 10 + i)
    assert [box.get(COUNTER + i) for i in range(4)] == [10, 11, 0, 13]
    assert box.page("enabled") == 0b1011


def test_only_the_fixed_counter_counts_cycles(box: Box) -> None:
    box.set(SELECTOR, ENABLE | LOOKUP)
    box.pulse(CYCLES, 5)
    box.set(FIXED_CONTROL, ENABLE)
    box.pulse(CYCLES, 7)
    assert [box.get(FIXED_COUNTER), box.get(COUNTER)] == [7, 0]


def test_nothing_counts_without_the_global_bit(box: Box) -> None:
    box.set(SELECTOR, ENABLE | LOOKUP)
    box.set(FIXED_CONTROL, ENABLE)
    box.set(GLOBAL, 0)
    box.pulse(LOOKUP, 5)
    box.pulse(CYCLES, 5)
    assert [box.get(COUNTER), box.get(FIXED_COUNTER)] == [0, 0]


@pytest.mark.parametrize("bit", [18, 23, 24, 28])
def test_conditions_count_other_events(box: Box, bit: int) -> None:
    box.set(SELECTOR, ENABLE | LOOKUP | 1 << bit)
    box.pulse(LOOKUP, 5)
    assert box.get(COUNTER) == 0


@pytest.mark.parametrize(
    "control, selector, counter, width",
    [(SELECTOR, LOOKUP, COUNTER, 44), (FIXED_CONTROL, CYCLES, FIXED_COUNTER, 48)],
)
def test_counters_wrap_and_wait_for_the_driver_at_half_their_range(
    box: Box, control: int, selector: int, counter: int, width: int
) -> None:
    box.set(control, ENABLE | (selector if control == SELECTOR else 0))
    box.set(counter, (1 << width) - 2)
    assert box.pulse(selector, 1 << 60) == 1 << (width - 1)
    assert box.pulse(selector, 1) == 0
    assert box.get(counter) == (1 << (width - 1)) - 2


def test_a_register_reads_what_was_written(box: Box) -> None:
    for msr, value in ((SELECTOR + 3, ENABLE | LOOKUP), (FIXED_CONTROL, ENABLE), (COUNTER + 1, 9)):
        box.set(msr, value)
        assert box.get(msr) == value
    assert box.get(SELECTOR + 4) == 0
