# SPDX-License-Identifier: Apache-2.0
"""Loading and unloading the module many times leaves nothing behind, and a module in use cannot be unloaded.

The tool `reload` runs in the guest and prints its observations. The test compares memory after a warm-up, and with
drained allocator caches. A leak of one object per load thus shows as one object per load; half of that fails the test.
"""

from __future__ import annotations

import functools
import json
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from vm import guest, kernel, runs, suite

pytestmark = pytest.mark.guest

ROUNDS, DAILY = 100, 40
"""Number of loads in make nightly and in make check. A leak of one page per load must exceed the bounds below."""
SETS = (
    "defaults",
    "hybrid=1",
    "cpu=1 bts=1",
    "pmi=irq_work",
    "lbr=0",
    "records=0",
)
REFUSED = (
    "general=0",
    "general=33",
    "fixed=4",
    "width=15",
    "width=65",
    "min_period=0",
    "lbr=7",
    "pmi=smoke_signals",
    "uncore_general=0",
    "uncore_width=65",
    "hybrid=1 cpu=1",
)
REFUSALS = 5
"""Number of attempts for each type of refusal."""
KILOBYTES_A_LOAD = 1.0
STACK_KILOBYTES = 6 * 16
"""The kernel caches two stacks of 16 kB of ended tasks on each of the two CPUs (NR_CACHED_STACKS), and may start
workers."""
DEADLINE_S = 400


@functools.cache
def reload_output(name: str, rounds: int) -> dict[str, Any]:
    """The output of `reload` on a kernel, and the kernel log of that time."""
    machine = runs.machine(
        kernel.find(name),
        suite.find_target("refpmu"),
        files={"bin/reload": suite.tool("tools/reload")},
    )
    words = ["reload", "--module", "/modules/refpmu.ko", "--rounds", str(rounds)]
    words += [f"--parameters={parameters}" for parameters in SETS]
    words += [f"--refused={parameters}" for parameters in REFUSED]
    with guest.Guest(machine) as vm:
        vm.boot()
        done = vm.exec(words, DEADLINE_S)
        assert done.status == 0, done.stderr
        facts: dict[str, Any] = json.loads(done.stdout)
        facts["reports"] = vm.kmsg()["reports"]
        # A refusal begins with the parameter. The kernel's messages about every out-of-tree module do not.
        said = vm.exec(["sh", "-c", "dmesg | grep -o 'refpmu: [a-z_]*=.*'"]).stdout
        facts["said"] = said.splitlines()
        vm.bye()
    return facts


def kernels() -> list[ParameterSet]:
    """One process runs all tests of a kernel. make nightly reloads on all kernels, make check on one and less often."""
    names = kernel.known()
    kinds = [(names[-1], DAILY), *((name, ROUNDS) for name in names)]
    return [
        pytest.param(
            name,
            rounds,
            marks=[
                pytest.mark.xdist_group(f"reload-{name}"),
                *([] if rounds == DAILY else [pytest.mark.nightly]),
            ],
        )
        for name, rounds in kinds
    ]


KERNELS = pytest.mark.parametrize(("name", "rounds"), kernels())


@KERNELS
def test_every_pmu_type_was_loaded(name: str, rounds: int) -> None:
    pmus = reload_output(name, rounds)["pmus"]
    usual = ["refpmu", "refpmu_trace", "refpmu_uncore"]
    others = {
        "hybrid=1": ["refpmu_big", "refpmu_little", "refpmu_trace", "refpmu_uncore"],
        "cpu=1 bts=1": ["cpu", "intel_bts", "refpmu_uncore"],
    }
    assert pmus == {parameters: others.get(parameters, usual) for parameters in SETS}


@KERNELS
def test_an_open_event_keeps_the_module(name: str, rounds: int) -> None:
    # The argument of rmmod asks it not to wait for the users of the module.
    assert reload_output(name, rounds)["unload_with_events"] == ["EAGAIN"]


@KERNELS
def test_unload_leaves_nothing_behind(name: str, rounds: int) -> None:
    facts = reload_output(name, rounds)
    assert facts["rounds"] == rounds
    assert facts["left_behind"] == []
    assert facts["reports"] == []
    assert not facts["taint_changed"]


@KERNELS
def test_reload_leaks_no_memory(name: str, rounds: int) -> None:
    facts = reload_output(name, rounds)
    grown = {cache: more for cache, more in facts["object_growth"].items() if more > rounds / 2}
    assert grown == {}
    # The tool also prints free memory, but other activity of the kernel changes it by megabytes.
    kilobytes = facts["kilobyte_growth"]
    assert kilobytes["Percpu"] < KILOBYTES_A_LOAD * rounds
    assert kilobytes["VmallocUsed"] < KILOBYTES_A_LOAD * rounds + STACK_KILOBYTES


@KERNELS
def test_parameters_out_of_range_are_refused_in_one_line(name: str, rounds: int) -> None:
    facts = reload_output(name, rounds)
    assert facts["refusals"] == {parameters: ["EINVAL"] for parameters in REFUSED}
    for parameters in REFUSED:
        word = parameters.split()[0]
        lines = [line for line in facts["said"] if word in line.replace(":", " ").split()]
        assert len(lines) == REFUSALS, parameters
    assert len(facts["said"]) == REFUSALS * len(REFUSED)
