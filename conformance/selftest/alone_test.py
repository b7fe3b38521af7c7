# SPDX-License-Identifier: Apache-2.0
"""pmuconf without the rest of the suite finds its target, drafts one for an unknown PMU, and runs.

The test compares the drafts of the reference PMUs with their target files.
"""

from __future__ import annotations

import functools
import tomllib
from typing import Any

import pytest

from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("alone")]

DEADLINE_S = 200
KNOWN = [path.stem for path in suite.TARGETS.glob("*.toml")]
PMUS = ("refpmu", "refpmu_uncore", "refpmu_trace", "msr") + tuple(
    name for name in ("software", "tracepoint") if name in KNOWN
)


@functools.cache
def pmuconf_output(name: str) -> dict[str, guest.Done]:
    """The output of the program, as words, in a guest that has no other file of the suite."""
    machine = runs.machine(kernel.find(name), suite.find_target("refpmu"))
    calls = [f"probe {pmu}" for pmu in PMUS]
    calls += ["run --pmu refpmu --case Counting.D*", "run --pmu msr --case Attr.*"]
    calls += [f"probe {pmu} --out /tmp/{pmu}.toml" for pmu in PMUS]
    calls += [f"run --target /tmp/{pmu}.toml --case AttrSize.*" for pmu in PMUS]
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        done = {call: vm.exec(["pmuconf", *call.split()], DEADLINE_S) for call in calls}
        assert vm.kmsg()["reports"] == []
        vm.bye()
    return done


def draft(name: str, pmu: str) -> dict[str, Any]:
    done = pmuconf_output(name)[f"probe {pmu}"]
    assert done.status == 0, done.stderr
    return tomllib.loads(done.stdout)


def written(pmu: str) -> dict[str, Any]:
    return tomllib.loads((suite.TARGETS / f"{pmu}.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
@pytest.mark.parametrize("pmu", [pmu for pmu in PMUS if pmu in KNOWN])
def test_draft_agrees_with_the_target_file(name: str, pmu: str) -> None:
    found, truth = draft(name, pmu), written(pmu)
    assert found["target"]["kind"] == truth["target"]["kind"]
    assert ("sampling" in found) == ("sampling" in truth)
    for table, key in (
        ("counters", "general"),
        ("counters", "fixed"),
        ("sampling", "min_period"),
        ("sampling", "frequency"),
        ("features", "excludes"),
        ("features", "filters"),
        ("features", "exclusive_formats"),
        ("features", "precise"),
        ("features", "branches"),
        ("refusals", "sampling"),
        ("refusals", "task"),
    ):
        if key in truth.get(table, {}) and key in found.get(table, {}):
            assert found[table][key] == truth[table][key], f"{table}.{key}"


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_draft_has_the_events_of_all_counters(name: str) -> None:
    for pmu in ("refpmu", "refpmu_uncore"):
        everywhere = {
            event["name"]: event.get("generic")
            for event in written(pmu)["event"]
            if event["counters"].startswith("all") and not event.get("wide")
        }
        found = {event["name"]: event.get("generic") for event in draft(name, pmu)["event"]}
        assert found == everywhere


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
@pytest.mark.parametrize("pmu", PMUS)
def test_run_accepts_a_draft(name: str, pmu: str) -> None:
    done = pmuconf_output(name)[f"run --target /tmp/{pmu}.toml --case AttrSize.*"]
    assert "cases" in done.stdout and "FAIL" not in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_run_needs_only_the_name_of_the_pmu(name: str) -> None:
    done = pmuconf_output(name)["run --pmu refpmu --case Counting.D*"]
    assert done.status == 0, done.stdout + done.stderr
    assert "PASS  Counting.DisabledTimeIsNotCounted" in done.stdout
    assert "\x1b" not in done.stdout
    unknown = pmuconf_output(name)["run --pmu msr --case Attr.*"]
    assert "no built-in target is for PMU msr: uses the draft of a probe" in unknown.stdout
    assert "FAIL" not in unknown.stdout
