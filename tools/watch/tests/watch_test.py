# SPDX-License-Identifier: Apache-2.0
"""`pmuconf watch` reports no breach of the driver, and the correct breach of each mutant.

One guest loads one module after the other, watches it while the cases of a rule run, and unloads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from ci.faults import modules
from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("watch")]

KERNEL = "6.12"
SECONDS = "10"
"""Time limit within which a breach is reported."""
RIGHT = "."
"""The folder of the unmodified driver, relative to the folder of modules."""
UNTRACED = "untraced"
"""The unmodified driver, except that it accepts no kprobe on its functions."""


class Breach(NamedTuple):
    """The rule whose cases run, and the expected breach."""

    rule: str
    breach: str


MUTANTS = {
    "C01": Breach("SMP-001", "period-left"),
    "C02": Breach("SMP-001", "period-left-stuck"),
    "C05": Breach("SMP-001", "period-left"),
    "C06": Breach("SMP-001", "not-programmed"),
    "C16": Breach("CNT-005", "del-state"),
    "C21": Breach("PRC-012", "stop-stale"),
    "C41": Breach("MUX-004", "add-not-running"),
    "F01": Breach("ERR-032", "init-foreign"),
    "M02-2": Breach("SMP-001", "not-programmed"),
    "M06-2": Breach("CNT-005", "add-not-running"),
    "M07-1": Breach("THR-001", "overflow-unstopped"),
    "M07-2": Breach("THR-002", "started-twice"),
    "M14-1": Breach("INI-001", "init-foreign"),
    "M14-2": Breach("INI-001", "init-foreign"),
    "M25-1": Breach("REC-010", "last-period"),
    "M25-2": Breach("SMP-009", "last-period"),
    "R05": Breach("SMP-003", "overflow-too-often"),
    "V03": Breach("SMP-005", "last-period"),
}
DAILY = ("M07-2",)
"""The other mutants run in make nightly."""


def wanted(items: list[pytest.Item]) -> set[str]:
    """The mutants that the tests of this run watch."""
    found = set()
    for item in items:
        name = getattr(item, "callspec").params.get("name") if hasattr(item, "callspec") else None
        if name in MUTANTS:
            found.add(str(name))
    return found


@pytest.fixture(scope="module")
def vm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[guest.Guest]:
    """A guest with the unloaded driver and the mutants that the tests need."""
    found = kernel.find(KERNEL)
    untraced = modules.module_without_probes(found, tmp_path_factory.mktemp("watch"))
    files = {f"modules/{UNTRACED}/refpmu.ko": untraced}
    for name in sorted(wanted(request.session.items)):
        files[f"modules/{name}/refpmu.ko"] = modules.faulty_module(name, found)
    with guest.Guest(runs.machine(found, suite.find_target("refpmu"), files=files)) as machine:
        machine.boot()
        yield machine
        machine.bye()


def watched(
    vm: guest.Guest, built: str, *options: str, pmu: str = "refpmu"
) -> tuple[guest.Done, dict[str, Any]]:
    """The findings about a module, as words and as counts."""
    vm.load(f"{built}/refpmu.ko")
    words = ["pmuconf", "watch", "--pmu", pmu, "--json", "/tmp/watch.json", *options]
    done = vm.exec(words, 120)
    figures: dict[str, Any] = json.loads(vm.exec(["cat", "/tmp/watch.json"]).stdout)
    assert vm.unload("refpmu")["ok"]
    return done, figures


def test_correct_driver_has_no_breach(vm: guest.Guest) -> None:
    done, figures = watched(vm, RIGHT, "--", "pmuconf", "run", "--target", "refpmu", "--rule=SMP-*")
    assert done.status == 0, done.stdout + done.stderr
    assert figures["breaches"] == []
    assert "no breach of the driver contract was seen\n" in done.stdout
    calls = {row["name"]: row for row in figures["calls"]}
    assert calls["add"]["function"] == "refpmu_add"
    assert calls["add"]["calls"] == calls["del"]["calls"] > 100
    assert calls["(overflow)"]["calls"] > 1000
    assert sum(calls["add"]["below_power_of_2_ns"]) == calls["add"]["calls"]


def test_pmu_with_missing_callbacks_is_watched_by_the_others(vm: guest.Guest) -> None:
    work = ["pmuconf", "run", "--target", "refpmu_uncore", "--rule=UNC-00*"]
    done, figures = watched(vm, RIGHT, "--", *work, pmu="refpmu_uncore")
    assert done.status == 0, done.stdout + done.stderr
    calls = {row["name"]: row for row in figures["calls"]}
    assert calls["add"]["calls"] == calls["del"]["calls"] > 10
    assert "serves other callbacks too" in calls["cancel_txn"]["unseen"]


@pytest.mark.parametrize("name", nightly_params.choose(MUTANTS, *DAILY))
def test_breach_of_a_mutant_is_reported(vm: guest.Guest, name: str) -> None:
    work = ["pmuconf", "run", "--target", "refpmu", "--rule", MUTANTS[name].rule]
    done, figures = watched(vm, name, "--seconds", SECONDS, "--", *work)
    assert done.status == 1, done.stdout + done.stderr
    assert MUTANTS[name].breach in [breach["name"] for breach in figures["breaches"]]


def test_driver_without_probes_is_not_judged(vm: guest.Guest) -> None:
    vm.load(f"{UNTRACED}/refpmu.ko")
    done = vm.exec(["pmuconf", "watch", "--pmu", "refpmu", "--", "true"])
    assert vm.unload("refpmu")["ok"]
    assert (done.status, done.stdout) == (2, "")
    assert "no callback of refpmu can be watched: no kprobe: Invalid argument" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pmu", "nosuch"], "no PMU 'nosuch' in /sys/bus/event_source/devices (PMUs:"),
        (["--pmu", "refpmu", "--event", "nosuch"], "--event 'nosuch' is neither in"),
        (["--pmu", "refpmu", "--json", "/no/such"], "/no/such: cannot be written"),
        (["--pmu", "refpmu", "--", "/no/such/program"], "/no/such/program: No such file"),
        (["--pmu", "refpmu", "--seconds", "0"], "--seconds:"),
        (["--seconds", "1"], "--pmu is required"),
    ],
)
def test_invalid_arguments_are_one_line_errors(
    vm: guest.Guest, words: list[str], said: str
) -> None:
    vm.load(f"{RIGHT}/refpmu.ko")
    done = vm.exec(["pmuconf", "watch", *words])
    assert vm.unload("refpmu")["ok"]
    assert done.status == 2
    assert said in done.stderr
