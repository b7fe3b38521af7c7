# SPDX-License-Identifier: Apache-2.0
"""The page of fuzzing counts every run of this machine, and shows the last one."""

from __future__ import annotations

from pathlib import Path

import pytest
from fuzz import page


@pytest.fixture(name="cache", autouse=True)
def fixture_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_page_sums_runs_and_shows_the_last(tmp_path: Path) -> None:
    where = tmp_path / "build" / "page.md"
    first = page.Run("config", 1_000, 1.0, 40, 7, 1, 0.25)
    page.write([first, page.Run("refpmu on 6.12", 50, 3600.0, 0, 3, 0)], where)
    assert page.write([page.Run("config", 6_000, 2.0, 44, 8, 0, 0.5)], where) == where
    rows = [line.split(" | ") for line in where.read_text("utf-8").splitlines() if "| " in line]
    config, guest = (row for row in rows if row[0] in ("| config", "| refpmu on 6.12"))
    assert config[1:7] == ["6000", "3000", "0.500", "44", "8", "0"]
    assert config[9:] == ["7000", "0.00", "1 |"]
    assert guest[1:7] == ["50", "0", "", "", "3", "0"]
    assert guest[9:] == ["50", "1.00", "0 |"]


def test_run_has_its_time_and_commit() -> None:
    page.append_runs([page.Run("config", 1, 1.0, 1, 1, 0)], page.history_file())
    (run,) = page.read_runs(page.history_file())
    assert run.when > 0
    assert run.commit == page.commit()


def test_unknown_lines_are_ignored() -> None:
    page.append_runs([page.Run("config", 1, 1.0, 1, 1, 0)], page.history_file())
    with page.history_file().open("a", encoding="utf-8") as file:
        file.write('{"subject": "config"}\nhalf a li')
    assert [run.executions for run in page.read_runs(page.history_file())] == [1]


def test_page_without_runs_is_empty() -> None:
    assert page.read_runs(page.history_file()) == []
    assert page.text([]).splitlines()[-1].startswith("|---")
