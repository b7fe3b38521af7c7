# SPDX-License-Identifier: Apache-2.0
"""pmuconf without the rest of the suite finds its target, drafts one for an unknown PMU, and runs.

The test compares the drafts of the reference PMUs with their target files.
"""

from __future__ import annotations

import functools
import json
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


EXPLAINED = {
    "counters.general": ("4", "measured"),
    "counters.width": ("64", "default"),
    "features.filters": ("true", "read"),
    "event pulse_c: counters": ('"0-1"', "guess"),
    "event wide": ("left out", "measured"),
}


@functools.cache
def pmuconf_output(name: str) -> dict[str, guest.Done]:
    """The output of the program, as words, in a guest that has no other file of the suite."""
    machine = runs.machine(kernel.find(name), suite.find_target("refpmu"))
    calls = [f"probe {pmu}" for pmu in PMUS]
    calls += ["run --pmu refpmu --case Counting.D*", "run --pmu msr --case Attr.*"]
    calls += [f"probe {pmu} --out /tmp/{pmu}.toml" for pmu in PMUS]
    calls += [f"run --target /tmp/{pmu}.toml --case AttrSize.*" for pmu in PMUS]
    calls += ["probe refpmu --explain --json", "probe refpmu --json"]
    calls += [f"probe {pmu} --attr --json" for pmu in ("refpmu", "tracepoint")]
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


def counters_of(event: dict[str, Any], general: int) -> frozenset[str]:
    """The counters of an event: {"0", "1", "f0"}. Fixed counters without their numbers, which a draft cannot know."""
    found: set[str] = set()
    for part in event["counters"].replace("all", f"0-{general - 1}").split(","):
        first, _, last = part.partition("-")
        if part.startswith("f"):
            found.add("fixed")
        else:
            found.update(str(number) for number in range(int(first), int(last or first) + 1))
    return frozenset(found)


def shared_counters(
    events: list[dict[str, Any]], general: int
) -> dict[tuple[str, str], tuple[int, bool]]:
    """How many general counters two events share, or one has, and whether both have a fixed one."""
    sets = {event["name"]: counters_of(event, general) for event in events}
    return {
        (one, other): (
            len((sets[one] & sets[other]) - {"fixed"}),
            "fixed" in sets[one] & sets[other],
        )
        for one in sets
        for other in sets
    }


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
@pytest.mark.parametrize("pmu", ["refpmu", "refpmu_uncore"])
def test_draft_has_all_events_that_take_one_counter(name: str, pmu: str) -> None:
    truth = [event for event in written(pmu)["event"] if not event.get("wide")]
    found = draft(name, pmu)["event"]
    assert {event["name"]: event.get("generic") for event in found} == {
        event["name"]: event.get("generic") for event in truth
    }


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
@pytest.mark.parametrize("pmu", ["refpmu", "refpmu_uncore"])
def test_model_of_counters_shares_as_the_device_does(name: str, pmu: str) -> None:
    general = written(pmu)["counters"]["general"]
    truth = [event for event in written(pmu)["event"] if not event.get("wide")]
    assert shared_counters(draft(name, pmu)["event"], general) == shared_counters(truth, general)


def test_models_with_other_numbers_share_alike_and_others_do_not() -> None:
    def events(a: str, b: str) -> list[dict[str, Any]]:
        return [{"name": "a", "counters": a}, {"name": "b", "counters": b}]

    assert shared_counters(events("all,f1", "3"), 4) == shared_counters(events("0-3,f0", "2"), 4)
    assert shared_counters(events("0-1", "3"), 4) != shared_counters(events("0-1", "1"), 4)
    assert shared_counters(events("0-1", "3"), 4) != shared_counters(events("0-1,f0", "3"), 4)


def rows(name: str, pmu: str) -> dict[str, dict[str, str]]:
    done = pmuconf_output(name)[f"probe {pmu} --explain --json"]
    assert done.status == 0, done.stderr
    return {line["key"]: line for line in json.loads(done.stdout)["lines"]}


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_explain_states_how_sure_each_value_is(name: str) -> None:
    found = rows(name, "refpmu")
    sure = {key: (found[key]["value"], found[key]["sure"]) for key in EXPLAINED}
    assert sure == EXPLAINED
    assert set(found) >= {f"counters.{key}" for key in draft(name, "refpmu")["counters"]}


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_json_without_explain_is_one_line_and_status_2(name: str) -> None:
    done = pmuconf_output(name)["probe refpmu --json"]
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr == (
        "pmuconf: --json needs --explain or --attr: it prints the table as JSON\n"
    )


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


def attr_field(name: str, pmu: str, field: str) -> tuple[str, str]:
    """The verdict and the errno or effect of a field of the attr, for a PMU."""
    done = pmuconf_output(name)[f"probe {pmu} --attr --json"]
    assert done.status == 0, done.stderr
    (row,) = (row for row in json.loads(done.stdout) if row["field"] == field)
    return row["verdict"], row.get("errno") or row["effect"]


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
@pytest.mark.parametrize(
    ("field", "verdict", "why"),
    [
        ("exclude_user", "honoured", "the count 1300 became 300"),
        ("exclude_kernel", "honoured", "the count 1300 became 1000"),
        ("inherit", "honoured", "the count 1300 became 1370"),
        ("inherit_thread", "honoured", "the count 1370 became 1300"),
        ("exclude_idle", "refused", "EOPNOTSUPP"),
        ("precise_ip 2", "honoured", "SAMPLE with bit 14 of misc 0 became 15"),
        ("wakeup_events 1", "honoured", "poll 0 became 1"),
        ("enable_on_exec", "honoured", "enabled 0 became 1"),
        ("inherit + PERF_SAMPLE_READ", "refused", "EINVAL"),
    ],
)
def test_matrix_has_the_effect_of_each_field(name: str, field: str, verdict: str, why: str) -> None:
    assert attr_field(name, "refpmu", field) == (verdict, why)


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_matrix_names_an_ignored_field(name: str) -> None:
    """A tracepoint fires in the kernel, and perf does not look at exclude_user."""
    assert attr_field(name, "tracepoint", "exclude_user")[0] == "IGNORED"
    assert attr_field(name, "tracepoint", "read_format PERF_FORMAT_ID")[0] == "honoured"
