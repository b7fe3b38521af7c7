# SPDX-License-Identifier: Apache-2.0
"""The models of HiSilicon's uncore PMUs behave as their drivers describe the registers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from vm.testing.model import Model


@dataclasses.dataclass(frozen=True)
class Registers:
    """Where the registers of a PMU are."""

    run: int
    control: int
    count: int
    type: int
    counter: int
    mask: int
    status: int
    clear: int
    bits: int = 64


PLACES = {
    "hisi_ddrc": Registers(1, 0xEA0, 0xE70, 0xE74, 0xE00, 0x528, 0x52C, 0x530, 48),
    "hisi_hha": Registers(1, 0x1E00, 0x1E04, 0x1E80, 0x1F00, 0x804, 0x808, 0x80C),
    "hisi_l3c": Registers(1 << 16, 0x408, 0x1C00, 0x1D00, 0x1E00, 0x800, 0x808, 0x80C),
    "hisi_sllc": Registers(1, 0x1C00, 0x1C14, 0x1C18, 0x1D00, 0x814, 0x818, 0x81C),
    "hisi_uc": Registers(1 << 26, 0x1C00, 0x1C00, 0x1D00, 0x1E00, 0x800, 0x808, 0x80C),
    "hisi_cpa": Registers(1, 0x1C00, 0x1C04, 0x1C80, 0x1D00, 0x1C70, 0x1C78, 0x1C7C),
}


@pytest.fixture(params=PLACES)
def name(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture
def pmu(make_model: Callable[[str], Model], name: str) -> Model:
    return make_model(name)


def set_bit(pmu: Model, at: int, bit: int, on: bool) -> None:
    old = pmu.read(at)
    pmu.write(at, old | bit if on else old & ~bit)


def start(pmu: Model, name: str, counter: int, event: int, value: int = 0) -> Registers:
    at = PLACES[name]
    if name == "hisi_ddrc":
        pmu.write(at.type + 4 * counter, event)
    else:
        place, shift = at.type + counter // 4 * 4, counter % 4 * 8
        pmu.write(place, pmu.read(place) & ~(0xFF << shift) | event << shift)
    pmu.write(at.counter + 8 * counter, value, 64)
    set_bit(pmu, at.count, 1 << counter, True)
    set_bit(pmu, at.control, at.run, True)
    return at


def test_each_counter_has_its_event(pmu: Model, name: str) -> None:
    for counter in range(8):
        at = start(pmu, name, counter, 0x40 + counter)
    for counter in range(8):
        pmu.pulse(0x40 + counter, 10 + counter)
    found = [pmu.read(at.counter + 8 * counter, 64) for counter in range(8)]
    assert [found, pmu.page("enabled")] == [list(range(10, 18)), 0xFF]


def test_a_counter_counts_if_it_is_enabled_and_the_device_runs(pmu: Model, name: str) -> None:
    at = start(pmu, name, 3, 0x21)
    for count, run, want in ((False, True, 0), (True, False, 0), (True, True, 5)):
        set_bit(pmu, at.count, 1 << 3, count)
        set_bit(pmu, at.control, at.run, run)
        pmu.pulse(0x21, 5)
        pmu.pulse(0x22, 100)
        assert pmu.read(at.counter + 24, 64) == want


def test_an_overflow_wraps_and_is_acknowledged_by_its_bit(pmu: Model, name: str) -> None:
    at = start(pmu, name, 1, 0x21, (1 << PLACES[name].bits) - 4)
    assert pmu.pulse(0x21, 10) == 4
    line = pmu.page("line")
    assert [pmu.read(at.counter + 8, 64), pmu.read(at.status), line] == [0, 2, 1]
    pmu.write(at.status, 0)
    pmu.write(at.clear, 1)
    assert [pmu.read(at.status), pmu.page("line")] == [2, 1]
    pmu.write(at.clear, 2)
    assert [pmu.read(at.status), pmu.page("line")] == [0, 0]
    assert pmu.pulse(0x21, 10) == 10


def test_a_masked_overflow_raises_the_line_when_the_mask_is_removed(pmu: Model, name: str) -> None:
    at = start(pmu, name, 7, 0x21, (1 << PLACES[name].bits) - 1)
    pmu.write(at.mask, 1 << 7)
    pmu.pulse(0x21, 1)
    assert [pmu.read(at.status), pmu.page("line")] == [1 << 7, 0]
    pmu.write(at.mask, 0x7F)
    assert pmu.page("line") == 1
