# SPDX-License-Identifier: Apache-2.0
"""Makes a static site: the documents, the catalogue of rules, and the results of the history.

MkDocs turns the pages into HTML. The map of the results is the page of the last run of each cell.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from pmubase import store
from results import evidence, history, page, reports
from results.errors import ResultsError
from results.history import Stored

MAP = "map.html"
RESULTS = "results.md"
CATALOGUE = "catalogue"
RULES = Path("build/rules")
"""The folder of the catalogue in a checkout."""
COPIED = {".md", ".patch", ".toml"}
"""The suffixes of files that a site has. Their readers need no editor."""
GENERATOR_S = 600
SHOWN_RUNS = 20
"""The runs of a cell that its table has."""
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
COLOUR = re.compile(r"\x1b\[\d*m")
FENCE = re.compile(r"^(```.*?^```$)", re.M | re.S)
CONFIGURATION = {
    "site_name": "pmuconf",
    "docs_dir": "pages",
    "use_directory_urls": False,
    "theme": {"name": "mkdocs", "highlightjs": False, "nav_style": "light"},
    "plugins": ["search"],
    "markdown_extensions": ["toc", "tables", "fenced_code"],
}


def documents(root: Path) -> list[Path]:
    """The Markdown files of the checkout, relative to it."""
    done = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--", "*.md"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != 0:
        raise ResultsError(f"{root}: no checkout of git")
    return [Path(name) for name in done.stdout.split("\0") if name]


def _place(name: Path) -> Path:
    """The place of a document in the site. A README is the first page of its folder."""
    return name.with_name("index.md") if name.name == "README.md" else name


def rewritten(text: str, file: Path, place: Path, root: Path, files: set[Path]) -> str:
    """A document with links that work in the site. `file` is its path in the checkout, `place` that in the site.
    `files` receives the data to which it links, relative to `root`. Links to sources and to folders without a README
    become text."""

    def link(match: re.Match[str]) -> str:
        words, target = match[1], match[2]
        path, mark, anchor = target.partition("#")
        if not path or ":" in path:
            return match[0]
        name = Path(os.path.normpath(file.parent / path))
        if name.parent == file.parent and file.parts[0] == "build":
            return f"[{words}]({_place(Path(name.name))}{mark}{anchor})"  # in the catalogue
        if (root / name).is_dir():
            name = name / "README.md"
        if name.suffix not in COPIED or name.parts[0] == ".." or not (root / name).is_file():
            return words
        if name.suffix != ".md":
            files.add(name)
        to = os.path.relpath(_place(name), place.parent)
        return f"[{words}]({to}{mark}{anchor})"

    parts = FENCE.split(text)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def add_documents(root: Path, pages: Path) -> None:
    """Writes the documents of the checkout and the catalogue, and the data to which they link."""
    files: set[Path] = set()
    for name in documents(root):
        text = (root / name).read_text(encoding="utf-8")
        _write(pages / _place(name), rewritten(text, name, _place(name), root, files))
    for file, text in evidence.pages().items():
        place = _place(Path(CATALOGUE) / file)
        _write(pages / place, rewritten(text, RULES / file, place, root, files))
    for name in files:
        target = pages / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, target)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    return [_row(head), _row("---" for _ in head), *map(_row, rows)]


def _facts(run: Stored) -> list[str]:
    counts = [str(run.totals.get(key, "")) for key in reports.COUNTED]
    return [run.added[:10], run.commit[: reports.SHORT], run.verdict, *counts]


def results_page(database: sqlite3.Connection) -> str:
    """The page of the results: the last run of each cell, what changed, and the runs of each cell."""
    known = history.commits(database)
    heads = ["date", "commit", "verdict", *reports.COUNTED]
    lines = ["# Results", "", f"[The map of all rules]({MAP}) has a column for each line.", ""]
    rows = [[str(run.cell), *_facts(run)] for run in history.newest(database)]
    lines += _table(["cell", *heads], rows)
    if len(known) > 1:
        lines += ["", "## Changes by the last commit", "", "```"]
        try:
            found = history.diff(database, known[-2], known[-1])
            lines += reports.lines_of_changes(known[-2], known[-1], found)
        except ResultsError as error:
            lines.append(str(error))
        lines.append("```")
    cells: dict[str, list[Stored]] = {}
    for run in history.runs(database):
        cells.setdefault(str(run.cell), []).append(run)
    for cell in sorted(cells):
        shown = reversed(cells[cell][-SHOWN_RUNS:])
        lines += ["", f"## {cell}", "", *_table(heads, map(_facts, shown))]
    return "\n".join([*lines, ""])


def add_results(file: Path, pages: Path) -> bool:
    """Writes the page and the map of the results. False without a history."""
    if not file.is_file():
        return False
    with history.opened(file) as database:
        found = history.newest(database)
        if not found:
            return False
        _write(pages / RESULTS, results_page(database))
        _write(pages / MAP, page.text([history.document_of(database, run.id) for run in found]))
    return True


def configuration(with_results: bool) -> Mapping[str, object]:
    """The configuration of MkDocs. JSON is YAML, too."""
    nav: list[dict[str, str]] = [{"pmuconf": "index.md"}, {"Documents": "docs/index.md"}]
    nav.append({"Rules": f"{CATALOGUE}/index.md"})
    if with_results:
        nav.append({"Results": RESULTS})
    nav += [{"Findings": "docs/findings.md"}, {"Drivers": "docs/drivers.md"}]
    nav += [{"Faults": "docs/faults.md"}, {"Changes": "CHANGELOG.md"}]
    return {**CONFIGURATION, "nav": nav}


def make(file: Path, out: Path, root: Path = store.ROOT) -> None:
    """Makes the site in the folder `out`, which it replaces. ResultsError names each link to a missing file."""
    if out.exists() and not (out / "index.html").is_file():
        raise ResultsError(f"{out}: not a site: this would remove its files")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".site.") as name:
        folder = Path(name)
        add_documents(root, folder / "pages")
        with_results = add_results(file, folder / "pages")
        (folder / "mkdocs.yml").write_text(json.dumps(configuration(with_results)))
        _generate(folder)
        shutil.rmtree(out, ignore_errors=True)
        (folder / "site").rename(out)


def _generate(folder: Path) -> None:
    """Runs MkDocs. A link to a missing file is an error."""
    words = ["mkdocs", "build", "--strict", "--config-file", str(folder / "mkdocs.yml")]
    try:
        done = subprocess.run(
            [*words, "--site-dir", str(folder / "site")],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=GENERATOR_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise ResultsError("no program mkdocs: run ci/install-deps") from error
    except subprocess.TimeoutExpired as error:
        raise ResultsError(f"mkdocs did not end within {GENERATOR_S} s") from error
    if done.returncode != 0:
        lines = [COLOUR.sub("", line) for line in done.stderr.splitlines() if line]
        found = [line for line in lines if not line.startswith("INFO")]
        raise ResultsError("\n".join(["mkdocs failed:", *found]))
