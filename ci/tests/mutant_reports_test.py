# SPDX-License-Identifier: Apache-2.0
"""A report counts mutants. It states for each survivor the tests that ran and the command that repeats them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ci.mutation import report, trial
from ci.mutation.trial import Ran, Trial
from faults.mutant_file import Mutant


def mutant(**values: object) -> Mutant:
    plain = Mutant("M1-1", Path("M1-1-x.patch"), "C01", ("CNT-001",), "", (), ("FAIL",), "t", ())
    return replace(plain, **values)


KILLED = Trial(mutant(), "6.12", "KILLED", killed_by=("A.One",))
SURVIVED = Trial(mutant(), "6.12", "SURVIVED")
UNTRIED = trial.broken(mutant(), "6.12", "does not build")


@pytest.mark.parametrize(
    ("trials", "errors", "faults", "expected"),
    [
        ([KILLED], [], [], 0),
        ([KILLED, SURVIVED], [], [], 1),
        ([KILLED, replace(SURVIVED, result="CRASH")], [], [], 1),
        ([KILLED, UNTRIED], [], [], 2),
        ([SURVIVED, UNTRIED], [], [], 1),
        ([KILLED], ["bad.patch: no patch"], [], 2),
        ([KILLED], [], ["A.One on 6.12: FAIL"], 2),
        ([SURVIVED], [], ["A.One on 6.12: FAIL"], 2),
        ([], [], [], 2),
    ],
)
def test_the_status_is_0_only_if_all_are_killed(
    trials: list[Trial], errors: list[str], faults: list[str], expected: int
) -> None:
    assert report.status([report.verdict([done]) for done in trials], errors, faults) == expected


HOST_KILL = replace(KILLED, kernel="host", observer="unit")
HOST_MISS = replace(HOST_KILL, result="SURVIVED")
BY_KUNIT = replace(KILLED, observer="kunit")
NOT_BY_KUNIT = replace(BY_KUNIT, result="SURVIVED")
ON_6_1 = replace(SURVIVED, kernel="6.1")


@pytest.mark.parametrize(
    ("trials", "each", "one"),
    [
        ([KILLED], "KILLED", "KILLED"),
        ([KILLED, NOT_BY_KUNIT], "SURVIVED", "KILLED"),
        ([SURVIVED, BY_KUNIT], "SURVIVED", "KILLED"),
        ([SURVIVED, NOT_BY_KUNIT], "SURVIVED", "SURVIVED"),
        ([KILLED, ON_6_1], "SURVIVED", "SURVIVED"),
        ([KILLED, ON_6_1, replace(BY_KUNIT, kernel="6.1")], "SURVIVED", "KILLED"),
        ([HOST_KILL, SURVIVED], "SURVIVED", "KILLED"),
        ([HOST_MISS, KILLED], "SURVIVED", "KILLED"),
        ([HOST_MISS, SURVIVED], "SURVIVED", "SURVIVED"),
        ([HOST_MISS], "SURVIVED", "SURVIVED"),
        ([UNTRIED, SURVIVED], "BROKEN", "BROKEN"),
        ([replace(SURVIVED, result="CRASH"), SURVIVED], "CRASH", "CRASH"),
    ],
)
def test_one_of_the_observers_or_each_of_them_must_kill(
    trials: list[Trial], each: str, one: str
) -> None:
    any_of = [replace(done, mutant=mutant(any_of=True)) for done in trials]
    assert (report.verdict(trials), report.verdict(any_of)) == (each, one)


def test_summary_counts_mutants_and_trials() -> None:
    def of(done: Trial, name: str) -> Trial:
        return replace(done, mutant=mutant(id=name))

    trials = [of(KILLED, "A"), of(BY_KUNIT, "A"), of(SURVIVED, "B"), of(UNTRIED, "C")]
    last = report.summary(trials, [], [], 3).splitlines()[-1]
    assert last == (
        "6 mutants: 1 killed, 1 survived, 1 not judged, 3 not for this kernel; 4 trials"
    )


def test_survivor_is_explained_by_its_tests_and_a_command() -> None:
    changed = "--- a/driver/core_pmu/irq.c\n+++ b/driver/core_pmu/irq.c\n"
    ran = (
        Ran("A.Own", "PASS", ("CNT-001", "SMP-001")),
        Ran("A.Area", "SKIP", ("CNT-009",)),
        Ran("refpmu_irq.case", "PASS", ("NMI-001",), "kunit/refpmu_irq_kunit.c"),
        Ran("B.Far", "PASS", ("SMP-002",)),
    )
    done = replace(SURVIVED, mutant=mutant(diff=changed), observer="kunit", ran=ran, tried=4)
    assert report.explanation(done) == [
        "M1-1 on 6.12: SURVIVED: t (4 tests tried by KUnit)",
        "  tests of its rules (CNT-001): A.Own PASS",
        "  nearest other tests (same file or area of rules): A.Area SKIP, refpmu_irq.case PASS",
        "  again: python3 -m ci.mutants --id M1-1 --observer kunit --fresh --kernel 6.12",
    ]
    assert report.summary([done], [], []).splitlines()[:4] == report.explanation(done)


def test_totals_count_mutants_and_survivors_as_failed(tmp_path: Path) -> None:
    out = tmp_path / "results.json"
    trials = [
        replace(done, mutant=mutant(id=f"M{number}"))
        for number, done in enumerate((KILLED, SURVIVED, UNTRIED))
    ]
    report.write([*trials, trials[0]], ["bad.patch: no patch"], [], 1, out)
    figures = json.loads(out.read_text())
    assert (figures["killed"], figures["total"]) == (1, 4)
    assert figures["totals"] == {"cases": 5, "passed": 1, "failed": 3, "skipped": 1}
    results = ["KILLED", "SURVIVED", "BROKEN", "KILLED"]
    assert [m["result"] for m in figures["mutants"]] == results
    assert [m["verdict"] for m in figures["mutants"]] == results
    assert figures["mutants"][0]["killed_by"] == ["A.One"]


def test_kill_by_other_rules_is_marked() -> None:
    first = Trial(mutant(), "6.12", "SURVIVED", tried=2)
    later = Trial(mutant(), "6.12", "KILLED", killed_by=("B.Three",), tried=1)
    joined = first.continued_by(later)
    assert (joined.result, joined.other_rules, joined.tried) == ("KILLED", True, 3)
    assert "other rules" in report.line(joined)
