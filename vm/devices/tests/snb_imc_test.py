# SPDX-License-Identifier: Apache-2.0
"""The model snb_imc behaves as its driver and Intel's note on monitoring IMC requests describe the registers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from vm.testing.model import Model

PLACES = {1: 0x5050, 2: 0x5054, 3: 0x5040, 4: 0x5044, 5: 0x5048}
HALF = 1 << 31


@pytest.fixture
def imc(make_model: Callable[[str], Model]) -> Model:
    return make_model("snb_imc")


def test_each_event_has_a_free_running_counter(imc: Model) -> None:
    for code in PLACES:
        assert imc.pulse(code, 10 * code) == 10 * code
    assert {code: imc.read(at) for code, at in PLACES.items()} == {i: 10 * i for i in PLACES}
    assert imc.page("enabled") == 0


def test_no_write_changes_a_counter(imc: Model) -> None:
    imc.pulse(1, 3)
    imc.write(PLACES[1], 0)
    assert imc.read(PLACES[1]) == 3


def test_counters_wrap_and_wait_for_the_driver_at_half_their_range(imc: Model) -> None:
    assert [imc.page("polled"), imc.page("width")] == [1, 32]
    total = 0
    for _ in range(3):
        assert imc.pulse(2, 1 << 40) == HALF
        assert imc.pulse(2, 1) == 0
        assert imc.pulse(1, 1) == 1
        total += HALF
        assert imc.read(PLACES[2]) == total % (1 << 32)
    assert [imc.page("line"), imc.page("reads")] == [0, 3]
    imc.set_page("reset", 1)
    assert imc.page("reads") == 0
