# SPDX-License-Identifier: Apache-2.0
"""The models of free running counters in MSRs behave as their drivers and Intel's manual describe the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

MakeModel = Callable[[str], Model]
BYTES = 8
CPU_BYTES = 0x100000
HALF = 1 << 31
CURRENT = (1 << 64) - 1
CSTATE = {0: 0x60D, 1: 0x3F8, 2: 0x3F9, 3: 0x3FA, 0x101: 0x3FC, 0x102: 0x3FD, 0x103: 0x3FE}
RAPL = {1: 0x639, 2: 0x611, 3: 0x619, 4: 0x641, 5: 0x64D}
MSR = {1: 0xE8, 2: 0xE7, 3: 0x64E, 4: 0x34}


def _read(model: Model, msr: int, cpu: int = 0) -> int:
    return model.read(cpu * CPU_BYTES + msr * BYTES, 64)


@pytest.mark.parametrize(
    "name, places", [("cstate", CSTATE), ("rapl", RAPL), ("msr", MSR)], ids=lambda value: str(value)
)
def test_each_event_has_a_free_running_counter(
    make_model: MakeModel, name: str, places: dict[int, int]
) -> None:
    model = make_model(name)
    before = {code: _read(model, msr) for code, msr in places.items()}
    for code in places:
        assert model.pulse(code, 10 + code) == 10 + code
    after = {code: _read(model, msr) for code, msr in places.items()}
    assert {code: after[code] - before[code] for code in places} == {i: 10 + i for i in places}
    assert [model.page("enabled"), model.page("polled"), model.page("line")] == [0, 1, 0]


@pytest.mark.parametrize("name, msr", [("cstate", 0x3F8), ("rapl", 0x611), ("msr", 0xE8)])
def test_no_write_changes_a_counter(make_model: MakeModel, name: str, msr: int) -> None:
    model = make_model(name)
    model.pulse(1, 3)
    before = _read(model, msr)
    model.write(msr * BYTES, before + 7, 64)
    assert _read(model, msr) == before


def test_no_energy_counter_begins_at_0(make_model: MakeModel) -> None:
    model = make_model("rapl")
    assert all(_read(model, msr) for msr in RAPL.values())


def test_the_energy_unit_is_the_smallest(make_model: MakeModel) -> None:
    assert _read(make_model("rapl"), 0x606) >> 8 & 0x1F == 31


def test_energy_counters_wrap_and_wait_for_the_driver_before_half_their_range(
    make_model: MakeModel,
) -> None:
    model = make_model("rapl")
    most = HALF - 1
    begin = _read(model, RAPL[2])
    for turn in range(1, 4):
        assert model.pulse(2, 1 << 40) == most
        assert model.pulse(2, 1) == 0
        assert _read(model, RAPL[2]) == (begin + turn * most) % (1 << 32)


def test_residencies_never_wait_for_the_driver(make_model: MakeModel) -> None:
    model = make_model("cstate")
    assert [model.pulse(0, (1 << 63) + 5) for _ in range(3)] == [(1 << 63) + 5] * 3
    assert _read(model, CSTATE[0]) == ((1 << 63) + 15) % (1 << 64)


def test_each_cpu_has_its_own_counters(make_model: MakeModel) -> None:
    model = make_model("msr")
    for cpu in (0, 1, 7):
        model.set_page("cpu", cpu)
        assert model.page("cpu") == cpu
        model.pulse(2, 100 + cpu)
    assert [_read(model, MSR[2], cpu) for cpu in range(8)] == [100, 101, 0, 0, 0, 0, 0, 107]


def test_a_pulse_of_the_current_cpu_follows_no_earlier_choice(make_model: MakeModel) -> None:
    model = make_model("msr")
    model.set_page("cpu", 1)
    model.pulse(2, 5)
    model.set_page("cpu", CURRENT)
    model.pulse(2, 7)  # without an emulator the current CPU is 0
    assert [_read(model, MSR[2], cpu) for cpu in range(2)] == [7, 5]


def test_the_counter_of_interrupts_for_system_management_has_32_bits(make_model: MakeModel) -> None:
    model = make_model("msr")
    assert model.pulse(4, 1 << 40) == HALF
    assert _read(model, MSR[4]) == HALF
    assert model.pulse(4, 1 << 40) == HALF
    assert _read(model, MSR[4]) == 0
