# SPDX-License-Identifier: Apache-2.0
"""The model hisi_pcie behaves as its driver and Documentation/admin-guide/perf/hisi-pcie-pmu.rst describe the
registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

GLOBAL, CONTROL, COUNTER, SECOND, STATUS, MASK = 0x000, 0x010, 0x090, 0x110, 0x150, 0x154
BDF, VERSION, INFO = 0xFE0, 0xFE4, 0xFE8
ENABLE, RESET = 1 << 20, 1 << 22


@pytest.fixture
def pcie(make_model: Callable[[str], Model]) -> Model:
    return make_model("hisi_pcie")


def start(pcie: Model, counter: int, code: int) -> None:
    pcie.write(CONTROL + 8 * counter, ENABLE | code, 64)
    pcie.write(GLOBAL, 1)


def test_a_counter_counts_its_event_if_it_is_enabled_and_the_device_started(pcie: Model) -> None:
    start(pcie, 3, 0x804)
    assert pcie.page("enabled") == 1 << 3
    pcie.pulse(0x804, 7)
    pcie.pulse(0x805, 100)
    assert pcie.read(COUNTER + 24, 64) == 7
    for control, run in ((ENABLE | 0x804, 0), (0x804, 1)):
        pcie.write(CONTROL + 24, control, 64)
        pcie.write(GLOBAL, run)
        pcie.pulse(0x804, 7)
        assert pcie.read(COUNTER + 24, 64) == 7


def test_both_counters_of_an_event_count(pcie: Model) -> None:
    start(pcie, 7, 0x10)
    pcie.write(COUNTER + 56, 1 << 63, 64)
    pcie.write(SECOND + 56, 1 << 63, 64)
    pcie.pulse(0x10, 9)
    assert [pcie.read(COUNTER + 56, 64), pcie.read(SECOND + 56, 64)] == [(1 << 63) + 9] * 2


def test_a_reset_clears_the_counter_and_is_no_state(pcie: Model) -> None:
    start(pcie, 0, 0x10)
    pcie.pulse(0x10, 5)
    pcie.write(CONTROL, RESET, 64)
    assert [pcie.read(COUNTER, 64), pcie.read(CONTROL, 64)] == [0, 0]


def test_the_event_control_keeps_all_bits_of_a_filter(pcie: Model) -> None:
    wide = 0x0F30_0001_FC00_0000 | 0x1005
    pcie.write(CONTROL + 8, wide, 64)
    assert [pcie.read(CONTROL + 8, 64), pcie.read(CONTROL, 64)] == [wide, 0]


def test_an_overflow_restarts_from_0_and_is_acknowledged_by_its_bit(pcie: Model) -> None:
    start(pcie, 2, 0x105)
    pcie.write(COUNTER + 16, (1 << 64) - 4, 64)
    assert pcie.pulse(0x105, 10) == 4
    assert [pcie.read(COUNTER + 16, 64), pcie.page("line")] == [0, 1]
    assert [pcie.read(STATUS + 8 * i) for i in range(4)] == [0, 0, 1, 0]
    pcie.write(STATUS + 8, 1)
    assert pcie.page("line") == 1
    pcie.write(STATUS + 16, 1)
    assert [pcie.read(STATUS + 16), pcie.page("line"), pcie.page("interrupts")] == [0, 0, 1]
    assert pcie.pulse(0x105, 10) == 10


def test_a_masked_overflow_keeps_its_status_and_raises_no_line(pcie: Model) -> None:
    start(pcie, 1, 0x11)
    pcie.write(MASK + 8, 1)
    pcie.write(COUNTER + 8, (1 << 64) - 1, 64)
    pcie.pulse(0x11, 1)
    assert [pcie.read(STATUS + 8), pcie.page("line")] == [1, 0]
    pcie.write(MASK + 8, 0)
    assert pcie.page("line") == 1


def test_the_device_has_all_root_ports(pcie: Model) -> None:
    assert [pcie.read(BDF), pcie.read(VERSION), pcie.read(INFO)] == [0xFFFF0000, 0x30, 0]
