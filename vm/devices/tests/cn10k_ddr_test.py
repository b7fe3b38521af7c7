# SPDX-License-Identifier: Apache-2.0
"""The model cn10k_ddr behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

START, END, CONFIG, COUNTER = 0x8028, 0x8030, 0x8040, 0x8080
FREE, FREE_CLEAR, WRITES, READS = 0x80C0, 0x80C8, 0x80D0, 0x80D8
ENABLE = 1 << 63
HALF = 1 << 47


@pytest.fixture
def ddr(make_model: Callable[[str], Model]) -> Model:
    return make_model("cn10k_ddr")


def test_a_counter_counts_the_events_of_its_bitmap_while_the_device_runs(ddr: Model) -> None:
    ddr.write(CONFIG + 8, ENABLE | 1 << 2 | 1 << 16, 64)
    ddr.pulse(3, 100)
    ddr.write(START, 1, 64)
    for code, n in ((3, 5), (17, 6), (4, 100)):
        ddr.pulse(code, n)
    assert ddr.read(COUNTER + 8, 64) == 11
    ddr.write(END, 1, 64)
    ddr.pulse(3, 100)
    assert ddr.read(COUNTER + 8, 64) == 11
    assert ddr.page("enabled") == 1 << 1


def test_a_start_clears_the_counters_of_a_stopped_device_alone(ddr: Model) -> None:
    ddr.write(CONFIG, ENABLE | 1, 64)
    ddr.write(START, 1, 64)
    ddr.pulse(1, 5)
    ddr.write(START, 1, 64)
    assert ddr.read(COUNTER, 64) == 5
    ddr.write(END, 1, 64)
    ddr.write(START, 1, 64)
    assert ddr.read(COUNTER, 64) == 0


def test_reads_and_writes_have_counters_that_run_without_a_start(ddr: Model) -> None:
    ddr.write(FREE, 3, 64)
    ddr.pulse(101, 7)
    ddr.pulse(100, 8)
    assert [ddr.read(READS, 64), ddr.read(WRITES, 64)] == [7, 8]
    ddr.write(FREE_CLEAR, 2, 64)
    assert [ddr.read(READS, 64), ddr.read(WRITES, 64)] == [0, 8]
    ddr.write(FREE, 2, 64)
    ddr.pulse(100, 8)
    assert ddr.read(WRITES, 64) == 8


def test_counters_wrap_after_48_bits_and_wait_for_the_driver(ddr: Model) -> None:
    ddr.write(FREE, 2, 64)
    assert ddr.pulse(101, 1 << 60) == HALF
    assert ddr.pulse(101, 1) == 0
    assert ddr.read(READS, 64) == HALF
    assert ddr.pulse(101, 1 << 60) == HALF
    assert [ddr.read(READS, 64), ddr.page("polled")] == [0, 1]
