# SPDX-License-Identifier: Apache-2.0
"""Counts are read as the files say, and an unreadable file is an error, never a pass."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from totals import (
    Totals,
    TotalsError,
    junit_failures,
    read_junit,
    read_results,
    results_failures,
)


def test_junit_errors_count_as_failures(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(
        '<testsuites><testsuite name="a" tests="7" failures="1" errors="2" skipped="1">'
        '</testsuite><testsuite name="b" tests="2" failures="0" errors="0" skipped="0">'
        "</testsuite></testsuites>"
    )
    assert read_junit(path) == Totals(5, 3, 1)


def test_results_that_neither_passed_nor_were_skipped_failed(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(
        json.dumps({"totals": {"cases": 9, "passed": 5, "skipped": 1, "failed": 1, "lost": 2}})
    )
    assert read_results(path) == Totals(5, 3, 1)


@pytest.mark.parametrize("text", ["", "{}", '{"totals": {"cases": "x"}}', "[1]"])
def test_unreadable_files_are_errors_that_name_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad"
    path.write_text(text)
    for read in (read_junit, read_results):
        with pytest.raises(TotalsError, match=str(path)):
            read(path)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TotalsError):
        read_junit(tmp_path / "none")


def test_failures_are_named(tmp_path: Path) -> None:
    junit = tmp_path / "a.xml"
    junit.write_text(
        '<testsuites><testsuite name="a" tests="3"><testcase name="good"/>'
        '<testcase name="bad"><failure message="x"/></testcase>'
        '<testcase name="odd"><error message="x"/></testcase></testsuite></testsuites>'
    )
    assert junit_failures(junit) == ["bad", "odd"]
    results = tmp_path / "results.json"
    cases = [{"id": "A.B", "result": "PASS"}, {"id": "A.C", "result": "CRASH"}]
    results.write_text(json.dumps({"cases": cases, "problems": ["kernel log: WARNING"]}))
    assert results_failures(results) == ["A.C", "kernel log: WARNING"]
    for read in (junit_failures, results_failures):
        with pytest.raises(TotalsError):
            read(tmp_path / "nosuch")
