# SPDX-License-Identifier: Apache-2.0
"""The errnos of thousands of perf_event_open calls agree with the errno model, and a wrong driver is detected.

The tool `oracle` draws the calls from a seed, so that a run is the same on each machine.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
from typing import Any

import pytest

from ci.faults import modules
from pmubase import store
from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

SEED = 1
RUNS = {
    ("refpmu", "mutated"): 5_000,
    ("refpmu", "random"): 5_000,
    ("software", "mutated"): 2_000,
    ("software", "random"): 2_000,
    ("tracepoint", "mutated"): 2_000,
    ("tracepoint", "random"): 2_000,
    ("refpmu_coarse", "mutated"): 2_000,
}
"""Numbers of calls by target and type. The module of the last target has other parameters."""
DEADLINE_S = 500
CPUS = 3
"""Number of CPUs. One run takes the last of them offline."""
OFF = ("--offline", str(CPUS - 1))
LOCKED = ("--lockdown",)
"""Runs last, since the kernel stays locked down."""
SPECIAL = {OFF: 2_000, LOCKED: 2_000}
"""Numbers of `mutated` calls to refpmu, by the additional options of the tool."""
COARSE = ("lbr=0", "records=0", "min_period=16")
MUTANT = "M15-2"
"""Ignores the upper half of config. A call whose attr sets a bit there detects it."""

UNREPORTED = {
    "AUX-008 aux_output with a pause",
    "ERR-025 task event not supported",
}
"""Answers that these calls cannot get: no PMU with aux_output exists, and a driver without task events refuses before
the kernel does."""

RARE = {
    "ERR-026 cgroup event on a PMU without task events",
    "PRM-003 no privilege for raw tracepoint data",
    "PRM-008 no privilege for physical addresses",
}
"""Answers that did not occur in some runs of ten thousand calls."""


def files() -> dict[str, pathlib.Path]:
    coarse = store.ROOT / "faults" / "driver" / "refpmu_coarse.toml"
    targets = {
        name: suite.TARGETS / f"{name}.toml" for name in ("refpmu", "software", "tracepoint")
    }
    targets |= {"refpmu_coarse": coarse, "refpmu_plain": suite.TARGETS / "refpmu_plain.toml"}
    places = {f"targets/{name}.toml": path for name, path in targets.items()}
    return places | {"bin/oracle": suite.tool("oracle/oracle")}


def asked(vm: guest.Guest, target: str, kind: str, count: int, *words: str) -> guest.Done:
    argv = ["oracle", "--target", f"/targets/{target}.toml", "--kind", kind]
    return vm.exec([*argv, "--seed", str(SEED), "--count", str(count), *words], DEADLINE_S)


def facts(done: guest.Done) -> dict[str, Any]:
    assert done.status == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def mutant_disagreement(vm: guest.Guest) -> tuple[dict[str, Any], int, guest.Done]:
    """The first call that a broken driver answers differently, and the output of its repro command."""
    vm.load("broken.ko")
    done = asked(vm, "refpmu", "mutated", 20_000, "--stop")
    first = json.loads(done.stdout)["shown"][0]
    again = vm.exec(first["repro"].split(), DEADLINE_S)
    assert vm.unload("refpmu")["ok"] is True
    return first, done.status, again


@functools.cache
def answers(name: str) -> dict[str, Any]:
    """The output of `oracle` on a kernel, by target and type, and the kernel log of that time."""
    host = suite.find_target("refpmu").on(cpus=CPUS)
    stock = kernel.find(name)
    place = {"modules/broken.ko": modules.faulty_module(MUTANT, stock)}
    machine = runs.machine(stock, host, files=files() | place)
    found: dict[str, Any] = {}
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        for (target, kind), count in RUNS.items():
            if target == "refpmu_coarse":
                assert vm.unload("refpmu")["ok"] is True
                vm.load("refpmu.ko", COARSE)
            found[f"{target} {kind}"] = facts(asked(vm, target, kind, count))
        assert vm.unload("refpmu")["ok"] is True
        found["broken"] = mutant_disagreement(vm)
        vm.load("refpmu.ko")
        for words, count in SPECIAL.items():
            found[" ".join(words)] = facts(asked(vm, "refpmu", "mutated", count, *words))
        found["reports"] = vm.kmsg()["reports"]
        vm.bye()
    return found


@pytest.mark.parametrize("name", nightly_params.stock_kernels("oracle"))
def test_kernel_agrees_with_the_errno_model(name: str) -> None:
    found = answers(name)
    for (target, kind), count in RUNS.items():
        run = found[f"{target} {kind}"]
        assert (run["calls"], run["disagreements"]) == (count, 0), (target, kind)
        assert run["reasons"]["opens"] > count / 50, (target, kind)
    for words, count in SPECIAL.items():
        run = found[" ".join(words)]
        assert (run["calls"], run["disagreements"]) == (count, 0), words
    assert found[" ".join(OFF)]["reasons"]["ERR-005 offline CPU"] > 0
    locked = found[" ".join(LOCKED)]["reasons"]
    assert locked["PRM-012 interrupt registers under lockdown"] > 0
    assert found["reports"] == []


@pytest.mark.parametrize("name", nightly_params.stock_kernels("oracle"))
def test_each_reachable_check_occurs(name: str) -> None:
    found = answers(name)
    reported = {
        reason for run in found.values() if isinstance(run, dict) for reason in run["reasons"]
    }
    never = {reason for run in found.values() if isinstance(run, dict) for reason in run["never"]}
    assert never - reported <= UNREPORTED | RARE


@pytest.mark.parametrize("name", nightly_params.stock_kernels("oracle"))
def test_driver_that_disagrees_with_the_model_is_detected(name: str) -> None:
    first, status, again = answers(name)["broken"]
    assert status == 1, again.stderr
    assert first["reason"] == "INI-011 unsupported bits of config"
    assert first["model"] == "EINVAL" != first["kernel"]
    assert again.status == 1
    assert json.loads(again.stdout)["shown"] == [first]
    assert "the model says EINVAL" in again.stderr


CHANGED_REQUESTS = """
A02 C08 C30 F01 F03 F07 F08 F09 F10 F100 F101 F13 F14 F15 F301 G01 G02 G03 G04 L01 L02
M14-1 M14-2 M14-4 M15-2 M15-3 M16-1 M17-2 P14-1 P14-2 S06 T101 U101 U102
""".split()
"""The faults of the driver that change what an event may request. Some of them show in no errno."""
ENOUGH = 10


@pytest.mark.nightly
@pytest.mark.parametrize("name", nightly_params.stock_kernels("oracle"))
def test_enough_faults_of_requests_are_detected(name: str) -> None:
    stock = kernel.find(name)
    host = suite.find_target("refpmu")
    detected: list[str] = []
    left = {f"{one}.ko": modules.faulty_module(one, stock) for one in CHANGED_REQUESTS}
    place = files() | {f"modules/{module}": path for module, path in left.items()}
    while left and len(detected) < ENOUGH:
        with guest.Guest(runs.machine(stock, host, files=place)) as vm:
            vm.boot()
            while left and len(detected) < ENOUGH:
                module, _ = left.popitem()
                try:
                    vm.load(module)
                    if asked(vm, "refpmu", "mutated", 2_000, "--stop").status == 1:
                        detected.append(module)
                    vm.unload("refpmu")
                except guest.GuestLost:
                    detected.append(module)
                    break
    assert len(detected) == ENOUGH, detected
