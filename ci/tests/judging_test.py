# SPDX-License-Identifier: Apache-2.0
"""Each mutant has the trials that its header asks for, and no more; the progress shows all of them."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ci.mutation import kunit, on_host, passes, workshop
from ci.mutation.judging import Judge, Request, is_decided, plan
from ci.mutation.killers import Killers
from ci.mutation.kunit import Kunit, KunitResults
from ci.mutation.progress import Progress
from ci.mutation.trial import Goal, Trial
from faults import mutant_file
from faults.mutant_file import OBSERVERS, Mutant
from pmubase import store

PLAIN = Mutant("M1-1", Path("M1-1-x.patch"), "C01", ("CNT-001",), "", (), ("FAIL",), "t", ())
ANY = replace(PLAIN, observers=("unit", "kunit", "suite"), any_of=True)
KERNELS = ("6.12", "6.1")


def test_trials_are_planned_by_cost() -> None:
    assert plan(PLAIN, KERNELS, OBSERVERS) == [(PLAIN, "6.12", "suite"), (PLAIN, "6.1", "suite")]
    assert [each[1:] for each in plan(ANY, KERNELS, OBSERVERS)] == [
        ("host", "unit"),
        *(("6.12", "kunit"), ("6.1", "kunit")),
        *(("6.12", "suite"), ("6.1", "suite")),
    ]
    assert [each[1:] for each in plan(ANY, KERNELS, ("unit",))] == [("host", "unit")]
    only = replace(ANY, kernels=("6.1",))
    assert {name for _, name, _ in plan(only, KERNELS, OBSERVERS)} == {"host", "6.1"}
    assert plan(only, ("6.12",), OBSERVERS) == []
    assert plan(PLAIN, KERNELS, ("kunit",)) == []


KILLED = Trial(ANY, "6.12", "KILLED", killed_by=("a.b",), observer="kunit")
WITH_RULE = replace(KILLED, failed_rules=(("CNT-001", "a.b"),))


@pytest.mark.parametrize(
    ("mutant", "done", "goal", "decided"),
    [
        (ANY, [KILLED], Goal.KILL, True),
        (ANY, [replace(KILLED, kernel="host")], Goal.KILL, True),
        (ANY, [replace(KILLED, kernel="6.1")], Goal.KILL, False),
        (ANY, [replace(KILLED, result="SURVIVED")], Goal.KILL, False),
        (ANY, [KILLED], Goal.RULES, False),
        (ANY, [WITH_RULE], Goal.RULES, True),
        (ANY, [WITH_RULE], Goal.ALL, False),
        (replace(ANY, any_of=False), [KILLED], Goal.KILL, False),
    ],
)
def test_other_observers_are_left_out_only_if_one_was_enough(
    mutant: Mutant, done: list[Trial], goal: Goal, decided: bool
) -> None:
    assert is_decided(mutant, "6.12", done, goal) == decided


def results(**cases: str) -> KunitResults:
    """The results of cases like a__one (a.one) on 6.12. The last word of a name is the number of its rule."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, result in cases.items():
        suite, _, test = name.partition("__")
        found.setdefault(result, {})[f"{suite}.{test}"] = (f"CNT-00{test[-1]}",)
    failed = "FAILED" if "FAIL" in found else "PASSED"
    return KunitResults("6.12", failed, found, ())


CLEAN = results(a__x1="PASS", a__y1="PASS", b__x1="PASS", b__x2="PASS")


def test_suite_of_the_last_killer_runs_first_then_the_one_with_most_tests() -> None:
    assert kunit.first_suites(PLAIN, CLEAN, "") == ["a"]
    assert kunit.first_suites(PLAIN, CLEAN, "b.x2") == ["b", "a"]
    assert kunit.first_suites(PLAIN, CLEAN, "a.x1") == ["a"]
    assert kunit.first_suites(PLAIN, CLEAN, "(kernel: BUG.)") == ["a"]
    assert kunit.first_suites(replace(PLAIN, rules=("CNT-003",)), CLEAN, "") == []


def judged(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    goal: Goal,
    alone: KunitResults,
    whole: KunitResults,
) -> tuple[Trial, list[str]]:
    """The trial of PLAIN if suite a alone, and all suites, have these results; and the suites of each boot."""
    boots: list[str] = []

    def boot(_name: str, _image: Path, _folder: Path, suite: str = "") -> KunitResults:
        boots.append(suite)
        return alone if suite else whole

    def build(_name: str, _driver: Path, _suites: Path, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "image").touch()
        return folder / "image"

    monkeypatch.setattr(kunit, "boot", boot)
    monkeypatch.setattr(kunit, "build", build)
    monkeypatch.setattr(Kunit, "clean", lambda self, suite="": CLEAN)
    monkeypatch.setattr(mutant_file, "apply", lambda mutant, folder: None)
    monkeypatch.setattr(workshop, "restore", lambda driver, folder: folder)
    done = Kunit("6.12", tmp_path, tmp_path, print).judge(PLAIN, Killers({}), goal)
    assert not list(tmp_path.rglob("image"))
    return done, boots


