# SPDX-License-Identifier: Apache-2.0
"""Events continue after a suspend and resume.

The tool `suspend` runs in the guest and prints its observations. A suspend takes CPU 1 offline, as on any machine, so
its events end. The events of CPU 0 and of the task continue.
"""

from __future__ import annotations

import functools
import json
import pathlib
from typing import Any

import pytest

from ci.faults import modules
from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

DEADLINE_S = 120
ANEW = "C106"
"""A fault: each add begins a new period."""
LOST_ADDRESS = "PM-002"


@functools.cache
def suspend_output(name: str, module: pathlib.Path | None = None) -> dict[str, Any]:
    """The output of `suspend` on a kernel, and the kernel log of that time. `module`: a broken driver."""
    found = kernel.find(name)
    files = {"bin/suspend": suite.tool("tools/suspend")}
    if module is not None:
        files["modules/refpmu.ko"] = module
    machine = runs.machine(found, suite.find_target("refpmu"), files=files)
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        done = vm.exec(["suspend", "--target", "/target.toml"], DEADLINE_S)
        assert done.status == 0, done.stderr
        facts: dict[str, Any] = json.loads(done.stdout)
        facts["reports"] = vm.kmsg()["reports"]
        vm.bye()
    return facts


@pytest.mark.rule("PM-001")
@pytest.mark.parametrize("name", nightly_params.stock_kernels("suspend"))
def test_counts_survive_the_suspend(name: str) -> None:
    facts = suspend_output(name)
    before = {"task": 15, "cpu_that_stays": 15, "cpu_that_leaves": 7}
    assert facts["before"]["counts"] == before
    assert facts["asleep"]["counts"] == before
    assert facts["after"]["counts"] == before | {"task": 30, "cpu_that_stays": 30}
    assert facts["reports"] == []


@pytest.mark.rule("PM-001")
@pytest.mark.parametrize("name", nightly_params.stock_kernels("suspend"))
def test_period_position_survives_the_suspend(name: str) -> None:
    samples = {
        when: suspend_output(name)[when]["samples"] for when in ("before", "asleep", "after")
    }
    assert samples == {"before": 1, "asleep": 0, "after": 2}


@pytest.mark.rule("PM-001")
@pytest.mark.parametrize("name", nightly_params.stock_kernels("suspend"))
def test_a_throttled_event_samples_again(name: str) -> None:
    assert suspend_output(name)["throttled"] == {"was": True, "samples_after": 3}


@pytest.mark.rule("PM-002")
@pytest.mark.parametrize("name", nightly_params.stock_kernels("suspend"))
def test_cpu_that_was_offline_counts_and_samples_from_the_first_event(name: str) -> None:
    assert suspend_output(name)["fresh"] == {"counts": 33, "samples": 3}


@pytest.mark.nightly
@pytest.mark.parametrize("name", nightly_params.stock_kernels("suspend"))
def test_period_that_begins_anew_is_detected(name: str) -> None:
    module = modules.faulty_module(ANEW, kernel.find(name))
    facts = suspend_output(name, module)
    assert facts["after"]["samples"] < 2, facts


@pytest.mark.nightly
@pytest.mark.parametrize("name", nightly_params.stock_kernels("suspend"))
def test_lost_address_of_the_record_buffer_is_detected(name: str) -> None:
    module = modules.faulty_module(LOST_ADDRESS, kernel.find(name))
    assert suspend_output(name, module)["fresh"]["samples"] == 0
