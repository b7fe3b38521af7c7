# SPDX-License-Identifier: Apache-2.0
"""pmuconf accuracy on a PMU that counts the executed work of a guest, so the truth is known."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

import pytest

from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("accuracy")]

DEADLINE_S = 200


@functools.cache
def accuracy(name: str, *habits: str) -> dict[str, Any]:
    target = suite.find_target("refpmu_work")
    machine = runs.machine(kernel.find(name), target)
    machine = dataclasses.replace(machine, work=(*machine.work, *habits))
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko", target.parameters)
        done = vm.exec(["pmuconf", "accuracy", "refpmu", "--json"], DEADLINE_S)
        assert vm.kmsg()["reports"] == []
        vm.bye()
    assert done.status == 1, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_each_event_has_the_class_of_its_counts(name: str) -> None:
    """The guest counts no loads and stores, and cycles are two for each instruction."""
    classes = {event["name"]: (event["class"], event["work"]) for event in accuracy(name)["events"]}
    assert classes["instructions"] == ("exact", "instructions")
    assert classes["branches"] == ("exact", "branches")
    assert classes["cycles"] == ("unknown", "instructions")
    assert classes["pulse_a"] == ("unknown", "")
    assert classes["L1-dcache-loads"] == ("wrong", "loads")


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_scaled_counts_are_compared_with_the_truth(name: str) -> None:
    errors = {entry["events"]: entry["error"] for entry in accuracy(name)["multiplexing"]}
    assert sorted(errors) == [1, 4, 8, 16, 32]
    assert errors[1] == 0
    assert errors[32] > 0


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_instructions_that_interrupts_add_are_found(name: str) -> None:
    """A command ends with a return from a stop, which adds one, too."""
    found = {event["name"]: event for event in accuracy(name, "overcount=1")["events"]}
    assert found["instructions"]["class"] == "plus_interrupts"
    assert found["instructions"]["text"] == "exact, plus up to 1 an interrupt, plus 1 a command"
    assert found["branches"]["class"] == "exact"
