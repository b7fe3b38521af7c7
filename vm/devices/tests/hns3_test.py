# SPDX-License-Identifier: Apache-2.0
"""The model hns3 behaves as its driver and Documentation/admin-guide/perf/hns3-pmu.rst describe the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

GLOBAL, VERSION, BDF = 0x0, 0xFE4, 0xFE0
LOW, STATUS, MASK, COUNTER, SECOND, QUEUE = 0x00, 0x08, 0x0C, 0x10, 0x18, 0x28
RESET, ENABLE = 1 << 11, 1 << 12


@pytest.fixture
def hns3(make_model: Callable[[str], Model]) -> Model:
    return make_model("hns3")


def place(counter: int, register: int) -> int:
    return 0x1000 * (counter + 1) + register


def start(hns3: Model, counter: int, code: int) -> None:
    hns3.write(place(counter, LOW), ENABLE | (code & 0xFF) << 4 | code >> 8)
    hns3.write(GLOBAL, 1)


def test_a_counter_counts_its_event_if_it_is_enabled_and_the_device_started(hns3: Model) -> None:
    start(hns3, 3, 0x102)
    assert hns3.page("enabled") == 1 << 3
    hns3.pulse(0x102, 7)
    hns3.pulse(0x002, 100)
    hns3.pulse(0x103, 100)
    assert hns3.read(place(3, COUNTER), 64) == 7
    hns3.write(GLOBAL, 0)
    hns3.pulse(0x102, 7)
    assert hns3.read(place(3, COUNTER), 64) == 7


def test_both_counters_of_an_event_count(hns3: Model) -> None:
    start(hns3, 0, 0x001)
    hns3.pulse(0x001, 9)
    assert hns3.read(place(0, SECOND), 64) == 9


def test_a_counter_is_written_and_read_in_halves(hns3: Model) -> None:
    hns3.write(place(1, COUNTER), 5)
    hns3.write(place(1, COUNTER + 4), 6)
    assert hns3.read(place(1, COUNTER), 64) == 6 << 32 | 5
    assert [hns3.read(place(1, COUNTER)), hns3.read(place(1, COUNTER + 4))] == [5, 6]


def test_an_overflow_restarts_from_0_and_raises_the_line(hns3: Model) -> None:
    start(hns3, 2, 0x005)
    hns3.write(place(2, COUNTER), (1 << 64) - 4, 64)
    assert hns3.pulse(0x005, 10) == 4
    assert [hns3.read(place(2, COUNTER), 64), hns3.page("line")] == [0, 1]
    assert hns3.read(place(2, STATUS)) == 2
    low = hns3.read(place(2, LOW))
    hns3.write(place(2, LOW), low | RESET)
    assert [hns3.read(place(2, STATUS)), hns3.page("line")] == [0, 0]
    hns3.write(place(2, LOW), low)
    assert hns3.pulse(0x005, 10) == 10


def test_a_masked_overflow_keeps_its_status_and_raises_no_line(hns3: Model) -> None:
    start(hns3, 0, 0x001)
    hns3.write(place(0, MASK), 2)
    hns3.write(place(0, COUNTER), (1 << 64) - 1, 64)
    hns3.pulse(0x001, 1)
    assert [hns3.read(place(0, STATUS)), hns3.page("line")] == [2, 0]
    hns3.write(place(0, MASK), 0)
    assert hns3.page("line") == 1


def test_each_queue_exists(hns3: Model) -> None:
    assert hns3.read(place(0, QUEUE)) == 2
    assert hns3.read(BDF) == 0xFFFF0000
    assert hns3.read(VERSION) == 0x30
