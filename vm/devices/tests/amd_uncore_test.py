# SPDX-License-Identifier: Apache-2.0
"""The models amd_l3 and amd_df behave as their driver and AMD's reference of family 17h describe the registers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from vm.testing.model import Model

BYTES = 8
COUNTERS = 0x10000 * BYTES
ENABLE = 1 << 22
SLICES, THREADS = 0xF << 48, 0xFF << 56
HALF = 1 << 47


@dataclasses.dataclass
class Pmu:
    """A model, and the numbers of its registers."""

    model: Model
    msr: int
    rdpmc: int
    counters: int
    sources: int

    def select(self, counter: int, code: int, more: int = 0) -> None:
        value = code | more | self.sources
        self.model.write((self.msr + 2 * counter) * BYTES, value, 64)

    def set(self, counter: int, value: int) -> None:
        self.model.write((self.msr + 2 * counter + 1) * BYTES, value, 64)

    def count(self, counter: int) -> int:
        """The counter by RDPMC, which is that of the MSR."""
        by_msr = self.model.read((self.msr + 2 * counter + 1) * BYTES, 64)
        by_rdpmc = self.model.read(COUNTERS + (self.rdpmc + counter) * BYTES, 64)
        assert by_msr == by_rdpmc
        return by_rdpmc


@pytest.fixture(params=["amd_l3", "amd_df"])
def pmu(make_model: Callable[[str], Model], request: pytest.FixtureRequest) -> Pmu:
    model = make_model(request.param)
    if request.param == "amd_l3":
        return Pmu(model, 0x230, 10, 6, SLICES | THREADS)
    return Pmu(model, 0x240, 6, 4, 0)


def test_enabled_counters_count_their_event(pmu: Pmu) -> None:
    for i in range(pmu.counters):
        pmu.select(i, 0xFF04 + i, ENABLE)
    pmu.select(0, 0xFF04)
    for i in range(pmu.counters):
        pmu.model.pulse(0xFF04 + i, 10 + i)
    assert [pmu.count(i) for i in range(pmu.counters)] == [0, *range(11, 10 + pmu.counters)]
    assert pmu.model.page("enabled") == (1 << pmu.counters) - 2


def test_a_register_reads_what_was_written(pmu: Pmu) -> None:
    pmu.select(1, 0x38C7, ENABLE)
    pmu.set(1, 5)
    assert pmu.model.read((pmu.msr + 2) * BYTES, 64) == 0x38C7 | ENABLE | pmu.sources
    assert pmu.count(1) == 5


def test_events_beyond_8_bits_are_others(pmu: Pmu) -> None:
    pmu.select(0, 0x04, ENABLE | 1 << 32)
    pmu.model.pulse(0x04, 3)
    assert pmu.count(0) == 0


def test_counters_wrap_and_wait_for_the_driver_at_half_their_range(pmu: Pmu) -> None:
    assert [pmu.model.page("polled"), pmu.model.page("width")] == [1, 48]
    pmu.select(0, 0x04, ENABLE)
    pmu.set(0, (1 << 48) - 2)
    assert pmu.model.pulse(0x04, 1 << 60) == HALF
    assert pmu.model.pulse(0x04, 1) == 0
    assert pmu.count(0) == HALF - 2


def test_other_registers_read_0(pmu: Pmu) -> None:
    beyond = pmu.msr + 2 * pmu.counters
    pmu.model.write(beyond * BYTES, 7, 64)
    assert [pmu.model.read(at * BYTES, 64) for at in (beyond, pmu.msr - 1)] == [0, 0]


@pytest.mark.parametrize("sources", [SLICES, THREADS, 0])
def test_the_l3_counts_nothing_without_slices_or_threads(
    make_model: Callable[[str], Model], sources: int
) -> None:
    pmu = Pmu(make_model("amd_l3"), 0x230, 10, 6, sources)
    pmu.select(0, 0xFF04, ENABLE)
    pmu.model.pulse(0xFF04, 3)
    assert pmu.count(0) == 0
