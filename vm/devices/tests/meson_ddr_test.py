# SPDX-License-Identifier: Apache-2.0
"""The model meson_ddr behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

CONTROL, SELECT, REQUESTS, TOTAL, CHANNEL, TIMER, PLL = 0x00, 0x04, 0x24, 0x28, 0x2C, 0x3C, 0x1000
ENABLE, ELAPSED, USES_TIMER = 1 << 31, 1 << 30, 1 << 20
RUN = ENABLE | USES_TIMER | 0xF


@pytest.fixture
def dmc(make_model: Callable[[str], Model]) -> Model:
    return make_model("meson_ddr")


def start(dmc: Model, length: int = 1000) -> None:
    dmc.write(TIMER, length)
    dmc.write(CONTROL, RUN)


def test_each_code_has_its_counter(dmc: Model) -> None:
    start(dmc)
    for code in range(5):
        dmc.pulse(code, 10 + code)
    assert [dmc.read(TOTAL + 4 * i) for i in range(5)] == [10, 11, 12, 13, 14]
    assert [dmc.read(REQUESTS), dmc.read(TIMER)] == [10, 1000]


def test_nothing_counts_without_the_enable_bits(dmc: Model) -> None:
    start(dmc)
    dmc.write(CONTROL, ENABLE | 1)
    dmc.pulse(1, 5)
    dmc.pulse(2, 5)
    assert [dmc.read(CHANNEL), dmc.read(CHANNEL + 4)] == [5, 0]
    dmc.write(CONTROL, 0)
    dmc.pulse(1, 5)
    assert [dmc.read(CHANNEL), dmc.page("enabled")] == [5, 0]


def test_the_elapsed_timer_stops_the_monitor_until_the_next_interval(dmc: Model) -> None:
    start(dmc, 100)
    assert [dmc.pulse(0, 60), dmc.pulse(1, 60)] == [60, 40]
    assert [dmc.read(TOTAL), dmc.read(CHANNEL), dmc.page("line")] == [60, 40, 1]
    assert dmc.read(CONTROL) == RUN | ELAPSED
    assert dmc.pulse(1, 10) == 0
    dmc.write(CONTROL, RUN | ELAPSED)
    assert [dmc.page("line"), dmc.read(TOTAL), dmc.read(CONTROL)] == [0, 60, RUN]
    dmc.pulse(1, 10)
    assert dmc.read(CHANNEL) == 40
    dmc.write(CONTROL, RUN)
    assert [dmc.read(TOTAL), dmc.pulse(1, 200)] == [0, 100]


def test_a_timer_of_0_takes_the_whole_range(dmc: Model) -> None:
    start(dmc, 0)
    assert dmc.pulse(0, 1 << 33) == 1 << 32
    assert [dmc.read(TOTAL), dmc.page("line")] == [0, 1]


def test_counters_and_selections_keep_what_the_driver_writes(dmc: Model) -> None:
    for i in range(8):
        dmc.write(SELECT + 4 * i, 1 << i)
    dmc.write(CHANNEL + 12, 7)
    assert [dmc.read(SELECT + 4 * i) for i in range(8)] == [1 << i for i in range(8)]
    assert dmc.read(CHANNEL + 12) == 7


def test_the_clock_is_600_mhz(dmc: Model) -> None:
    pll = dmc.read(PLL)
    factor, divisor, post = pll & 0x1FF, pll >> 10 & 0x1F, 1 << (pll >> 19 & 1)
    assert 24 * factor // divisor // 2 // post // 2 == 600
