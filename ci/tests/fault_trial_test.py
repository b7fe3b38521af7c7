# SPDX-License-Identifier: Apache-2.0
"""ci/faults decides whether tests caught a fault: by cases, unit tests, a corpus, KUnit, pytest."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from ci.faults import bench, host, kunit, strategies, trial
from ci.faults.bench import Bench, Unclean
from ci.faults.catchers import Catchers
from ci.faults.kunit import KunitResults
from ci.faults.strategies import InGuests, InPytest, Request, WithAnswer
from ci.faults.trial import Attempt, Clean, Goal, Planned, Trial
from faults.fault import Fault
from pmubase.errors import UserError
from vm.guest import GuestLost
from vm.suite import Case

FAULT = Fault("M1-1", Path("M1-1-x.patch"), "It is wrong.", "driver", ("CNT-001",))
BOTH = ("CNT-001", "CNT-002")


def case(name: str, *rules: str) -> Case:
    return Case(name, rules, 10.0, f"conformance/cases/{name}.cpp", 0)


CASES = [case("A.One", "CNT-001"), case("A.Two", "CNT-001"), case("B.Three", "CNT-002")]


def planned(observer: str = "suite", **values: Any) -> Planned:
    fault = replace(FAULT, **values)
    return Planned(fault, "6.12", observer, fault.rules)


def tried(
    found: dict[str, str], goal: Goal = Goal.CATCH, unclean: str = "", **values: Any
) -> Trial:
    attempt = Attempt(planned(**values), goal)
    attempt.run(CASES, lambda c: found.get(c.id, "PASS"), lambda c: c.id != unclean)
    return attempt.trial()


def test_the_first_failing_case_catches() -> None:
    done = tried({"A.Two": "FAIL", "B.Three": "FAIL"})
    assert (done.result, done.by, done.tried) == ("caught", ("A.Two",), 2)


def test_all_cases_run_when_asked_for() -> None:
    done = tried({"A.Two": "FAIL", "B.Three": "FAIL"}, Goal.ALL)
    assert (done.by, done.tried, done.other_rules) == (("A.Two", "B.Three"), 3, ("CNT-002",))


def test_run_for_all_rules_ends_when_each_rule_was_failed() -> None:
    results = {"A.One": "FAIL", "A.Two": "FAIL", "B.Three": "FAIL"}
    done = tried(results, Goal.RULES, rules=BOTH)
    assert (done.by, done.tried) == (("A.One", "B.Three"), 2)
    assert done.failed_rules == (("CNT-001", "A.One"), ("CNT-002", "B.Three"))
    assert tried({"A.One": "FAIL"}, Goal.RULES, rules=BOTH).unfailed_rules == ("CNT-002",)


@pytest.mark.parametrize("result", ["PASS", "SKIP", "WAIVED", "BROKEN", "NOT_RUN"])
def test_only_a_failure_catches(result: str) -> None:
    assert tried({c.id: result for c in CASES}).result == "missed"


@pytest.mark.parametrize("result", ["CRASH", "TIMEOUT"])
def test_a_lost_guest_catches_only_where_the_header_expects_it(result: str) -> None:
    unwelcome = tried({"A.One": result})
    assert (unwelcome.result, unwelcome.detail) == ("missed", f"{result} in A.One")
    assert tried({"A.One": result}, results=("FAIL", result)).result == "caught"
    assert tried({"A.One": result, "A.Two": "FAIL"}).by == ("A.Two",)


def test_miss_reports_the_broken_cases() -> None:
    assert tried({"A.Two": "BROKEN"}).detail == "BROKEN, not FAIL, in A.Two"


@pytest.mark.parametrize("result", ["FAIL", "CRASH", "TIMEOUT", "BROKEN"])
def test_case_that_the_original_fails_does_not_catch(result: str) -> None:
    done = tried({"A.One": result}, unclean="A.One", results=("FAIL", "CRASH"))
    assert (done.result, done.detail, done.tried) == ("missed", "", 3)


def test_no_case_runs_after_three_lost_guests() -> None:
    attempt = Attempt(planned(), Goal.CATCH)
    cases = [case(f"A.{i}", "CNT-001") for i in range(9)]
    attempt.run(cases, lambda c: "TIMEOUT", lambda c: True)
    assert (attempt.trial().result, attempt.trial().tried) == ("missed", 3)


def test_complaint_at_the_end_catches_if_a_crash_does() -> None:
    for results, caught in ((("FAIL",), "missed"), (("FAIL", "CRASH"), "caught")):
        attempt = Attempt(planned(results=results), Goal.CATCH)
        attempt.add_signs(["(kernel: leak)"])
        assert attempt.trial().result == caught


def test_original_runs_each_case_once_and_a_skip_is_no_failure() -> None:
    asked = []

    def run(one: Case) -> str:
        asked.append(one.id)
        return {"A.One": "PASS", "A.Two": "SKIP", "B.Three": "BROKEN"}[one.id]

    clean = Clean(run)
    assert [clean.passes(c) for c in (*CASES, *CASES)] == [True, False, False] * 2
    assert [clean.fits(c) for c in CASES] == [True, True, False]
    assert (asked, clean.failed()) == (["A.One", "A.Two", "B.Three"], [("B.Three", "BROKEN")])


def test_named_cases_and_narrow_ones_are_tried_first() -> None:
    wide = case("C.Wide", "CNT-001", "CNT-009", "CNT-008")

    def ids(fault: Fault, first: str, own: bool) -> list[str]:
        found = trial.cases_to_try(fault, fault.rules, [wide, *CASES], first, own)
        return [one.id for one in found]

    assert ids(FAULT, "", True) == ["A.One", "A.Two", "C.Wide"]
    assert ids(FAULT, "B.Three", True) == ["B.Three", "A.One", "A.Two", "C.Wide"]
    assert ids(replace(FAULT, cases=("C.Wide",)), "", True)[0] == "C.Wide"
    assert ids(FAULT, "", False) == ["B.Three"]
    assert len(ids(replace(FAULT, rules=()), "", True)) == 4


class FakeBench(Bench[object]):
    """A target whose guests are a table of results."""

    def __init__(self, results: dict[str, str], lost: str = "", cases: Sequence[Case] = CASES):
        self.cases = tuple(cases)
        self.clean = Clean(lambda c: "PASS")
        self.results = results
        self.ran: list[str] = []
        self.lost = lost
        self.target = cast(Any, type("T", (), {"name": "toy"}))

    def attempt(self, built: Any, attempt: Attempt, cases: Any, log: Any, run: Any) -> str:
        if self.lost:
            return self.lost

        def run_case(one: Case) -> str:
            self.ran.append(one.id)
            return self.results.get(one.id, "PASS")

        attempt.run(cases, run_case, self.clean.passes)
        return ""


def by_cases(
    *benches: FakeBench, goal: Goal = Goal.CATCH, own: bool = False, **values: Any
) -> Trial:
    how = object.__new__(InGuests)
    catchers = Catchers({})
    how.request = Request((), goal, own, Path("x"), catchers, print, threading.Event())
    how.of = lambda _: list(benches)  # type: ignore[assignment]
    return how.by_cases(planned(**values), None)


def test_named_rules_are_tried_on_all_targets_before_other_cases() -> None:
    first, second = FakeBench({"B.Three": "FAIL"}), FakeBench({"A.Two": "FAIL"})
    assert by_cases(first, second).by == ("A.Two",)
    assert (first.ran, second.ran) == (["A.One", "A.Two"], ["A.One", "A.Two"])
    other = by_cases(first, FakeBench({}))
    assert (other.by, other.failed_rules) == (("B.Three",), ())
    assert by_cases(first, FakeBench({}), own=True).result == "missed"


def test_run_for_all_rules_continues_on_the_next_target() -> None:
    first, second = FakeBench({"A.One": "FAIL"}), FakeBench({"B.Three": "FAIL"})
    done = by_cases(first, second, goal=Goal.RULES, rules=BOTH)
    assert done.failed_rules == (("CNT-001", "A.One"), ("CNT-002", "B.Three"))


def test_guest_that_dies_before_a_case_is_broken_unless_that_is_the_symptom() -> None:
    assert by_cases(FakeBench({}, "CRASH")).result == "broken"
    done = by_cases(FakeBench({}, "CRASH"), results=("CRASH",))
    assert (done.result, done.by) == ("caught", ("(load)",))


def test_only_a_dead_guest_is_a_symptom(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object) -> Any:
        error = UserError("no guest")
        error.__context__ = GuestLost("CRASH", "panic", "")
        raise error

    made = object.__new__(Bench)
    made._open, made.target, made.clean = opened, cast(Any, None), Clean(lambda c: "PASS")
    attempt = Attempt(planned(), Goal.CATCH)
    assert made.attempt(None, attempt, CASES, Path("x"), lambda g, c: "PASS") == "CRASH"
    made._open = lambda *_: (_ for _ in ()).throw(UserError("no disk"))
    with pytest.raises(UserError, match="no disk"):
        made.attempt(None, attempt, CASES, Path("x"), lambda g, c: "PASS")
    with pytest.raises(Unclean, match="the clean original: no disk"):
        with bench.convert_to_unclean("the clean original"):
            raise UserError("no disk")


def test_failure_must_repeat_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    results = iter(["FAIL", "PASS", "CRASH"])
    monkeypatch.setattr(bench, "run_case", lambda guests, case: next(results))
    assert bench.run_twice(cast(Any, None), CASES[0]) == "PASS"
    assert bench.run_twice(cast(Any, None), CASES[0]) == "CRASH"


class FakeGuests:
    """Guests whose results depend on the case."""

    def __init__(self, results: dict[str, dict[str, Any]]) -> None:
        self.results = results

    def run(self, one: Case, lie: str, longest_s: float) -> dict[str, Any]:
        assert lie == "the answer" and longest_s == strategies.ANSWER_S
        return {"result": "PASS", "message": "", "lied": 1} | self.results.get(one.id, {})


def answered(results: dict[str, dict[str, Any]], rules: tuple[str, ...] = BOTH) -> Trial:
    how = object.__new__(WithAnswer)
    how.request = Request((), Goal.CATCH, False, Path("x"), Catchers({}), print, threading.Event())
    how.of = lambda _: [FakeBench({})]  # type: ignore[assignment]
    how._guests = lambda *_: cast(Any, FakeGuests(results))  # type: ignore[assignment]
    return how.judge(planned(rules=rules, change="the answer"))


def test_wrong_answer_must_fail_each_rule() -> None:
    fail = {"result": "FAIL"}
    done = answered({"A.One": fail, "B.Three": fail})
    assert (done.result, done.by) == ("caught", ("A.One", "B.Three"))
    done = answered({"A.One": fail})
    assert (done.result, "nothing failed CNT-002" in done.detail) == ("missed", True)


def test_failure_without_the_wrong_answer_is_no_catch() -> None:
    assert answered({"A.One": {"result": "FAIL", "lied": 0}}, ("CNT-001",)).result == "missed"


def test_invalid_answer_is_an_error_of_pmuconf() -> None:
    bad = {"result": "BROKEN", "message": "x\npmuconf: effect is missing"}
    with pytest.raises(UserError, match="pmuconf: effect is missing"):
        answered({"A.One": bad})


def unit(status: int | None, output: str, **values: Any) -> Trial:
    files = {"S": "driver/unit/s_test.cpp"}
    return host.decide_unit(planned("unit", **values), status, output, files)


def test_failed_unit_test_catches() -> None:
    runs = "[ RUN      ] S.A\n[ RUN      ] I/S.B/0\n"
    done = unit(1, runs + "[  FAILED  ] I/S.B/0, where GetParam() = 1\n")
    assert (done.result, done.by) == ("caught", ("I/S.B/0",))
    assert done.ran[1].file == "driver/unit/s_test.cpp"
    assert unit(0, runs).result == "missed"
    assert unit(-11, runs).by == ("I/S.B/0",)
    assert unit(None, runs).detail == "TIMEOUT in I/S.B/0"
    assert unit(None, runs, results=("TIMEOUT",)).result == "caught"
    assert unit(1, "").result == "broken"


def test_corpus_and_named_input_must_both_detect() -> None:
    of_fuzz = planned("fuzz", rules=("STR-005",))
    assert host.decide_fuzz(of_fuzz, [("h/corpus", True), ("h/x", True)]).failed_rules
    done = host.decide_fuzz(of_fuzz, [("h/corpus", True), ("h/x", False)])
    assert (done.result, done.detail) == ("missed", "not detected by h/x")


def ran(
    *problems: str, verdict: str = "PASSED", own: str = "PASS", other: str = "PASS"
) -> KunitResults:
    """A run of suite s. The case `own` has the fault's rule, `other` another one."""
    cases: dict[str, dict[str, tuple[str, ...]]] = {}
    cases.setdefault(own, {})["s.own"] = ("CNT-001",)
    cases.setdefault(other, {})["s.other"] = ("CNT-002",)
    return KunitResults("6.12", verdict, cases, problems)


