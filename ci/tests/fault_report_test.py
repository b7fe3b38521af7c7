# SPDX-License-Identifier: Apache-2.0
"""ci/faults plans trials, joins and reports their results, and records those that need not run again."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ci import parts
from ci.faults import __main__ as program
from ci.faults import kernels, passes, report
from ci.faults.catchers import Catchers
from ci.faults.judging import is_decided, plan
from ci.faults.progress import Progress
from ci.faults.trial import HOST, Goal, Planned, Ran, Trial
from ci.remember import records
from faults import fault as fault_file
from faults.fault import OBSERVERS, Fault
from pmubase.errors import UserError
from vm import arch, stock
from vm.suite import Case

FAULT = Fault("M1-1", Path("M1-1-x.patch"), "It is wrong.", "driver", ("CNT-001",))
RANGES = {"CNT-001": ">=6.1", "CNT-002": ">=7.2"}


def fault(**values: Any) -> Fault:
    return replace(FAULT, **values)


def done(
    result: str = "caught", kernel: str = "6.12", observer: str = "suite", **values: Any
) -> Trial:
    by = ("A.One",) if result == "caught" else ()
    return replace(Trial(FAULT, kernel, observer, result, by, tried=3), **values)


def places(one: Fault, *asked: str, observers: tuple[str, ...] = OBSERVERS) -> list[str]:
    return [f"{p.observer} {p.kernel}" for p in plan(one, asked, observers, RANGES)]


def test_trials_are_planned_by_cost_and_kernel() -> None:
    many = fault(observers=("unit", "suite"))
    assert places(many, "6.1", "6.12") == ["unit host", "suite 6.1", "suite 6.12"]
    assert places(many, observers=("suite",)) == ["suite 6.12"]
    assert places(fault(kernels=("6.1",)), "6.12") == []
    assert places(many, "6.12-debug") == []
    assert places(fault(kernels=("6.12-debug",)), "6.12-debug") == ["suite 6.12-debug"]


def test_fault_of_the_kernel_is_planned_on_each_architecture(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernels, "arches_of", lambda names: [arch.AMD64, arch.ARM64][: len(names)])
    one = fault(breaks="kernel", kernels=("6.12",), targets=("intel", "arm"))
    assert places(one, "6.12") == ["suite 6.12-msr", "suite 6.12-arm64"]
    assert places(one, "6.1") == []


def test_fault_of_a_device_runs_on_its_own_kernel() -> None:
    assert places(fault(breaks="device", kernels=("6.1", "6.12"))) == ["suite 6.12"]
    one = fault(breaks="device", kernels=("7.2",))
    assert places(one) == ["suite 7.2"]
    assert places(one, "6.12") == []


def test_answer_runs_where_one_of_its_rules_applies() -> None:
    one = fault(breaks="answer", rules=("CNT-002",))
    assert places(one) == [f"suite {stock.series()[-1]}"]
    assert places(one, "6.12") == []
    both = fault(breaks="answer", rules=("CNT-001", "CNT-002"))
    (planned,) = plan(both, (), OBSERVERS, RANGES)
    assert (planned.kernel, planned.rules) == ("6.12", ("CNT-001",))
    assert places(fault(breaks="answer", kernels=("6.1",))) == []


def test_other_observers_are_left_out_only_if_one_was_enough() -> None:
    any_of = fault(any_of=True)
    planned = Planned(any_of, "6.12", "suite")
    assert is_decided(planned, [done(kernel=HOST)], Goal.CATCH)
    assert is_decided(planned, [done(kernel="6.12")], Goal.CATCH)
    assert not is_decided(planned, [done(kernel="6.1")], Goal.CATCH)
    assert not is_decided(planned, [done("missed", HOST)], Goal.CATCH)
    assert not is_decided(planned, [done(kernel=HOST)], Goal.ALL)
    assert not is_decided(planned, [done(kernel=HOST)], Goal.RULES)
    failed = done(kernel=HOST, failed_rules=(("CNT-001", "A"),))
    assert is_decided(planned, [failed], Goal.RULES)
    assert not is_decided(replace(planned, fault=FAULT), [done(kernel=HOST)], Goal.CATCH)
    on_arm = Planned(fault(breaks="kernel"), "6.12-arm64", "suite")
    assert is_decided(on_arm, [done(kernel="6.12-msr")], Goal.CATCH)


def test_each_observer_or_one_of_them_must_catch() -> None:
    assert report.verdict([done(), done("missed", observer="kunit")]) == "missed"
    assert report.verdict([done("missed"), done("broken", "6.1")]) == "broken"
    one = fault(any_of=True)
    both = [done(fault=one), done("missed", observer="kunit", fault=one)]
    assert report.verdict(both) == "caught"
    assert report.verdict([*both, done("missed", "6.1", fault=one)]) == "missed"
    assert report.verdict([done("missed", fault=one), done("caught", HOST, "unit", fault=one)])
    of_kernel = fault(breaks="kernel")
    on_arm = done("missed", "6.12-arm64", fault=of_kernel)
    assert report.verdict([done("caught", "6.12-msr", fault=of_kernel), on_arm]) == "caught"


@pytest.mark.parametrize(
    ("trials", "status"),
    [
        ([done()], 0),
        ([done(), done("missed", "6.1")], 1),
        ([done("broken")], 2),
        ([done("missed", fault=fault(missed=True))], 0),
        ([done(fault=fault(missed=True))], 1),
        ([], 2),
    ],
)
def test_status_is_0_only_if_all_results_are_as_expected(trials: list[Trial], status: int) -> None:
    assert report.status(trials, [], []) == status
    assert report.status(trials, [], ["A.One on 6.12: FAIL"]) == 2
    assert report.status(trials, ["no patch"], []) in (status or 2, 2)


def test_caught_fault_must_not_be_an_expected_miss() -> None:
    assert "caught by A.One: remove 'Expect'" in report.problem([done(fault=fault(missed=True))])


def test_miss_is_explained_by_its_tests_and_a_command() -> None:
    ran = (Ran("A.One", "PASS", ("CNT-001",)), Ran("A.Two", "SKIP", ("CNT-009",)), Ran("B", "PASS"))
    text = report.summary([done("missed", ran=ran)], ["E"], ["F"], ["N"], rules=False)
    assert text.splitlines() == [
        "not judged: E",
        "the clean original is not clean: F",
        "clean: N; this case catches no fault",
        "M1-1 on 6.12: missed (3 tests tried by the suite)",
        "  tests of its rules (CNT-001): A.One PASS",
        "  nearest other tests (same file or area of rules): A.Two SKIP",
        "  again: python3 -m ci.faults --id M1-1 --observer suite --fresh --kernel 6.12",
        "1 faults: 1 missed, 1 not judged; 1 trials, 0 recorded before",
    ]


def test_rules_that_nothing_failed_are_named_if_asked_for() -> None:
    text = report.summary([done()], [], [], [], rules=True)
    assert "M1-1: rule CNT-001: not failed by this fault" in text
    failed = done(failed_rules=(("CNT-001", "A.One"),))
    assert report.unfailed([failed]) == report.unfailed([done(observer="unit")]) == []


def test_catch_by_other_rules_is_marked() -> None:
    assert "(by other rules than it names)" in report.line(done())
    assert "other rules" not in report.line(done(failed_rules=(("CNT-001", "A.One"),)))


def test_results_have_a_case_for_each_fault_and_the_evidence_of_rules(tmp_path: Path) -> None:
    second = fault(id="M2-1", path=Path("M2-1-y.patch"))
    trials = [done(failed_rules=(("CNT-001", "A.One"),)), done("missed", fault=second)]
    report.write(trials, ["E"], ["F"], ["Q01"], tmp_path)
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["totals"] == {"cases": 5, "passed": 1, "failed": 3, "skipped": 1}
    assert [(case["id"], case["result"]) for case in found["cases"]] == [
        ("Q01", "SKIP"),
        ("M1-1-x", "PASS"),
        ("M2-1-y", "FAIL"),
    ]
    assert found["problems"] == ["E", "clean original: F"]
    entry = {"kind": "driver", "id": "M1-1", "observer": "suite", "test": "A.One"}
    evidence = json.loads((tmp_path / "rules.json").read_text())
    assert evidence == {"CNT-001": [{**entry, "kernel": "6.12"}]}
    assert "| M2-1 | 6.12 | suite | missed |" in (tmp_path / "faults.md").read_text()


@pytest.fixture(name="cache")
def fixture_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def test_last_catch_is_remembered(cache: Path) -> None:
    assert Catchers.read().last(FAULT, "suite") == ""
    Catchers.read().write([done(), done(by=("B.Three",)), done("missed")])
    assert Catchers.read().last(FAULT, "suite") == "B.Three"
    assert Catchers.read().last(FAULT, "kunit") == ""
    next(cache.rglob("catchers.json")).write_text("[")
    assert Catchers.read().last(FAULT, "suite") == ""


CASES = {"A.One": Case("A.One", ("CNT-001",), 1.0, "conformance/cases/a_test.cpp", 1)}


@pytest.mark.parametrize(
    ("result", "by", "expected", "kept"),
    [
        ("caught", ("A.One",), False, True),
        ("caught", ("(load)",), False, False),
        ("missed", (), True, True),
        ("missed", (), False, False),
        ("broken", (), False, False),
    ],
)
def test_expected_result_is_recorded_for_the_same_goal(
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    result: str,
    by: tuple[str, ...],
    expected: bool,
    kept: bool,
) -> None:
    monkeypatch.setattr(passes, "stated", lambda planned, goal: [f"text:{goal.name}"])
    monkeypatch.setattr(passes.INPUTS, "digests", lambda names: {name: name for name in names})
    monkeypatch.setattr(
        records,
        "passed",
        lambda unit, inputs, wanted: next(
            (r for r in records.read(unit) if set(wanted) <= r.inputs.keys()), None
        ),
    )
    one = done(result, by=by, fault=fault(missed=expected))
    planned = Planned(one.fault, "6.12", "suite", ("CNT-001",))
    passes.record(one, planned, Goal.CATCH, CASES)
    found = passes.recorded(planned, Goal.CATCH)
    assert (found is not None) == kept
    assert found is None or (found.result, found.by, found.recorded) == (result, by, True)
    assert passes.recorded(planned, Goal.RULES) is None
    assert passes.recorded(planned, Goal.ALL) is None
    for record in records.read(passes.unit_of(planned)):
        last = "suite:cases" if result == "missed" else "case:conformance/cases/a_test.cpp"
        assert list(record.inputs) == ["text:CATCH", last]


def test_progress_counts_trials_and_estimates_the_rest(cache: Path) -> None:
    out = io.StringIO()
    several = [Planned(fault(path=Path(f"M1-{n}-x.patch")), "6.12", "suite") for n in range(3)]
    with Progress(several, 2, out) as progress:
        progress.end(several[0], done("missed", fault=several[0].fault, took_s=4))
        assert progress.state().startswith("[1/3] trials, 1 not caught")
        progress.remove(several[1])
        progress.end(several[2], done(fault=several[2].fault, recorded=True))
        assert progress.state().startswith("[2/2] trials, 1 not caught")
    lines = out.getvalue().splitlines()
    assert lines[0] == "3 trials, 3 of them for the first time: about 15 s"
    assert len([line for line in lines if line.startswith("M1-1")]) == 1


def test_parts_together_have_every_fault_once() -> None:
    every = fault_file.read_all()
    divided = [parts.part_of(every, n + 1, 12) for n in range(12)]
    names = [one.name for part in divided for one in part]
    assert sorted(names) == sorted(one.name for one in every)
    assert max(map(len, divided)) < 2 * min(map(len, divided))
    for text in ("0/2", "3/2", "1", "x/2"):
        with pytest.raises(ValueError):
            parts.numbers(text)


@pytest.mark.parametrize("words", [["--id", "X999"], ["--kind", "kernel", "--observer", "unit"]])
def test_selection_of_nothing_is_a_one_line_error(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main([*words, "--out", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line in ("faults: no fault 'X999'", "faults: no such fault")
    assert not (tmp_path / "results.json").exists()


class Options:
    kind = id = observer = None
    part = (1, 1)


def test_faults_are_selected_by_kind_observer_and_globs() -> None:
    options: Any = Options()
    options.id = ["M1-*,none-*"]
    with pytest.raises(UserError, match=r"no fault 'none-\*'"):
        program.selected([FAULT], options)
    options.id = ["M1-*"]
    assert program.selected([FAULT, fault(id="K1")], options) == [FAULT]
    options.observer = ["kunit"]
    with pytest.raises(UserError, match="no such fault"):
        program.selected([FAULT], options)
