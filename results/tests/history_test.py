# SPDX-License-Identifier: Apache-2.0
"""The history keeps each run once, and names exactly the rules that differ between two commits."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from results import history, reports
from results.__main__ import main
from results.errors import ResultsError
from results.tests import measured, runs

OLD, NEW = "a" * 40, "b" * 40
NAMES = {"CNT-001": "A.One", "CNT-002": "A.Two", "CNT-003": "A.Three", "CNT-004": "A.Four"}


def results(folder: Path, name: str, target: str = "refpmu", **changed: str) -> Path:
    """A file in which all rules passed, except the changed ones: CNT_002="FAILED"."""
    of = {rule: changed.get(rule.replace("-", "_"), "PASSED") for rule in NAMES}
    rules = [
        {"id": rule, "level": "MUST", "subject": "driver", "result": result, "text": "."}
        | {"why": "", "source": []}
        for rule, result in of.items()
    ]
    cases = [
        {"id": NAMES[rule], "rules": [rule], "duration_s": 0.5, "message": "", "result": result}
        for rule, result in ((r, "FAIL" if of[r] == "FAILED" else "PASS") for r in of)
    ]
    data: dict[str, Any] = {"verdict": "CONFORMANT", "reason": name, "target": target}
    data |= {"kernel": "6.12", "release": "6.12.9", "arch": "x86_64", "profile": ""}
    data |= {
        "verdict_of": "target",
        "verdicts": [],
        "totals": {"passed": 4},
        "skip_reasons": {},
        "cases": cases,
        "rules": rules,
    }
    data |= {"drafts": [], "problems": []}
    file = folder / f"{name}.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    return file


@pytest.fixture(name="file")
def fixture_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PMUCONF_HISTORY", str(tmp_path / "new" / "history.sqlite"))
    return tmp_path / "new" / "history.sqlite"


def add(commit: str, *paths: Path, machine: str = "m") -> None:
    words = ["history", "add", *map(str, paths), "--commit", commit, "--machine", machine]
    assert main(words) == 0


def test_run_is_added_once(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = results(tmp_path, "one")
    add(OLD, one)
    add(OLD, one)
    add(NEW, one)
    assert capsys.readouterr().out == f"{one}: run 1\n{one}: already there\n{one}: run 2\n"
    with history.opened(file) as database:
        assert [(run.id, run.commit) for run in history.runs(database)] == [(1, OLD), (2, NEW)]


@pytest.mark.parametrize(("count", "kept"), [(1, True), (4 * 16, False)])
def test_history_keeps_small_measurements(
    file: Path, tmp_path: Path, count: int, kept: bool
) -> None:
    one = results(tmp_path, "one")
    data = json.loads(one.read_text(encoding="utf-8"))
    for case in data["cases"]:
        case["measurements"] = [measured.largest("spans")] * 4
    data["cases"] *= count // 4 or 1
    for number, case in enumerate(data["cases"]):
        data["cases"][number] = case | {"id": f"{case['id']}{number}"}
    one.write_text(json.dumps(data), encoding="utf-8")
    add(OLD, one)
    with history.opened(file) as database:
        stored = history.document_of(database, 1).data
    assert [case.get("measurements") for case in stored["cases"]] == [
        case["measurements"] if kept else None for case in data["cases"]
    ]


def test_diff_names_exactly_the_rules_that_changed(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(OLD, results(tmp_path, "one", CNT_003="FAILED"), results(tmp_path, "other", "software"))
    add(NEW, results(tmp_path, "two", CNT_002="FAILED", CNT_004="NOT_APPLICABLE"))
    add(NEW, results(tmp_path, "same", "software"))
    capsys.readouterr()
    assert main(["history", "diff"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "refpmu on 6.12 x86_64, m:",
        "  newly failing: CNT-002 (A.Two)",
        "  fixed: CNT-003",
        "  newly skipped: CNT-004",
        "aaaaaaaaaaaa to bbbbbbbbbbbb: 1 of 2 cells differ",
    ]
    assert main(["history", "diff", "bb", "aa"]) == 1  # The other way, CNT-003 newly fails.
    assert "newly failing: CNT-003 (A.Three)" in capsys.readouterr().out
    assert file.is_file()


def test_equal_runs_do_not_differ(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(OLD, results(tmp_path, "one"))
    add(NEW, results(tmp_path, "two"))
    capsys.readouterr()
    assert main(["history", "diff", "--file", str(file)]) == 0
    assert capsys.readouterr().out == "aaaaaaaaaaaa to bbbbbbbbbbbb: 0 of 1 cells differ\n"


def test_rule_that_fails_in_some_runs_of_a_commit_is_flaky(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(OLD, results(tmp_path, "one"))
    add(NEW, results(tmp_path, "two"), results(tmp_path, "three", CNT_002="FAILED"))
    capsys.readouterr()
    assert main(["history", "diff"]) == 0 and file.is_file()
    assert "  flaky: CNT-002 (A.Two)" in capsys.readouterr().out


def test_runs_of_other_machines_are_not_compared(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(OLD, results(tmp_path, "one"))
    add(NEW, results(tmp_path, "two"), machine="other")
    assert main(["history", "diff"]) == 2 and file.is_file()
    assert f"no cell has runs of both {OLD} and {NEW}" in capsys.readouterr().err


def test_list_has_a_line_for_each_run(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(OLD, results(tmp_path, "one"), results(tmp_path, "two", "software"))
    capsys.readouterr()
    assert main(["history", "show", "--target", "ref*"]) == 0 and file.is_file()
    head, line = capsys.readouterr().out.splitlines()
    assert head.split()[:3] == ["run", "added", "commit"]
    words = line.split()
    assert words[0] == "1" and words[2:] == [
        *("aaaaaaaaaaaa", "refpmu", "6.12", "x86_64", "m", "CONFORMANT", "4", "2")
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show"], "no such file: add runs first"),
        (["diff"], "no such file: add runs first"),
        (["add", "nosuch.json"], "nosuch.json: No such file or directory"),
    ],
)
def test_missing_file_is_one_line(
    file: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["history", *words]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1 and not file.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["diff"], "the history has runs of fewer than two commits"),
        (["diff", "cc"], "no commit 'cc' has runs"),
        (["diff", "aa"], "the same commit twice: aaaaaaaaaaaa"),
    ],
)
def test_unknown_commit_is_one_line(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    add(OLD, results(tmp_path, "one"))
    assert main(["history", *words]) == 2 and file.is_file()
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_ambiguous_commit_is_refused(file: Path, tmp_path: Path) -> None:
    add("abc", results(tmp_path, "one"))
    add("abd", results(tmp_path, "two"))
    with history.opened(file) as database:
        with pytest.raises(ResultsError, match="more than one commit 'ab' has runs"):
            history.commit_of(database, "ab")
        assert history.commit_of(database, "abd") == "abd"


@pytest.mark.parametrize("content", [b"no database", None])
def test_other_file_is_refused_and_stays_as_it_is(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    file.parent.mkdir()
    if content is None:
        with sqlite3.connect(file) as database:
            database.execute("CREATE TABLE other (x)")
        database.close()
    else:
        file.write_bytes(content * 100)
    before = file.read_bytes()
    words = ["history", "add", str(results(tmp_path, "one")), "--commit", OLD]
    assert main(words) == 2
    assert capsys.readouterr().err.startswith(f"results: {file}: ")
    assert file.read_bytes() == before


def test_bad_run_among_several_adds_none(file: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text("{}", encoding="utf-8")
    words = ["history", "add", str(results(tmp_path, "one")), str(bad), "--commit", OLD]
    assert main(words) == 2 and not file.exists()


def test_commit_of_the_checkout_is_the_default(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reports, "commit_of_checkout", lambda: NEW)
    assert main(["history", "add", str(results(tmp_path, "one"))]) == 0
    with history.opened(file) as database:
        assert history.commits(database) == [NEW]


def test_planted_failure_is_the_only_difference_of_whole_runs(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add(OLD, runs.judged(tmp_path / "good").path)
    failed = {"Counting.DisabledTimeIsNotCounted": "a count"}
    add(NEW, runs.judged(tmp_path / "bad", failed=failed).path)
    capsys.readouterr()
    assert main(["history", "diff"]) == 1 and file.is_file()
    (case,) = [one for one in runs.cases() if one["id"] in failed]
    wanted = [f"  newly failing: {rule} ({case['id']})" for rule in sorted(case["rules"])]
    assert capsys.readouterr().out.splitlines()[1:-1] == wanted
