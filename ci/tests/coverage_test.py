# SPDX-License-Identifier: Apache-2.0
"""Too few taken branches are a failure that names the lines. An unreadable report is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ci import coverage


def entry(path: str, *lines: tuple[int, list[int]]) -> dict[str, Any]:
    return {
        "file": path,
        "lines": [
            {"line_number": number, "branches": [{"count": count} for count in counts]}
            for number, counts in lines
        ],
    }


def test_branch_with_a_count_is_taken() -> None:
    report = {"files": [entry("driver/core/a.c", (7, [5, 0]), (3, [0, 0]), (9, [1, 2]), (11, []))]}
    (file,) = coverage.read_report(report)
    assert file == coverage.File("driver/core/a.c", branches=6, taken=3, lines=(3, 7))


@pytest.mark.parametrize("report", [{}, [], {"files": [{}]}, {"files": [{"file": "a"}]}])
def test_report_in_another_format_is_an_error(report: Any) -> None:
    with pytest.raises(coverage.NotMeasured):
        coverage.read_report(report)


def test_folder_below_the_limit_fails_and_names_lines() -> None:
    files = [
        coverage.File("driver/core/a.c", 100, 94, (3, 7)),
        coverage.File("driver/model/b.c", 100, 95, (5,)),
    ]
    report, failed = coverage.judge(files)
    assert failed == 1
    assert any("driver/core/a.c" in line for line in report)
    assert any("lines 3, 7" in line for line in report)
    assert not any("lines 5" in line for line in report)


def test_folders_at_the_limit_pass() -> None:
    files = [
        coverage.File("driver/core/a.c", 10, 5, (3,)),
        coverage.File("driver/core/b.c", 90, 90, ()),
        coverage.File("driver/model/c.c", 20, 19, (5,)),
    ]
    report, failed = coverage.judge(files)
    assert failed == 0
    assert sum("driver/" in line and ".c" in line for line in report) == 3


def test_folder_without_branches_fails() -> None:
    assert coverage.judge([])[1] == len(coverage.FOLDERS)


def test_failed_tests_give_no_coverage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "driver_tests"
    program.write_text("#!/bin/sh\necho a test failed\nexit 1\n")
    program.chmod(0o755)
    (tmp_path / "old.gcda").touch()
    monkeypatch.setattr(coverage, "OUT", tmp_path)
    monkeypatch.setattr(coverage, "PROGRAM", program)
    monkeypatch.setattr("sys.argv", ["coverage"])
    (tmp_path / "results.json").write_text(json.dumps({"totals": {}}))
    assert coverage.main() == 2
    assert not (tmp_path / "results.json").exists()
    assert not (tmp_path / "old.gcda").exists()
