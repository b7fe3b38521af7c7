# SPDX-License-Identifier: Apache-2.0
"""The model thunderx2 behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

RUN, LINK_TYPE, SELECT, LOW, HIGH = 0x108, 0x10C, 0x12C, 0x130, 0x134
ENABLE, START, CLEAR = 1, 2, 16
RISING, EDGE = 1 << 10, 1 << 11
CACHE_TYPE, CACHE_DATA = 0x10A8, 0x10AC
MEMORY_TYPES, MEMORY_DATA = 0x2234, 0x2240
FIRST_CACHE, FIRST_MEMORY = 8, 12


@pytest.fixture
def socket(make_model: Callable[[str], Model]) -> Model:
    return make_model("thunderx2")


def link(socket: Model, counter: int) -> int:
    socket.write(SELECT, 8 + counter)
    return socket.read(HIGH) << 32 | socket.read(LOW)


def test_a_counter_of_the_link_counts_its_event_while_the_link_is_started(socket: Model) -> None:
    socket.write(LINK_TYPE + 4 * 5, EDGE | RISING | 0x105)
    for run, want in ((0, 0), (ENABLE, 0), (START, 0), (ENABLE | START, 7), (0, 7)):
        socket.write(RUN, run)
        socket.pulse(0x105, 7)
        socket.pulse(0x005, 100)
        assert link(socket, 5) == want
    socket.write(RUN, ENABLE | START)
    assert socket.page("enabled") == 1 << 5


def test_a_clear_resets_all_counters_of_the_link_alone(socket: Model) -> None:
    socket.write(LINK_TYPE, 0x3D)
    socket.write(LINK_TYPE + 4, 0x3D)
    socket.write(CACHE_TYPE, 0x1D << 3)
    socket.write(RUN, ENABLE | START)
    socket.pulse(0x3D, (1 << 33) + 5)
    socket.pulse(0x1D, 32)
    assert [link(socket, 0), link(socket, 1)] == [(1 << 33) + 5] * 2
    socket.write(RUN, CLEAR | ENABLE | START)
    assert [link(socket, 0), link(socket, 1)] == [0, 0]
    assert [socket.read(RUN), socket.read(CACHE_DATA)] == [ENABLE | START, 2]


def test_a_counter_of_the_cache_counts_the_events_of_one_of_16_tiles(socket: Model) -> None:
    socket.write(CACHE_TYPE + 16, 0x17 << 3)
    assert socket.page("enabled") == 1 << (FIRST_CACHE + 2)
    for n, want in ((15, 0), (1, 1), (32, 3)):
        socket.pulse(0x17, n)
        assert socket.read(CACHE_DATA + 16) == want
    socket.write(CACHE_TYPE + 16, 0)
    socket.pulse(0x17, 16)
    assert [socket.read(CACHE_DATA + 16), socket.page("enabled")] == [3, 0]


def test_a_write_of_a_counter_keeps_whose_turn_it_is(socket: Model) -> None:
    socket.write(CACHE_TYPE, 0x17 << 3)
    socket.pulse(0x17, 16 + 10)
    socket.write(CACHE_DATA, 0)
    assert socket.read(CACHE_DATA) == 0
    socket.pulse(0x17, 6)
    assert socket.read(CACHE_DATA) == 1


def test_four_counters_of_the_memory_share_a_register_of_events(socket: Model) -> None:
    socket.write(MEMORY_TYPES, 0x0B << 1 | 0x0F << 25)
    assert socket.page("enabled") == 1 << FIRST_MEMORY | 1 << (FIRST_MEMORY + 3)
    socket.pulse(0x0B, 8)
    socket.pulse(0x0F, 24)
    assert [socket.read(MEMORY_DATA + 0xC * i) for i in range(4)] == [1, 0, 0, 3]
    assert socket.read(MEMORY_TYPES) == 0x0B << 1 | 0x0F << 25


def test_counters_of_32_bits_wrap_and_wait_for_the_driver(socket: Model) -> None:
    half = 1 << 35
    socket.write(CACHE_TYPE, 0x17 << 3)
    assert socket.pulse(0x17, 1 << 60) == half
    assert socket.pulse(0x17, 16) == 0
    assert socket.read(CACHE_DATA) == 1 << 31
    assert socket.pulse(0x17, 1 << 60) == half
    assert [socket.read(CACHE_DATA), socket.page("polled")] == [0, 1]