def of_kunit(found: KunitResults, clean: KunitResults = ran(), **values: Any) -> Trial:
    return kunit.decide(planned("kunit", **values), clean, found)


def test_kunit_case_or_report_catches() -> None:
    both = of_kunit(ran(verdict="FAILED", own="FAIL", other="FAIL"))
    assert (both.result, both.failed_rules) == ("caught", (("CNT-001", "s.own"),))
    report = of_kunit(ran("BUG: sleeping", verdict="FAILED"))
    assert (report.result, report.by) == ("caught", ("(kernel: BUG: sleeping)",))
    assert of_kunit(ran()).result == "missed"
    assert of_kunit(ran(verdict="FAILED", own="FAIL"), ran(own="FAIL")).result == "missed"
    died = ran("no end", verdict="NOT_JUDGED")
    assert (of_kunit(died).result, of_kunit(died).detail) == ("missed", "CRASH; no end")
    assert of_kunit(died, results=("FAIL", "CRASH")).result == "caught"


def test_suite_of_the_last_catch_runs_first_then_the_one_with_most_tests() -> None:
    cases: dict[str, dict[str, tuple[str, ...]]]
    cases = {"PASS": {"a.x": ("CNT-002",), "b.x": ("CNT-001",), "b.y": ("CNT-001",)}}
    clean = KunitResults("6.12", "PASSED", cases, ())
    assert kunit.first_suites(FAULT, clean, "a.x") == ["a", "b"]
    assert kunit.first_suites(replace(FAULT, rules=()), clean, "gone.x") == []


@pytest.mark.parametrize(("status", "result"), [(0, "caught"), (1, "missed")])
def test_test_of_pytest_that_passes_has_noticed_the_fault(
    monkeypatch: pytest.MonkeyPatch, status: int, result: str
) -> None:
    def fake(words: list[str], **_: object) -> Any:
        assert "driver/tests/a_test.py::test_a" in words
        return subprocess.CompletedProcess(words, status, "out\n", "")

    monkeypatch.setattr(subprocess, "run", fake)
    how = object.__new__(InPytest)
    values = {"rules": ("PM-002",), "test_rule": "PM-002", "test": "driver/tests/a_test.py::test_a"}
    assert how.judge(planned("test", **values)).result == result


def test_test_of_pytest_that_does_not_exist_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = subprocess.CompletedProcess([], 4, "no tests ran\n", "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: gone)
    with pytest.raises(UserError, match="no tests ran"):
        object.__new__(InPytest).judge(planned("test", test="x.py::y"))
