# SPDX-License-Identifier: Apache-2.0
"""The model arm_ni behaves as its driver describes the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

PMU = 0x4000
COUNTER, TYPE, CYCLES = PMU + 0x008, PMU + 0x400, PMU + 0x0F8
COUNT_SET, COUNT_CLEAR = PMU + 0xC00, PMU + 0xC20
INTERRUPT_SET, INTERRUPT_CLEAR = PMU + 0xC40, PMU + 0xC60
STATUS_CLEAR, STATUS_SET, CONTROL = PMU + 0xC80, PMU + 0xCC0, PMU + 0xE04
ENABLE, CLEAR, CLEAR_CYCLES = 1, 2, 4
CYCLES_BIT = 1 << 31
NODES = {4: 0x5000, 5: 0x6000, 7: 0x7000, 8: 0x8000, 9: 0x9000}
"""The pages of the nodes with events, by their types."""
PMU_NODE = 6


@pytest.fixture
def noc(make_model: Callable[[str], Model]) -> Model:
    return make_model("arm_ni")


def start(noc: Model, counter: int, node: int) -> None:
    noc.write(TYPE + 4 * counter, node << 9)
    noc.write(COUNT_SET, 1 << counter)
    noc.write(INTERRUPT_SET, 1 << counter)
    noc.write(CONTROL, ENABLE)


def test_nodes_name_their_types_and_children(noc: Model) -> None:
    place = 0
    for kind in range(3):
        assert [noc.read(place), noc.read(place + 4)] == [kind, 1]
        place = noc.read(place + 8)
    assert [noc.read(place), noc.read(place + 4)] == [3, 6]
    children = [noc.read(place + 8 + 4 * i) for i in range(6)]
    assert [noc.read(child) for child in children] == [PMU_NODE, *NODES]
    assert children == [PMU, *NODES.values()]


def test_the_part_is_ni_700(noc: Model) -> None:
    assert noc.read(0xFE0) & 0xFF | (noc.read(0xFE4) & 0xF) << 8 == 0x43B
    assert noc.read(PMU + 0xE00) != 0


@pytest.mark.parametrize(
    ("setter", "clearer"),
    [
        (COUNT_SET, COUNT_CLEAR),
        (INTERRUPT_SET, INTERRUPT_CLEAR),
        (STATUS_SET, STATUS_CLEAR),
    ],
)
def test_pairs_of_registers_set_and_clear_bits(noc: Model, setter: int, clearer: int) -> None:
    noc.write(setter, CYCLES_BIT | 0x1F3)
    noc.write(setter, 0x004)
    noc.write(clearer, 0x003)
    assert [noc.read(setter), noc.read(clearer)] == [CYCLES_BIT | 0xF4] * 2


@pytest.mark.parametrize("node", NODES)
def test_a_counter_counts_the_event_that_its_node_selected(noc: Model, node: int) -> None:
    start(noc, 5, node)
    for other in {*NODES, PMU_NODE} - {node}:
        noc.pulse(other, 100)
    noc.pulse(node, 7)
    assert [noc.read(COUNTER + 40), noc.page("enabled")] == [7, 1 << 5]
    noc.write(NODES[node] + 0x10, 3 << 8)
    assert noc.read(NODES[node] + 0x10) == 3 << 8
    noc.pulse(node, 7)
    assert noc.read(COUNTER + 40) == 7
    noc.pulse(node | 1 << 16 | 3 << 32, 7)
    assert noc.read(COUNTER + 40) == 7
    noc.pulse(node | 3 << 32, 7)
    assert noc.read(COUNTER + 40) == 14


def test_a_counter_counts_if_it_is_enabled_and_the_device_runs(noc: Model) -> None:
    start(noc, 1, 4)
    for change, value in ((CONTROL, 0), (COUNT_CLEAR, 2)):
        noc.write(CONTROL, ENABLE)
        noc.write(change, value)
        noc.pulse(4, 7)
        assert noc.read(COUNTER + 8) == 0


def test_the_cycle_counter_has_64_bits_in_two_words(noc: Model) -> None:
    noc.write(CYCLES, 5)
    noc.write(CYCLES + 4, 1)
    noc.write(COUNT_SET, CYCLES_BIT)
    noc.write(CONTROL, ENABLE)
    noc.pulse(PMU_NODE, (1 << 33) + 1)
    assert [noc.read(CYCLES), noc.read(CYCLES + 4)] == [6, 3]
    assert noc.page("enabled") == 1 << 8


def test_clears_are_no_state(noc: Model) -> None:
    noc.write(COUNTER, 5)
    noc.write(CYCLES, 6)
    noc.write(CONTROL, ENABLE | CLEAR)
    assert [noc.read(COUNTER), noc.read(CYCLES), noc.read(CONTROL)] == [0, 6, ENABLE]
    noc.write(CONTROL, CLEAR_CYCLES)
    assert [noc.read(CYCLES), noc.read(CONTROL)] == [0, 0]


def test_an_overflow_is_acknowledged_by_its_bit(noc: Model) -> None:
    start(noc, 1, 5)
    noc.write(COUNTER + 8, 0xFFFFFFF0)
    assert noc.pulse(5, 100) == 0x10
    assert [noc.read(COUNTER + 8), noc.read(STATUS_SET), noc.page("line")] == [0, 2, 1]
    assert noc.pulse(5, 100) == 0
    noc.write(STATUS_CLEAR, 1)
    assert noc.page("line") == 1
    noc.write(STATUS_CLEAR, 2)
    assert [noc.read(STATUS_CLEAR), noc.page("line")] == [0, 0]
    assert noc.pulse(5, 100) == 100


def test_an_overflow_of_the_cycles_has_the_highest_bit(noc: Model) -> None:
    noc.write(COUNT_SET, CYCLES_BIT)
    noc.write(CYCLES, 0xFFFFFFFF)
    noc.write(CYCLES + 4, 0xFFFFFFFF)
    noc.write(CONTROL, ENABLE)
    noc.pulse(PMU_NODE, 1)
    assert [noc.read(STATUS_SET), noc.page("line")] == [CYCLES_BIT, 0]
    noc.write(INTERRUPT_SET, CYCLES_BIT)
    assert noc.page("line") == 1
