# SPDX-License-Identifier: Apache-2.0
"""The model marvell_pem behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

PLACES = {
    0: 0x0,
    2: 0x10,
    3: 0x100,
    7: 0x300,
    9: 0x408,
    17: 0x800,
    20: 0x910,
    21: 0x2D18,
    26: 0x2D40,
}
"""The registers of some events."""


@pytest.fixture
def pem(make_model: Callable[[str], Model]) -> Model:
    return make_model("marvell_pem")


def test_each_event_has_a_counter_that_always_runs(pem: Model) -> None:
    for code in PLACES:
        pem.pulse(code, 100 + code)
    assert [pem.read(at, 64) for at in PLACES.values()] == [100 + code for code in PLACES]
    assert [pem.page("counters"), pem.page("enabled")] == [27, 0]


def test_unknown_events_and_registers_count_nothing(pem: Model) -> None:
    pem.pulse(27, 5)
    assert [pem.read(0x18, 64), pem.page("reads")] == [0, 0]


def test_a_write_changes_no_counter(pem: Model) -> None:
    pem.pulse(0, 5)
    pem.write(0, 0, 64)
    assert pem.read(0, 64) == 5


def test_a_counter_wraps_and_never_waits_for_the_driver(pem: Model) -> None:
    almost = (1 << 64) - 1
    assert pem.pulse(7, almost) == almost
    assert pem.read(0x300, 64) == almost
    assert pem.pulse(7, 10) == 10
    assert [pem.read(0x300, 64), pem.page("polled"), pem.page("line")] == [9, 1, 0]
