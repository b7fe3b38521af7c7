# SPDX-License-Identifier: Apache-2.0
"""The model fujitsu behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

COUNTER, TYPE, CONTROL, STATUS = 0x000, 0x200, 0x400, 0x440
COUNT_SET, COUNT_CLEAR, INTERRUPT_SET, INTERRUPT_CLEAR = 0x410, 0x418, 0x420, 0x428


@pytest.fixture
def mac(make_model: Callable[[str], Model]) -> Model:
    return make_model("fujitsu")


@pytest.mark.parametrize(
    ("setter", "clearer"), [(COUNT_SET, COUNT_CLEAR), (INTERRUPT_SET, INTERRUPT_CLEAR)]
)
def test_pairs_of_registers_set_and_clear_bits(mac: Model, setter: int, clearer: int) -> None:
    mac.write(setter, 0x1F3, 64)
    mac.write(setter, 0x004, 64)
    mac.write(clearer, 0x003, 64)
    assert [mac.read(setter, 64), mac.read(clearer, 64)] == [0xF4, 0xF4]


def test_a_counter_counts_if_it_is_enabled_and_the_device_runs(mac: Model) -> None:
    mac.write(TYPE + 16, 0x34, 64)
    for count, control, want in ((0, 1, 0), (4, 0, 0), (4, 1, 5)):
        mac.write(COUNT_SET, count, 64)
        mac.write(CONTROL, control, 64)
        mac.pulse(0x34, 5)
        mac.pulse(0x35, 100)
        assert mac.read(COUNTER + 16, 64) == want
    assert mac.page("enabled") == 4


def test_an_overflow_is_acknowledged_by_its_bit(mac: Model) -> None:
    mac.write(TYPE + 8, 1, 64)
    mac.write(COUNT_SET, 2, 64)
    mac.write(INTERRUPT_SET, 2, 64)
    mac.write(CONTROL, 1, 64)
    mac.write(COUNTER + 8, (1 << 64) - 4, 64)
    assert mac.pulse(1, 10) == 4
    assert [mac.read(COUNTER + 8, 64), mac.read(STATUS, 64), mac.page("line")] == [0, 2, 1]
    mac.write(STATUS, 1, 64)
    assert mac.page("line") == 1
    mac.write(STATUS, 2, 64)
    assert [mac.read(STATUS, 64), mac.page("line")] == [0, 0]
    assert mac.pulse(1, 10) == 10
