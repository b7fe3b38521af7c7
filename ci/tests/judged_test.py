# SPDX-License-Identifier: Apache-2.0
"""judged.json has the results of each rule on each target and kernel."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ci import judged
from ci.judged import Case, Judged
from conformance.rules.evidence import read_tests
from pmubase import store

NOON = "2026-11-25T12:00:00"


def report(**changes: Any) -> dict[str, Any]:
    """A results.json of the suite."""
    return {
        "verdict": "NOT_CONFORMANT",
        "target": "amd",
        "kernel": "6.12",
        "release": "6.12.117",
        "arch": "x86_64",
        "profile": "",
        "cases": [
            {"id": "A.Pass", "rules": ["CNT-001"], "result": "PASS", "message": ""},
            {"id": "A.Skip", "rules": ["CNT-003"], "result": "SKIP", "message": "needs x"},
            {"id": "A.Fail", "rules": ["CNT-002"], "result": "FAIL", "message": "7, not 8\nmore"},
        ],
        "rules": [
            {"id": "CNT-001", "result": "PASSED"},
            {"id": "CNT-002", "result": "FAILED"},
            {"id": "CNT-003", "result": "NOT_APPLICABLE"},
            {"id": "DRV-001", "result": "NOT_RUN"},
        ],
        **changes,
    }


AMD = Judged(
    "cases",
    "amd",
    "6.12",
    "x86_64",
    NOON,
    {"CNT-001": "PASSED", "CNT-002": "FAILED", "CNT-003": "NOT_APPLICABLE"},
    ({"case": "A.Fail", "result": "FAIL", "message": "7, not 8", "rules": ["CNT-002"]},),
)


def test_report_of_the_suite_has_the_rules_that_it_judged_and_the_bad_cases() -> None:
    assert judged.of_report(report(), NOON) == AMD


@pytest.mark.parametrize(
    "changes", [{"verdict": "PARTIAL"}, {"verdict": "NOT_JUDGED"}, {"profile": "counting-1.0"}]
)
def test_run_of_a_part_of_the_catalogue_is_not_recorded(changes: dict[str, str]) -> None:
    assert judged.of_report(report(**changes), NOON) is None


def test_report_of_kunit_judges_the_rules_of_its_cases() -> None:
    cases = [
        {"id": "s.one", "result": "PASS", "rules": ["DRV-001", "DRV-002"], "message": ""},
        {"id": "s.two", "result": "FAIL", "rules": ["DRV-002"], "message": "no"},
    ]
    found = judged.of_report({"verdict": "FAILED", "kernel": "6.1", "cases": cases}, NOON)
    assert found is not None
    assert found.key == ("kunit", "refpmu", "6.1", "x86_64")
    assert found.rules == {"DRV-001": "PASSED", "DRV-002": "FAILED"}
    assert [bad["case"] for bad in found.bad] == ["s.two"]


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        (["PASS", "SKIP"], "PASSED"),
        (["PASS", "WAIVED"], "WAIVED"),
        (["PASS", "CRASH"], "FAILED"),
        (["PASS", "BROKEN"], "INCOMPLETE"),
        (["SKIP"], "NOT_APPLICABLE"),
        (["NOT_RUN"], None),
    ],
)
def test_worst_case_decides_the_result_of_a_rule(results: list[str], expected: str | None) -> None:
    cases = [Case(f"A.{n}", result, ("CNT-001",)) for n, result in enumerate(results)]
    assert judged.results_of(cases).get("CNT-001") == expected


def test_rules_of_marked_python_tests_that_passed_are_recorded_together(tmp_path: Path) -> None:
    marked = [test for test in read_tests(store.ROOT) if test.layer != "kunit"]
    tests = list({test.file: test for test in marked}.values())[:2]
    paths = []
    for number, test in enumerate(tests):
        module = test.file.removesuffix(".py").replace("/", ".")
        case = f'<testcase classname="{module}" name="{test.name}[1]">{{}}</testcase>'
        bad = case.format('<failure message="no"/>').replace("[1]", "[2]") if number else ""
        path = tmp_path / f"pytest+{number}.xml"
        path.write_text(f"<testsuites><testsuite>{case.format('')}{bad}</testsuite></testsuites>")
        os.utime(path, (0, 1_795_608_000 - number))
        paths.append(path)
    (found,) = judged.of_files(paths)
    assert (found.key, found.when) == (("pytest", "", "", ""), NOON)
    assert tests[0].rule in found.rules and tests[1].rule not in found.rules


def test_later_result_of_a_rule_replaces_the_earlier_one_and_keeps_the_others() -> None:
    later = Judged("cases", "amd", "6.12", "x86_64", "2026-11-26", {"CNT-002": "PASSED"})
    (merged,) = judged.merge([AMD], [later])
    assert merged.rules == {**AMD.rules, "CNT-002": "PASSED"}
    assert (merged.when, merged.bad) == ("2026-11-26", ())
    assert judged.merge([later], [AMD]) == [later]


def test_command_adds_reports_to_the_record(tmp_path: Path) -> None:
    out, results = tmp_path / "judged.json", tmp_path / "results.json"
    for target in ("amd", "intel"):
        results.write_text(json.dumps(report(target=target)), "utf-8")
        os.utime(results, (0, 1_795_608_000))
        assert judged.main(["--out", str(out), str(results)]) == 0
    assert [(one.target, one.when) for one in judged.read(out)] == [("amd", NOON), ("intel", NOON)]
    assert judged.read(out)[0] == AMD


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"totals": {}}', '{"cases": 1, "kernel": 1, "verdict": 1}']
)
def test_file_that_is_no_report_is_an_error_with_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    results = tmp_path / "results.json"
    results.write_text(text, "utf-8")
    assert judged.main(["--out", str(tmp_path / "judged.json"), str(results)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"judged: {results}: ")
    assert not (tmp_path / "judged.json").exists()


def test_unreadable_record_is_an_error_that_names_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, results = tmp_path / "judged.json", tmp_path / "results.json"
    out.write_text('{"runs": [{}]}', "utf-8")
    results.write_text(json.dumps(report()), "utf-8")
    assert judged.main(["--out", str(out), str(results)]) == 2
    assert "remove it to begin again" in capsys.readouterr().err