def test_mutant_of_the_suites_is_built_with_a_changed_copy_of_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recorder = Path("kunit/recorder.c")
    built: list[tuple[Path, bytes]] = []

    def build(_name: str, _driver: Path, suites: Path, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        built.append((suites, (suites / recorder.name).read_bytes()))
        return folder / "image"

    def apply(_mutant: Mutant, folder: Path) -> None:
        if (folder / recorder).exists():
            (folder / recorder).write_bytes(b"changed")

    monkeypatch.setattr(kunit, "boot", lambda *_: CLEAN)
    monkeypatch.setattr(kunit, "build", build)
    monkeypatch.setattr(Kunit, "clean", lambda self, suite="": CLEAN)
    monkeypatch.setattr(mutant_file, "apply", apply)
    monkeypatch.setattr(workshop, "restore", lambda driver, folder: folder)
    for path in (PLAIN.path, kunit.SUITES / "mutants" / "Y1-x.patch"):
        judge = Kunit("6.12", tmp_path, tmp_path, print).judge
        judge(replace(PLAIN, path=path), Killers({}), Goal.KILL)
    own = (kunit.SUITES / recorder.name).read_bytes()
    assert built == [
        (kunit.SUITES, own),
        (tmp_path / "workshop-kunit" / "kunit", b"changed"),
    ]


def test_only_kunit_can_judge_a_change_of_its_suites(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Id: Y1\nRules: CNT-001\n\n--- a/kunit/recorder.c\n+++ b/kunit/recorder.c\n"
    monkeypatch.setattr(Path, "read_text", lambda self, encoding: text)
    with pytest.raises(mutant_file.PatchError, match="must be kunit for a change of kunit/"):
        mutant_file.read(kunit.SUITES / "mutants" / "Y1-x.patch")


def test_kill_by_one_suite_ends_a_kunit_trial(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bad = results(a__x1="FAIL", a__y1="PASS")
    done, boots = judged(monkeypatch, tmp_path, Goal.KILL, bad, CLEAN)
    assert (done.result, done.killed_by, boots) == ("KILLED", ("a.x1",), ["a"])
    assert done.failed_rules == (("CNT-001", "a.x1"),)
    _, boots = judged(monkeypatch, tmp_path, Goal.ALL, bad, CLEAN)
    assert boots == [""]


def test_all_suites_run_if_the_first_one_kills_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = results(a__x1="PASS", b__x2="FAIL")
    done, boots = judged(monkeypatch, tmp_path, Goal.KILL, results(a__x1="PASS"), whole)
    assert (done.killed_by, done.other_rules, boots) == (("b.x2",), True, ["a", ""])
    assert (done.failed_rules, done.unfailed_rules, done.searched) == ((), ("CNT-001",), True)


RUN = """[ RUN      ] A.One
[       OK ] A.One (0 ms)
[ RUN      ] I/B.Two/3
{}
"""
LOST = "[  FAILED  ] I/B.Two/3, where GetParam() = 4 (0 ms)"


@pytest.mark.parametrize(
    ("status", "output", "result", "killers"),
    [
        (0, RUN.format("[       OK ] I/B.Two/3 (0 ms)"), "SURVIVED", ()),
        (1, RUN.format(LOST), "KILLED", ("I/B.Two/3",)),
        (-11, RUN.format(""), "KILLED", ("I/B.Two/3",)),
        (None, RUN.format(""), "TIMEOUT", ()),
        (127, "no such file", "BROKEN", ()),
    ],
)
def test_failed_unit_test_kills(
    status: int | None, output: str, result: str, killers: tuple[str, ...]
) -> None:
    done = on_host.decide_unit(PLAIN, status, output, {"B": "driver/unit/b_test.cpp"})
    assert (done.result, done.killed_by, done.kernel) == (result, killers, "host")
    if done.ran:
        assert [each.file for each in done.ran] == ["", "driver/unit/b_test.cpp"]


def test_unit_tests_that_hang_kill_where_the_header_expects_it() -> None:
    done = on_host.decide_unit(replace(PLAIN, kill=("TIMEOUT",)), None, RUN.format(""), {})
    assert (done.result, done.killed_by) == ("KILLED", ("I/B.Two/3",))


def test_corpus_and_named_input_must_both_detect() -> None:
    mutant = replace(PLAIN, rules=("STR-005", "CNT-001"))
    done = on_host.decide_fuzz(mutant, [("period/corpus", True), ("period/x", True)])
    assert (done.result, done.failed_rules) == ("KILLED", (("STR-005", "period/corpus"),))
    done = on_host.decide_fuzz(mutant, [("period/corpus", True), ("period/x", False)])
    assert (done.result, done.detail) == ("SURVIVED", "not detected by period/x")


def test_progress_counts_trials_and_estimates_the_rest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    planned = [(PLAIN, "6.12", "suite"), (ANY, "6.12", "kunit"), (ANY, "6.12", "suite")]
    planned[1:] = [(replace(ANY, path=Path("B-x.patch")), *each[1:]) for each in planned[1:]]
    out = io.StringIO()
    with Progress(planned, 2, out) as progress:
        progress.done(replace(KILLED, mutant=PLAIN, observer="suite", duration_s=4.0), fresh=True)
        assert progress.state() == "[1/3] trials, 0 s, about 35 s left"
        progress.skip(planned[2])
        assert progress.state() == "[1/2] trials, 0 s, about 30 s left"
        alive = replace(KILLED, mutant=planned[1][0], result="SURVIVED", duration_s=100.0)
        progress.done(alive, fresh=True)
        assert progress.state() == "[2/2] trials, 1 not killed, 0 s, about 0 s left"
    first, *lines = out.getvalue().splitlines()
    assert first == "3 trials, 3 of them for the first time: about 40 s"
    assert [line.split()[:4] for line in lines] == [
        ["M1-1", "suite", "6.12", "KILLED"],
        ["M1-1", "kunit", "6.12", "SURVIVED"],
    ]
    out = io.StringIO()
    with Progress(planned[:2], 2, out):
        assert out.getvalue() == "2 trials: about 52 s\n"


def test_progress_prints_at_least_every_30_seconds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    out = io.StringIO()
    progress = Progress([(PLAIN, "6.12", "suite")], 2, out)
    waits = iter([False, False, True])
    asked = []

    def wait(seconds: float) -> bool:
        asked.append(seconds)
        return next(waits)

    monkeypatch.setattr(progress._ended, "wait", wait)
    progress._tick()
    assert out.getvalue() == "[0/1] trials, 0 s, about 5 s left\n" * 2
    assert asked == [30, 30, 30]


def test_recorded_kill_serves_only_the_same_goal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(passes, "stated", lambda *_: ["text:a"])
    done = replace(KILLED, kernel="6.12", searched=False)
    passes.record_kill(done, [], Goal.KILL)
    found = passes.recorded_kill(ANY, "6.12", "kunit", [], Goal.KILL)
    assert found is not None and (found.killed_by, found.observer) == (("a.b",), "kunit")
    assert passes.recorded_kill(ANY, "6.12", "kunit", [], Goal.RULES) is None
    assert passes.recorded_kill(ANY, "6.12", "kunit", [], Goal.ALL) is None
    assert passes.recorded_kill(ANY, "6.12", "suite", [], Goal.KILL) is None
    passes.record_kill(replace(done, searched=True), [], Goal.RULES)
    assert passes.recorded_kill(ANY, "6.12", "kunit", [], Goal.RULES) is not None


def test_kill_that_no_test_made_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(passes, "stated", lambda *_: ["text:a"])
    passes.record_kill(replace(KILLED, killed_by=("(load)",)), [], Goal.KILL)
    passes.record_kill(replace(KILLED, result="SURVIVED"), [], Goal.KILL)
    assert passes.recorded_kill(ANY, "6.12", "kunit", [], Goal.KILL) is None


@pytest.mark.parametrize(
    ("by_unit", "goal", "tried"),
    [
        ("KILLED", Goal.KILL, ["unit host"]),
        ("SURVIVED", Goal.KILL, ["unit host", "kunit 6.12", "kunit 6.1"]),
        ("KILLED", Goal.ALL, ["unit host", "kunit 6.12", "kunit 6.1"]),
    ],
)
def test_kill_without_a_guest_ends_the_trials_of_a_mutant(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, by_unit: str, goal: Goal, tried: list[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mutant = replace(ANY, observers=("unit", "kunit"))

    def run(_self: Judge, each: Mutant, name: str, observer: str) -> Trial:
        result = by_unit if observer == "unit" else "KILLED"
        return Trial(each, name, result, killed_by=("(x)",), observer=observer)

    monkeypatch.setattr(Judge, "_run", run)
    request = Request((mutant,), KERNELS, OBSERVERS, goal, True, False, tmp_path)
    out = io.StringIO()
    judged = Judge(request, Killers({}), out).run()
    assert [f"{done.observer} {done.kernel}" for done in judged.trials] == tried
    assert out.getvalue().splitlines()[0].startswith("3 trials, 3 of them for the first time")
    assert len(out.getvalue().splitlines()) == 1 + len(tried)


def test_help_is_the_same_for_the_file_and_for_the_module() -> None:
    helps = [
        subprocess.run(
            [sys.executable, *words, "--help"],
            cwd=store.ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for words in (["ci/mutants.py"], ["-m", "ci.mutants"])
    ]
    assert helps[0] == helps[1]
    assert helps[0].startswith("usage: python3 -m ci.mutants ")
