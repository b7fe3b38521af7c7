# SPDX-License-Identifier: Apache-2.0
"""A unit that passed runs again only after a change of an input. A failed unit always runs again."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path

import pytest

from ci.timed_commands import Commands
from ci.units import records, traces, unit
from ci.units.inputs import Inputs
from ci.units.records import Case, Record
from ci.units.runner import Runner
from ci.units.unit import Outcome, Unit


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own cache, in which units run."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / name).write_text("x\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(unit, "OUT", folder / "out")
    monkeypatch.setattr(unit, "ROOT", folder)
    monkeypatch.setattr("ci.timed_commands.ROOT", folder)
    (folder / ".gitignore").write_text("out/\nran\n", encoding="utf-8")
    return folder


def of(project: Path, script: str = "cat a.txt", **changed: object) -> Unit:
    plain = Unit("group/one", (("sh", "-c", f"echo x >>ran; {script}"),), 60, "repeat", traced=True)
    return dataclasses.replace(plain, **changed)


def run(project: Path, which: Unit, fresh: bool = False) -> Outcome:
    return Runner(Inputs(project), Commands(), fresh).run(which)


def times(project: Path) -> int:
    return len((project / "ran").read_text(encoding="utf-8").split())


def test_a_pass_is_cached_until_a_file_that_it_read_changes(project: Path) -> None:
    which = of(project)
    assert not run(project, which).cached
    assert run(project, which).cached
    (project / "b.txt").write_text("not read\n", encoding="utf-8")
    assert run(project, which).cached
    assert times(project) == 1
    (project / "a.txt").write_text("y\n", encoding="utf-8")
    again = run(project, which)
    assert (again.cached, again.why) == (False, "changed: file:a.txt")
    assert times(project) == 2


def test_reverted_change_is_cached_again(project: Path) -> None:
    run(project, of(project))
    (project / "a.txt").write_text("y\n", encoding="utf-8")
    run(project, of(project))
    (project / "a.txt").write_text("x\n", encoding="utf-8")
    assert run(project, of(project)).cached


def test_a_failure_is_never_cached(project: Path) -> None:
    for _ in range(2):
        outcome = run(project, of(project, "exit 3"))
        assert (outcome.cached, outcome.failed) == (
            False,
            [Case("group/one", "FAIL", (), "status 3")],
        )
    with pytest.raises(ValueError, match="never recorded"):
        records.write(Record("group/one", {}, (Case("a", "FAIL"),), 1.0))


def test_other_parameters_run_again(project: Path) -> None:
    run(project, of(project))
    assert not run(project, of(project, "cat a.txt b.txt")).cached


def test_a_fresh_run_runs_what_is_cached(project: Path) -> None:
    run(project, of(project))
    outcome = run(project, of(project), fresh=True)
    assert (outcome.cached, outcome.remarks, times(project)) == (False, (), 2)


def test_fresh_run_reports_a_different_result_and_removes_the_record(project: Path) -> None:
    script = "cat a.txt; test $(wc -l <ran) = 1"
    assert not run(project, of(project, script)).failed
    outcome = run(project, of(project, script), fresh=True)
    assert outcome.failed
    assert "the same inputs gave another result" in outcome.remarks[0]
    assert outcome.remarks[1:] == ("group/one: PASS before, FAIL now",)
    assert records.read("group/one") == []


def test_an_input_that_is_written_while_the_unit_runs_makes_no_record(project: Path) -> None:
    script = "cat a.txt; sh -c 'cp b.txt new; mv new a.txt'"
    slow = of(project, script, traced=False, reads=("file:a.txt",))
    assert not run(project, slow).failed
    assert not run(project, slow).cached


def test_a_machine_that_cannot_trace_runs_again_after_any_change(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "can_trace", lambda: False)
    run(project, of(project))
    assert run(project, of(project)).cached
    (project / "b.txt").write_text("y\n", encoding="utf-8")
    assert not run(project, of(project)).cached


def test_unit_over_its_budget_fails_with_its_limit(project: Path) -> None:
    outcome = run(project, of(project, "exec sleep 100", budget_s=1))
    assert [case.message for case in outcome.failed] == ["not finished after 1 s"]


def test_report_without_a_pass_is_a_failure(project: Path) -> None:
    report = project / "out" / "r.json"
    text = '{"totals": {"cases": 0, "passed": 0, "skipped": 0}, "cases": []}'
    outcome = run(project, of(project, f"mkdir -p out; echo '{text}' >{report}", report=report))
    assert [case.message for case in outcome.failed] == ["no test passed"]


def test_a_missing_report_is_a_failure_that_names_it(project: Path) -> None:
    report = project / "out" / "none.json"
    (case,) = run(project, of(project, report=report)).failed
    assert str(report) in case.message


def test_unreadable_record_counts_as_missing(project: Path) -> None:
    run(project, of(project))
    for path in (records.folder()).rglob("*.json"):
        path.write_text("{", encoding="utf-8")
    assert not run(project, of(project)).cached


def test_sources_of_cases_that_a_guest_ran_are_inputs(project: Path) -> None:
    source = project / "conformance" / "cases" / "a" / "b_test.cpp"
    source.parent.mkdir(parents=True)
    source.write_text("CONFORMANCE_CASE(Counting, Wraps, .rules = {}) {}\n", encoding="utf-8")
    program = project / "build" / "guest" / "conformance" / "pmuconf"
    program.parent.mkdir(parents=True)
    program.write_text("", encoding="utf-8")
    script = f'cat {program}; echo Counting.Wraps >>"$PMUCONF_CASES_LOG"'
    run(project, of(project, script))
    (record,) = records.read("group/one")
    assert {"case:conformance/cases/a/b_test.cpp", "suite:runner"} <= record.inputs.keys()
    run(project, of(project, f'{script}; echo Other.Case >>"$PMUCONF_CASES_LOG"'))
    assert "suite:cases" in records.read("group/one")[0].inputs


def test_records_of_a_unit_are_bounded(project: Path) -> None:
    for number in range(records.KEPT + 5):
        records.write(Record("group/one", {"text:a": str(number)}, (Case("a", "PASS"),), 1.0))
    assert len(records.read("group/one")) == records.KEPT


def test_killed_mutant_counts_as_passed(tmp_path: Path) -> None:
    rows = [
        {
            **{"id": name, "kernel": "6.12", "observer": "suite", "detail": "why"},
            **{"result": result, "verdict": verdict},
        }
        for name, result, verdict in (
            ("C01", "KILLED", "KILLED"),
            ("C02", "SURVIVED", "SURVIVED"),
            ("C03", "SURVIVED", "KILLED"),
        )
    ]
    path = tmp_path / "results.json"
    totals = {"cases": 3, "passed": 2, "failed": 1, "skipped": 0}
    path.write_text(json.dumps({"totals": totals, "mutants": rows}), encoding="utf-8")
    assert unit.read_report(path) == (
        Case("C01 by suite on 6.12", "PASS", (), "why"),
        Case("C02 by suite on 6.12", "SURVIVED", (), "why"),
        Case("C03 by suite on 6.12", "PASS", (), "why"),
    )


def test_report_with_only_totals_has_that_number_of_tests(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"totals": {"cases": 6, "passed": 3, "skipped": 2}}', encoding="utf-8")
    results = [case.result for case in unit.read_report(path)]
    assert results == ["PASS"] * 3 + ["SKIP"] * 2 + ["FAIL"]
