# SPDX-License-Identifier: Apache-2.0
"""Checks the wording of documents, rules and mutants with textlint's engine and the rules of ci/prose/. docs/style.md
explains the rules."""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci import npm
from ci.checks.passages import Passage, passages
from ci.units.inputs import Inputs
from vm import store
from vm.errors import PmuvmError

ROOT = Path(__file__).resolve().parent.parent.parent

TOOL = ROOT / "ci" / "prose"
STYLE = "docs/style.md"
SECTION = re.compile(r"^## Terms to use\n(.*?)(?=^## |\Z)", re.M | re.S)
ROW = re.compile(r"^\| *([^|]+?) *\| *([^|]+?) *\|$", re.M)
QUALIFIER = re.compile(r"\s*\(.*?\)")
LINT_S = 120


@dataclass(frozen=True, order=True)
class Finding:
    """One sentence, line or word that breaks a rule."""

    file: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Term:
    """An entry of the column "not" of the style page."""

    text: str
    instead: str
    literal: bool
    """The text can be searched literally: it has several words, and every use is wrong."""


def terms(page: str) -> list[Term]:
    """The entries of the section "Terms to use"."""
    section = SECTION.search(page)
    if section is None:
        raise PmuvmError(f'{STYLE}: no section "Terms to use"')
    found = []
    for instead, refused in ROW.findall(section[1])[2:]:
        qualified = QUALIFIER.search(refused) is not None
        groups = QUALIFIER.sub("", refused).split("; ")
        better = instead.split("; ")
        if len(better) != len(groups):
            better = [instead] * len(groups)
        for group, one in zip(groups, better):
            for text in group.split(", "):
                found.append(Term(text, one, " " in text and not qualified))
    return found


def words(page: str, table: str) -> list[dict[str, str]]:
    """The patterns of refused words with their replacements, from the style page and words.toml."""
    known = {term.text: term for term in terms(page)}
    entries = tomllib.loads(table)["word"]
    covered = {text for entry in entries for text in entry.get("terms", [])}
    found = [
        {"pattern": rf"\b{re.escape(term.text)}\b", "instead": term.instead}
        for term in known.values()
        if term.literal and term.text not in covered
    ]
    for entry in entries:
        missing = [text for text in entry.get("terms", []) if text not in known]
        if missing:
            raise PmuvmError(f"ci/prose/words.toml: {STYLE} has no term '{missing[0]}'")
        instead = entry.get("instead") or known[entry["terms"][0]].instead
        found.append({"pattern": entry["pattern"], "instead": instead})
    return found


def modules(tool: Path = TOOL) -> Path:
    """The folder with the linter's npm packages. Installs it if it is missing."""
    return npm.modules(tool)


def lint(found: Iterable[Passage], page: str) -> list[Finding]:
    """The findings in passages; `page` is the style page."""
    table = (TOOL / "words.toml").read_text(encoding="utf-8")
    request = {
        "words": words(page, table),
        "passages": [
            {
                "file": passage.file,
                "line": passage.line,
                "text": passage.text,
                "lines": passage.document,
                "examples": passage.file == STYLE,
            }
            for passage in found
        ],
    }
    try:
        done = subprocess.run(
            [npm.program("node"), str(TOOL / "lint.js")],
            env={**os.environ, "NODE_PATH": str(modules())},
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=LINT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise PmuvmError(f"ci/prose/lint.js did not end within {LINT_S} s") from error
    if done.returncode != 0:
        raise PmuvmError(
            f"ci/prose/lint.js: {(done.stderr.strip() or 'no output').splitlines()[0]}"
        )
    return sorted(Finding(**finding) for finding in json.loads(done.stdout))


def check(root: Path, names: Iterable[str]) -> list[Finding]:
    """The findings in the documents, docstrings and comments of these files of the project at `root`."""
    try:
        page = (root / STYLE).read_text(encoding="utf-8")
        read = [
            passage
            for name in names
            for comments in (False, True)
            for passage in passages(root, name, comments)
        ]
    except OSError as error:
        raise PmuvmError(f"{error.filename}: {error.strerror}") from error
    return lint(read, page)


def findings(root: Path, files: list[Path]) -> list[str]:
    """The step `prose` of ci/lint.py."""
    try:
        return [str(f) for f in check(root, [str(file.relative_to(root)) for file in files])]
    except PmuvmError as error:
        return [str(error)]


def main(argv: Sequence[str]) -> int:
    """Returns 0 without findings, 1 with some, 2 if the linter cannot run."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.checks.prose", description=__doc__)
    parser.add_argument(
        "files", nargs="*", type=Path, help="check only these files; default: all of the project"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (default: this one)")
    parser.add_argument(
        "--install", action="store_true", help="only install the npm packages of the linter"
    )
    parser.add_argument(
        "--counts",
        action="store_true",
        help="print only the number of findings by file and rule",
    )
    options = parser.parse_args(argv)
    root = options.root.resolve()
    try:
        if options.install:
            modules()
            return 0
        names = [name_in(root, file) for file in options.files] or Inputs(root).files
        found = check(root, names)
    except (PmuvmError, subprocess.CalledProcessError) as error:
        print(f"prose: {error}", file=sys.stderr)
        return 2
    if options.counts:
        for row in counts(found):
            print(row)
    else:
        for finding in found:
            print(finding)
    print(f"findings: {len(found)}")
    return 1 if found else 0


def name_in(root: Path, file: Path) -> str:
    """The name of a file in the project. `file` is relative to the checkout, or else to the current folder."""
    for path in (root / file, Path.cwd() / file):
        if path.is_file() and path.resolve().is_relative_to(root):
            return str(path.resolve().relative_to(root))
    raise PmuvmError(f"{file}: not a file of {root}")


def counts(found: Iterable[Finding]) -> list[str]:
    """The number of findings of each file and of each rule."""
    found = list(found)
    files = collections.Counter(finding.file for finding in found)
    rules = collections.Counter(finding.rule for finding in found)
    return [
        f"{number:6} {name}" for counter in (files, rules) for name, number in counter.most_common()
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
