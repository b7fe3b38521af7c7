# SPDX-License-Identifier: Apache-2.0
"""The static site has the documents, the catalogue and the results, and no link leads to a missing file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from results import history, site
from results.__main__ import main
from results.errors import ResultsError
from results.tests import runs


@pytest.fixture(autouse=True)
def fixture_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", str(runs.PMUCONF))


def test_site_has_documents_rules_and_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "history.sqlite", tmp_path / "site"
    failed = {"Counting.DisabledTimeIsNotCounted": "a count"}
    with history.opened(file, create=True) as database:
        history.add(database, runs.judged(tmp_path / "good"), "a" * 40, "m")
        history.add(database, runs.judged(tmp_path / "bad", failed=failed), "b" * 40, "m")
    assert main(["site", "--file", str(file), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}/index.html\n"
    rule = (out / "catalogue" / "CNT.html").read_text(encoding="utf-8")
    assert "CNT-007" in rule
    results = (out / "results.html").read_text(encoding="utf-8")
    assert "refpmu on 6.12 x86_64, m" in results
    assert "newly failing: " in results and "Counting.DisabledTimeIsNotCounted" in results
    assert "<h1>refpmu, 6.12, x86_64</h1>" in (out / "map.html").read_text(encoding="utf-8")
    assert (out / "faults" / "kernel" / "core").is_dir()
    before = (out / "index.html").stat().st_ino
    assert main(["site", "--file", str(tmp_path / "none"), "--out", str(out)]) == 0
    assert (out / "index.html").stat().st_ino != before
    assert not (out / "results.html").exists()  # There is no history.


def test_other_folder_is_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").touch()
    assert main(["site", "--out", str(tmp_path)]) == 2
    assert "not a site: this would remove its files" in capsys.readouterr().err
    assert (tmp_path / "notes.txt").is_file()


def test_missing_generator_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ResultsError, match="no program mkdocs"):
        site._generate(tmp_path)


def test_error_of_the_generator_is_reported(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text("no_name: 1\n")
    with pytest.raises(ResultsError, match="(?s)mkdocs failed:\n.*site_name"):
        site._generate(tmp_path)


def rewritten(tmp_path: Path, text: str, files: set[Path] | None = None) -> str:
    for name in ("docs/a.md", "driver/README.md", "driver/x.patch", "driver/x.c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "empty").mkdir(exist_ok=True)
    place = Path("docs/b.md")
    return site.rewritten(text, place, place, tmp_path, set() if files is None else files)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[a](a.md#part)", "[a](a.md#part)"),
        ("[d](../driver)", "[d](../driver/index.md)"),
        ("[d](../driver/README.md#x)", "[d](../driver/index.md#x)"),
        ("[p](../driver/x.patch)", "[p](../driver/x.patch)"),
        ("[source](../driver/x.c#L7)", "source"),
        ("[folder](../empty)", "folder"),
        ("[nothing](../none.md)", "nothing"),
        ("[outside](../../x.md)", "outside"),
        (
            "[here](#part) [web](https://example.org/a)",
            "[here](#part) [web](https://example.org/a)",
        ),
        ("```\n[d](../driver)\n```", "```\n[d](../driver)\n```"),
    ],
)
def test_links_work_in_the_site_or_become_text(tmp_path: Path, text: str, wanted: str) -> None:
    assert rewritten(tmp_path, text) == wanted


def test_data_behind_a_link_is_copied(tmp_path: Path) -> None:
    files: set[Path] = set()
    rewritten(tmp_path, "[p](../driver/x.patch) [c](../driver/x.c) [d](../driver)", files)
    assert files == {Path("driver/x.patch")}


def test_broken_link_ends_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(_root: Path, pages: Path) -> None:
        pages.mkdir()
        lines = ("[a](none.md)", "![b](no.png)", "[c](no.patch)", "[d](https://example.org/x)")
        (pages / "index.md").write_text("\n".join(lines))

    monkeypatch.setattr(site, "add_documents", add)
    monkeypatch.setattr(site, "configuration", lambda _: site.CONFIGURATION)
    with pytest.raises(ResultsError) as caught:
        site.make(tmp_path / "none", tmp_path / "out")
    assert re.findall(r"a link to '([^']*)'", str(caught.value)) == [
        "none.md",
        "no.png",
        "no.patch",
    ]
    assert not (tmp_path / "out").exists()
