# SPDX-License-Identifier: Apache-2.0
"""pmuconf accuracy on a PMU that counts the executed work of a guest, so the truth is known."""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest

from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("accuracy")]

DEADLINE_S = 200


@functools.cache
def accuracy(name: str) -> dict[str, Any]:
    target = suite.find_target("refpmu_work")
    with guest.Guest(runs.machine(kernel.find(name), target)) as vm:
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
