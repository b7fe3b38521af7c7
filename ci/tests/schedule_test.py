# SPDX-License-Identifier: Apache-2.0
"""Units run concurrently as cores and memory allow. An interrupted nightly run continues."""

from __future__ import annotations

import dataclasses
import io
import threading
from pathlib import Path

import pytest

from ci.units import night, records, schedule
from ci.units.display import Display
from ci.units.inputs import Inputs
from ci.units.night import Night
from ci.units.records import Case, Record
from ci.units.schedule import Machine, Schedule
from ci.units.unit import Outcome, Unit

TWO = Machine(2, 4000)


def unit(name: str, **changed: object) -> Unit:
    plain = Unit(name, (), 60, f"repeat {name}", memory_mb=100)
    return dataclasses.replace(plain, **changed)


def ordered(units: list[Unit], machine: Machine, expected: dict[str, float]) -> list[str]:
    """The units in the order in which they start."""
    begun: list[str] = []

    def run(each: Unit) -> Outcome:
        begun.append(each.name)
        return Outcome(each, (Case(each.name, "PASS"),))

    list(Schedule(units, run, expected, machine).outcomes())
    return begun


def test_longest_unit_starts_first() -> None:
    units = [unit("a"), unit("b"), unit("c")]
    expected = {"a": 1.0, "b": 3.0, "c": 2.0}
    assert ordered(units, Machine(1, 4000), expected) == ["b", "c", "a"]


def test_stop_at_failure_starts_the_shortest_unit_and_its_build_first() -> None:
    units = [
        unit("long"),
        unit("build/a", build=True),
        unit("build/b", build=True, needs=("build/a",)),
        unit("short", needs=("build/b",)),
        unit("build/c", build=True),
        unit("middle", needs=("build/c",)),
    ]
    expected = {"long": 5.0, "build/a": 9.0, "build/b": 9.0, "short": 1.0, "build/c": 1.0}
    found = schedule.quickest(units, expected | {"middle": 2.0})
    assert sorted(found, key=lambda name: -found[name]) == [
        *("short", "build/b", "build/a"),
        *("middle", "build/c", "long"),
    ]


def test_build_has_the_urgency_of_the_units_that_need_it() -> None:
    units = [unit("long"), unit("build/x", build=True), unit("tests", needs=("build/x",))]
    expected = {"long": 5.0, "build/x": 1.0, "tests": 6.0}
    assert ordered(units, Machine(1, 4000), expected) == ["build/x", "tests", "long"]


@pytest.mark.parametrize(
    ("changed", "machine", "most"),
    [
        ({}, TWO, 2),
        ({"cores": 2}, TWO, 1),
        ({"cores": 8}, TWO, 1),
        ({"memory_mb": 3000}, TWO, 1),
        ({"lock": "build/soak"}, TWO, 1),
        ({}, Machine(4, 4000), 4),
    ],
)
def test_concurrent_units_fit_cores_and_memory(
    changed: dict[str, object], machine: Machine, most: int
) -> None:
    units = [unit(f"u/{n}", **changed) for n in range(4)]
    running, peak, lock = 0, 0, threading.Lock()
    together = threading.Barrier(most)

    def run(each: Unit) -> Outcome:
        nonlocal running, peak
        with lock:
            running += 1
            peak = max(peak, running)
        together.wait(30)
        with lock:
            running -= 1
        return Outcome(each, ())

    list(Schedule(units, run, dict.fromkeys((u.name for u in units), 1.0), machine).outcomes())
    assert peak == most


def test_unit_whose_build_failed_never_starts() -> None:
    units = [unit("build/x", build=True), unit("tests", needs=("build/x",))]

    def run(each: Unit) -> Outcome:
        return Outcome(each, (Case(each.name, "FAIL"),))

    expected = {"build/x": 1.0, "tests": 1.0}
    ended = [each.unit.name for each in Schedule(units, run, expected, TWO).outcomes()]
    assert ended == ["build/x"]


def test_interrupt_in_a_unit_reaches_the_waiting_thread() -> None:
    def run(_: Unit) -> Outcome:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Schedule([unit("a")], run, {"a": 1.0}, TWO).outcomes())


def test_last_lines_have_failures_and_repro_commands() -> None:
    out = io.StringIO()
    display = Display(3, out)
    good = Outcome(unit("lint/a"), (Case("a", "PASS"), Case("b", "SKIP")), 1.0, cached=True)
    bad = Outcome(unit("lint/b"), (Case("x", "FAIL", (), "status 1"),), 2.0)
    for each in (good, bad):
        display.ended(each, [])
    display.end([good, bad], [unit("run/c")])
    text = out.getvalue()
    assert "x: status 1" in text and "repeat only this: repeat lint/b" in text
    assert "failed in lint/b: x" in text and "not run: run/c" in text
    assert "cached: 1 units, 2 tests" in text
    assert text.splitlines()[-1] == "1 passed, 2 failed, 1 skipped"
    assert "\033" not in text


def passed(name: str, version: str) -> Outcome:
    stated = Inputs().digests(unit(name).stated())
    record = Record(name, stated | {f"text:{version}": version}, (Case(name, "PASS"),), 1.0)
    records.write(record)
    return Outcome(unit(name), record.cases)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def test_interrupted_nightly_run_continues(cache: Path) -> None:
    now = Inputs()
    Night().record_pass(passed("a/1", "one"), now)
    assert Night().finished(unit("a/1"), now) is not None
    assert Night().finished(unit("a/2"), now) is None
    assert Night(again=True).finished(unit("a/1"), now) is None


def test_pass_of_make_check_does_not_finish_a_nightly_unit(cache: Path) -> None:
    passed("a/1", "one")
    assert Night().finished(unit("a/1"), Inputs()) is None


def test_complete_nightly_run_is_followed_by_a_new_one(cache: Path) -> None:
    now, both = Inputs(), [unit("a/1"), unit("a/2"), unit("build/x", build=True)]
    Night().record_pass(passed("a/1", "one"), now)
    assert not Night().end_if_whole(both)
    Night().record_pass(passed("a/2", "two"), now)
    assert Night().end_if_whole(both)
    assert Night().finished(unit("a/1"), now) is None


def test_shards_have_each_unit_once_with_builds_and_similar_durations() -> None:
    units = [unit("build/x", build=True)]
    units += [unit(f"u/{n}", default_s=float(n + 1), needs=("build/x",)) for n in range(40)]
    shards = [night.shard(units, k, 3) for k in (1, 2, 3)]
    names = sorted(u.name for shard in shards for u in shard if not u.build)
    assert names == sorted(u.name for u in units if not u.build)
    assert all(units[0] in shard for shard in shards)
    loads = [sum(u.default_s for u in shard if not u.build) for shard in shards]
    assert max(loads) - min(loads) <= 40


def test_machine_has_the_cores_that_this_process_may_use() -> None:
    here = schedule.Machine.here()
    assert here.cores >= 1 and here.memory_mb >= 1
