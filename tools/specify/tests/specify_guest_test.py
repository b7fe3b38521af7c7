# SPDX-License-Identifier: Apache-2.0
"""`pmuconf specify` agrees with a right kernel and driver, and finds a wrong driver by a short program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ci import specify
from ci.faults import modules
from vm import guest, kernel

pytestmark = pytest.mark.guest

KERNEL = "6.12"
PROGRAMS = {"refpmu": 300, "refpmu_uncore": 200, "software": 200, "tracepoint": 100}
RUN_S = 60
MUTANT = "M09-1"
"""Does not give a counter back."""
SHORT = 12
"""Operations."""
ELSEWHERE = {
    "refpmu": set(),
    "refpmu_uncore": set(),
    "software": set(),
    "tracepoint": set(),
}
"""The checks that a target does not decide."""


@pytest.fixture(scope="module", name="vm")
def booted() -> Iterator[guest.Guest]:
    places = {"modules/broken.ko": modules.faulty_module(MUTANT, kernel.find(KERNEL))}
    with specify.boot(KERNEL, places) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        yield vm
        vm.bye()


def run(vm: guest.Guest, target: str, *words: str) -> dict[str, Any]:
    return specify.facts(specify.specify(vm, target, ["--seed", "1", *words], RUN_S))


@pytest.mark.parametrize("target", PROGRAMS)
def test_right_kernel_and_driver_agree_with_each_check(vm: guest.Guest, target: str) -> None:
    done = run(vm, target, "--programs", str(PROGRAMS[target]))
    assert (done["found"], done["reports"], done["programs"]) == ([], [], PROGRAMS[target])
    silent = {check["name"] for check in done["checks"] if not check["decided"]}
    assert silent == ELSEWHERE[target]


def test_wrong_driver_is_found_by_a_short_program(vm: guest.Guest) -> None:
    assert vm.unload("refpmu")["ok"] is True
    vm.load("broken.ko")
    done = run(vm, "refpmu", "--seconds", str(RUN_S))
    found = done["found"]
    assert len(found) == 1 and found[0]["kind"] == "disagreement", done
    assert found[0]["operations"] <= SHORT, found[0]["text"]
    assert found[0]["rule"] and found[0]["text"].startswith("pmuconf program for refpmu\n")
