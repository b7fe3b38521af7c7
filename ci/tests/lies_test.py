# SPDX-License-Identifier: Apache-2.0
"""Lies: their files, which case catches which rule, the pages, and the lint step `falsified`."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ci import lies
from ci.checks import falsified
from ci.lying import report, trial
from ci.lying.trial import Pair
from conformance.rules.generate import Rule, read_catalogue
from faults import exempt_rules, lie_file
from faults.lie_file import Lie
from pmubase.errors import UserError
from vm import stock, suite
from vm.suite import Case

ROOT = Path(__file__).resolve().parent.parent.parent
ENTRY = """[[lie]]
id = "count-is-high"
text = "Each count is one too many."
call = "read"
effect = { add = { value = 1 } }
rules = ["CNT-001", "CNT-002"]
cases = ["B.Two"]
"""
CASES = (
    Case("A.Both", ("CNT-001", "CNT-002"), 10, "a.cpp", 1),
    Case("B.Two", ("CNT-002",), 10, "b.cpp", 1),
    Case("C.Other", ("CNT-003",), 10, "c.cpp", 1),
)


def one(tmp_path: Path, text: str = ENTRY) -> Lie:
    path = tmp_path / "CNT.toml"
    path.write_text(text, encoding="utf-8")
    return lie_file.parse(path)[0]


def test_lie_has_its_own_source(tmp_path: Path) -> None:
    path = tmp_path / "CNT.toml"
    path.write_text("# head\n\n" + ENTRY + "\n" + ENTRY.replace("high", "low"), encoding="utf-8")
    first, second = lie_file.parse(path)
    assert first.source == ENTRY + "\n" and second.source == ENTRY.replace("high", "low")
    assert (first.rules, first.target, first.kill) == (("CNT-001", "CNT-002"), "refpmu", ("FAIL",))
    assert first.wants("6.1") and first.wants("6.12")


def test_every_lie_names_rules_that_cases_verify_and_is_unique() -> None:
    found = lie_file.read(ROOT / lie_file.FOLDER)
    assert len(found) > 100
    catalogue = read_catalogue((ROOT / "conformance" / "rules").glob("*.toml"))
    known = {rule.id for rule in catalogue if lie_file.may_name(rule)}
    assert not lie_file.unknown_rules(found, known)


def rule_for(kernels: str) -> Rule:
    return Rule("CNT-001", "MUST", "draft", "driver", "It MUST.", "So.", (), "true", kernels)


def test_lie_without_a_rule_for_the_default_kernel_runs_on_the_newest(tmp_path: Path) -> None:
    old, new = one(tmp_path), one(tmp_path, ENTRY.replace("CNT", "NEW"))
    rules = {
        f"{area}-00{n}": rule_for(kernels)
        for area, kernels in (("CNT", ">=6.1"), ("NEW", ">=7.0"))
        for n in (1, 2)
    }
    plan = lies.plan_kernels([old, new], rules, [])
    assert plan == {"6.12": [old], stock.series()[-1]: [new]}
    assert lies.plan_kernels([old, new], rules, ["6.1"]) == {"6.1": [old]}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            'id = "count-is-high"',
            'id = "Count"',
            "lie.id: 'Count' is not lower-case words with hyphens",
        ),
        ('text = "Each count is one too many."', "", "CNT.toml:1: lie: no key 'text'"),
        ("cases = ", "kases = ", "CNT.toml:1: lie: unknown key 'kases'"),
        ('"CNT-002"]', '"CNT-001"]', "lie.rules: has an entry twice"),
        ("cases = [", 'kill = ["PASS"]\ncases = [', "lie.kill[1]: 'PASS' is not one of FAIL, "),
        ("[[lie]]", "[[lies]]", "unknown key 'lies'"),
        ("effect = {", "effect = [", "CNT.toml: "),
    ],
)
def test_malformed_lie_is_a_one_line_error(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    assert before in ENTRY
    with pytest.raises(UserError) as error:
        one(tmp_path, ENTRY.replace(before, after))
    assert said in str(error.value) and "\n" not in str(error.value)


def test_same_id_in_two_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "A.toml").write_text(ENTRY)
    (tmp_path / "B.toml").write_text(ENTRY)
    with pytest.raises(UserError, match="B.toml: lie 'count-is-high' is also in A.toml"):
        lie_file.read(tmp_path)


def answers(results: dict[str, dict[str, Any]], ran: list[str]) -> Callable[[Case], dict[str, Any]]:
    """Runs cases: `results` by id, PASS for the others."""

    def run(case: Case) -> dict[str, Any]:
        ran.append(case.id)
        given = {"result": "PASS", "message": "lie\n", "lied": 1, "named_rules": []}
        return {**given, **results.get(case.id, {})}

    return run


def test_failure_that_names_the_rule_is_preferred(tmp_path: Path) -> None:
    fail = {"result": "FAIL", "message": "the lie\nwrong\n"}
    ran: list[str] = []
    run = answers({"A.Both": {**fail, "named_rules": ["CNT-001"]}, "B.Two": fail}, ran)
    pairs = trial.judge(one(tmp_path), CASES, run, lambda case: True)
    assert pairs == [
        Pair("count-is-high", "CNT-001", "CAUGHT", "A.Both", True, "wrong"),
        Pair("count-is-high", "CNT-002", "CAUGHT", "B.Two", True, "wrong"),
    ]
    assert ran == [
        "B.Two",
        "A.Both",
    ], "the named case is first; a case of no wanted rule does not run"


def test_failure_without_the_rule_still_counts(tmp_path: Path) -> None:
    text = ENTRY.replace('cases = ["B.Two"]', "")
    fail = {"result": "FAIL", "named_rules": ["CNT-001"]}
    pairs = trial.judge(
        one(tmp_path, text), CASES, answers({"A.Both": fail}, []), lambda case: True
    )
    assert [(pair.rule, pair.caught, pair.named) for pair in pairs] == [
        ("CNT-001", True, True),
        ("CNT-002", True, False),
    ]


@pytest.mark.parametrize(
    "result",
    [
        {"result": "PASS"},
        {"result": "BROKEN"},
        {"result": "SKIP"},
        {"result": "TIMEOUT"},
        {"result": "FAIL", "lied": 0},
    ],
)
def test_other_results_are_no_catch(tmp_path: Path, result: dict[str, Any]) -> None:
    run = answers({"A.Both": result, "B.Two": result}, [])
    pairs = trial.judge(one(tmp_path), CASES, run, lambda case: True)
    assert [pair.result for pair in pairs] == ["MISSED", "MISSED"]
    assert report.status([report.row("6.12", one(tmp_path), pair) for pair in pairs]) == 1


def test_case_that_fails_without_the_lie_catches_nothing(tmp_path: Path) -> None:
    run = answers({"A.Both": {"result": "FAIL"}, "B.Two": {"result": "FAIL"}}, [])
    pairs = trial.judge(one(tmp_path), CASES, run, lambda case: False)
    assert [pair.result for pair in pairs] == ["SKIPPED", "SKIPPED"]


def test_results_have_totals_and_pairs(tmp_path: Path) -> None:
    lie = one(tmp_path)
    rows = [
        report.row("6.12", lie, Pair(lie.id, "CNT-001", "CAUGHT", "A.Both", True, "wrong")),
        report.row("6.12", lie, Pair(lie.id, "CNT-002", "MISSED", "B.Two", message="PASS")),
    ]
    report.write(rows, tmp_path, partial=False)
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["totals"] == {"cases": 2, "passed": 1, "failed": 1, "skipped": 0}
    page = (tmp_path / "lies.md").read_text()
    assert "| CNT.toml | 6.12 | 2 | 1 | 1 |\n" in page
    assert "- count-is-high/CNT-002 on 6.12: MISSED PASS\n" in page


def test_unknown_lie_is_a_one_line_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lies.main(["--lies", "no-such*", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == "lies: no lie matches 'no-such*'\n"
    assert not (tmp_path / "results.json").exists()


def pmuconf(*words: str) -> subprocess.CompletedProcess[str]:
    argv = [str(suite.binary()), "case", "Counting.OpenedDisabledReadsZero", "--target", "software"]
    return subprocess.run([*argv, *words], capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        (None, "{}:x", "{}: cannot be read"),
        (ENTRY, "{}:other", "{}: has no lie 'other'"),
        (ENTRY.replace("value", "valve"), "{}:count-is-high", "is no field of call 'read'"),
        (ENTRY.replace("read", "reed"), "{}", "key 'lie.call' must be one of open, ioctl, read"),
    ],
)
def test_bad_lie_is_a_one_line_error_of_pmuconf(
    tmp_path: Path, text: str | None, name: str, said: str
) -> None:
    path = tmp_path / "x.toml"
    if text is not None:
        path.write_text(text)
    done = pmuconf("--lie", name.format(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert said.format(path) in done.stderr and done.stderr.count("\n") == 1


def laid_out(root: Path, lie_rules: str, reasons: str = "") -> Path:
    """A project with three rules, a mutant that names CNT-001, and a lie."""
    folder = root / "conformance" / "rules"
    folder.mkdir(parents=True)
    text = '[[rule]]\nid = "CNT-00{}"\nlevel = "MUST"\nstatus = "active"\nsubject = "driver"\n'
    text += 'text = "It MUST."\n'
    text += 'why = "So."\nsource = ["man:x(1)#x"]\napplies = "true"\nkernels = ">=6.1"\n'
    (folder / "CNT.toml").write_text("".join(text.format(n) for n in (1, 2, 3)))
    mutants = root / falsified.MUTANTS
    mutants.mkdir(parents=True)
    diff = "--- a/driver/core/x.c\n+++ b/driver/core/x.c\n@@ -1 +1 @@\n-a\n+b\n"
    (mutants / "M01-1-x.patch").write_text(
        f"Id: M01-1\nClass: C01\nRules: CNT-001\n\nText.\n\n{diff}"
    )
    (mutants / exempt_rules.NAME).write_text(reasons)
    (mutants / falsified.SEEDED).write_text("")
    data = root / lie_file.FOLDER
    data.mkdir(parents=True)
    (data / "CNT.toml").write_text(ENTRY.replace('"CNT-001", "CNT-002"', lie_rules))
    return root


def test_rule_without_evidence_is_reported(tmp_path: Path) -> None:
    assert falsified.findings(laid_out(tmp_path, '"CNT-002"')) == [
        "CNT-003: no mutant and no lie names it, and exempt_rules.toml gives no reason"
    ]


def test_outdated_reason_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(falsified, "MOST_EXEMPT", 1.0)
    reasons = '[[exempt]]\nrules = ["CNT-001", "CNT-002"]\nreason = "r"\n'
    assert falsified.findings(laid_out(tmp_path, '"CNT-002", "CNT-003"', reasons)) == [
        "CNT-001: exempt_rules.toml gives a reason, but mutant M01-1 names it",
        "CNT-002: exempt_rules.toml gives a reason, but lie count-is-high names it",
    ]


def test_too_many_reasons_are_reported(tmp_path: Path) -> None:
    reasons = '[[exempt]]\nrules = ["CNT-003"]\nreason = "r"\n'
    assert falsified.findings(laid_out(tmp_path, '"CNT-002"', reasons)) == [
        "exempt_rules.toml: 1 rules with a reason and 0 reviewed ones are more than 5% of 3 (0)"
    ]


def test_lie_with_an_unknown_rule_is_reported(tmp_path: Path) -> None:
    assert falsified.findings(laid_out(tmp_path, '"CNT-077"')) == [
        "CNT.toml: lie 'count-is-high': no active or draft rule that tests verify CNT-077"
    ]
