# SPDX-License-Identifier: Apache-2.0
"""A run has a page. An error of the page does not change its verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vm import page
from vm.cli import main

RESULTS: dict[str, Any] = {
    **{"verdict": "CONFORMANT", "reason": "", "target": "t", "kernel": "6.12", "arch": "x86_64"},
    **{"release": "6.12.9", "profile": "", "verdict_of": "target"},
    **{key: {} for key in ("totals", "skip_reasons")},
    **{key: [] for key in ("verdicts", "cases", "rules", "drafts", "problems")},
}


def results(folder: Path, text: str = json.dumps(RESULTS)) -> Path:
    folder.mkdir(parents=True)
    (folder / "results.json").write_text(text, encoding="utf-8")
    return folder


def test_command_writes_a_page_of_several_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    results(tmp_path / "one")
    results(tmp_path / "two")
    monkeypatch.chdir(tmp_path)
    assert main(["page", "one", "two/results.json"]) == 0
    assert capsys.readouterr().out == "index.html\n"
    assert "<h1>2 runs</h1>" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_command_names_a_file_that_it_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = results(tmp_path / "one", "{}")
    assert main(["page", str(folder), "--out", str(tmp_path / "x.html")]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"pmuvm: {folder}/results.json: ") and said.count("\n") == 1
    assert not (tmp_path / "x.html").exists()


def test_run_has_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = results(tmp_path / "one")
    page.of_run(folder)
    assert capsys.readouterr().err == f"page: {folder}/index.html\n"
    assert "<h1>t, 6.12, x86_64</h1>" in (folder / "index.html").read_text(encoding="utf-8")


def test_runs_of_all_targets_are_the_columns_of_one_page(tmp_path: Path) -> None:
    results(tmp_path / "one")
    results(tmp_path / "two")
    page.of_run(tmp_path)
    assert "<h1>2 runs</h1>" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_run_without_results_has_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page.of_run(tmp_path)
    assert not list(tmp_path.iterdir()) and capsys.readouterr().err == ""


def test_error_of_a_page_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = results(tmp_path / "one", "{}")
    page.of_run(folder)
    said = capsys.readouterr().err
    assert said.startswith("pmuvm: no page: ") and said.count("\n") == 1


def test_history_is_a_command_of_the_runner(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMUCONF_HISTORY", str(tmp_path / "history.sqlite"))
    results(tmp_path / "one")
    monkeypatch.chdir(tmp_path)
    assert main(["history", "add", "one", "--commit", "abc"]) == 0
    assert capfd.readouterr().out == "one/results.json: run 1\n"
    assert main(["history", "show", "--last", "1"]) == 0
    assert " abc " in capfd.readouterr().out
    assert main(["history", "diff"]) == 2


def test_commands_on_results_are_commands_of_the_runner(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["bundle", "none", "--out", "x.tar.gz"], ["verify", "none"], ["kcidb", "none"]):
        assert main(words) == 2
        error = capfd.readouterr().err
        assert error.startswith("results: none") and error.count("\n") == 1
