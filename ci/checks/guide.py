# SPDX-License-Identifier: Apache-2.0
"""Compares driver/README.md, driver/docs/ and docs/ with the tree: the texts name existing things, and all that they must name.

The check reads the code spans of the texts. A span is one of these:

- a file, by its path from driver/ or from the root; `*` is allowed
- a folder, with a `/` at its end
- a function (`name()`), which must be in the file that its paragraph, list item or table row names last before it
- a case (`Suite.Name` or `Suite.*`, of the suite or of the unit tests)
- after the word KUnit, a suite of it
- words, of which those with an underscore must occur in the sources

A callback and a module parameter begin a table row or the heading of a section. Links are checked in all texts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GUIDE = Path("driver/README.md")
PAGES = Path("driver/docs")
"""The guide consists of GUIDE and of the pages in this folder."""
DOCS = Path("docs")
GENERATED = DOCS / "generated"
STYLE = "style.md"
"""The names in this page are examples, and some of them are intentionally wrong."""
TARGETS = DOCS / "targets.md"
TARGET_READER = Path("conformance/target/target_file.cpp")
TARGET_SOURCE = Path("conformance/target/target_claims.cpp")
DRIVER_FOLDERS = ("core", "model", "core_pmu", "uncore", "trace", "port", "compat", "include")
WORD_FOLDERS = ("driver", "kunit", "conformance", "oracle", "tools", "ci", "vm", "fuzz", "results")
WORD_SUFFIXES = {".c", ".h", ".cpp", ".toml", ".py", ".patch", ""}

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"^[\w.*-]+(/[\w.*-]+)*\.(c|h|cpp|toml|md|py|inc)$|^(\w+/)*(Kbuild|Kconfig)$")
FOLDER = re.compile(r"^[\w-]+(/[\w-]+)*/$")
FUNCTION = re.compile(r"^(\w+)\(\)$")
CASE = re.compile(r"^([A-Z]\w*)\.([A-Z]\w*|\*)$")
WORD = re.compile(r"\w*[A-Za-z]\w*")
RULE = re.compile(r"\b[A-Z]{2,3}-\d{3}\b")
CASES = re.compile(r"^CONFORMANCE_CASE\(\s*(\w+)\s*,\s*(\w+)", re.M)
TESTS = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)
HEAD = re.compile(r"^[A-Za-z_][\w \t*]*?(\w+)\((\w*)", re.M)
CALL = re.compile(r"\b(\w+)\(")
SUITE = re.compile(r'^\t\.name = "(\w+)"', re.M)
OF_KUNIT = re.compile(r"KUnit ((?:`\w+`(?:,\s+)?)+)")
PARAMETER = re.compile(r"^module_param(?:_named|_cb)?\((\w+)", re.M)
OPS = re.compile(r"^(?:static )?(?:const )?struct pmu \w+ = \{(.*?)^\};", re.M | re.S)
CALLBACK = re.compile(r"^\s*\.(?!attr_groups)(\w+) = (?:refpmu|trace)_\w+,", re.M)
KEY = re.compile(
    r"(?:->|\.)(?:Table|Tables|Node|String|StringOr|StringsOr|Int|IntOr|BoolOr|DoubleOr)"
    r"\(\"(\w+)\""
)
CAPABILITY = re.compile(r"\{Cap::k\w+, \"(\w+)\"\}")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)
FIRST_NAMES = re.compile(r"^(?:\||##+) ((?:`[^`]+`(?:, )?)+)", re.M)
"""The names at the beginning of a table row or of the heading of a section."""


def blocks(text: str) -> Iterator[str]:
    """Paragraphs, list items and table rows, each the scope of the last named file."""
    lines: list[str] = []
    for line in FENCE.sub("", text).splitlines():
        if not line.strip() or re.match(r"\s*([-*|#]|\d+\.) ?", line):
            yield "\n".join(lines)
            lines = []
        lines.append(line)
    yield "\n".join(lines)


def code_spans(block: str) -> Iterator[str]:
    yield from SPAN.findall(block)


def function_heads(text: str) -> Iterator[tuple[str, bool]]:
    """Functions whose definition or declaration starts a line of C, and whether a body follows."""
    for match in HEAD.finditer(text):
        name, first = match.groups()
        # A macro that generates the head of a function has the function's name as its first argument.
        name = first if name.isupper() else name
        depth, end = 0, match.end(1)
        while end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        yield name, text[end : end + 3].lstrip().startswith("{")


@dataclass(frozen=True)
class Tree:
    """The names that texts may use."""

    root: Path
    functions: dict[
        str, set[Path]
    ]  # Functions by the files that define them; for a header, that declare them.
    called: set[str]
    cases: set[str]
    words: set[str]
    rules: set[str]
    suites: set[str]  # The suites of KUnit.

    def find(self, name: str) -> list[Path]:
        """The files with a path from driver/ or from the root."""
        return [
            path
            for base in (self.root / "driver", self.root)
            for path in sorted(base.glob(name))
            if path.is_file()
        ]

    def function(self, name: str, file: str) -> str | None:
        """The error about a function that the text assigns to `file`, the last named file."""
        homes = self.functions.get(name)
        if homes is None:
            return None if name in self.called else "no such function"
        if not file:
            return "no file is named before it"
        return None if homes & set(self.find(file)) else f"is not in {file}"


def sources(root: Path) -> dict[Path, str]:
    return {
        path: path.read_text()
        for found in (
            (root / "driver").glob("*.[ch]"),
            *((root / "driver" / room).rglob("*.[ch]") for room in DRIVER_FOLDERS),
        )
        for path in sorted(found)
    }


def words(root: Path) -> set[str]:
    """All words of the sources, without those of the checked texts."""
    found: set[str] = set()
    for room in WORD_FOLDERS:
        for path in (root / room).rglob("*"):
            if path.is_file() and path.suffix in WORD_SUFFIXES and "corpus" not in path.parts:
                found |= set(WORD.findall(path.read_text(errors="replace")))
    return found


def read_tree(root: Path) -> Tree:
    functions: dict[str, set[Path]] = {}
    called: set[str] = set()
    for path, text in sources(root).items():
        for name, body in function_heads(text):
            if body or path.suffix == ".h":
                functions.setdefault(name, set()).add(path)
        called |= set(CALL.findall(text))
    cases: set[str] = set()
    for pattern, room in ((CASES, "conformance/cases"), (TESTS, "driver/unit")):
        for path in (root / room).rglob("*.cpp"):
            cases |= {f"{suite}.{name}" for suite, name in pattern.findall(path.read_text())}
    rules = {
        rule["id"]
        for path in (root / "conformance" / "rules").glob("*.toml")
        for rule in tomllib.loads(path.read_text()).get("rule", [])
        if rule["status"] != "retired"
    }
    suites = {
        name
        for path in (root / "kunit").glob("*_kunit.c")
        for name in SUITE.findall(path.read_text())
    }
    return Tree(root, functions, called, cases, words(root), rules, suites)


def check_span(span: str, file: str, tree: Tree) -> str | None:
    """The error in one code span, if it has one."""
    if FILE.match(span):
        return None if tree.find(span) else "no such file"
    if FOLDER.match(span):
        known = (tree.root / "driver" / span).is_dir() or (tree.root / span).is_dir()
        return None if known else "no such folder"
    if function := FUNCTION.match(span):
        return tree.function(function[1], file)
    if case := CASE.match(span):
        prefix = f"{case[1]}."
        if case[2] == "*":
            known = any(name.startswith(prefix) for name in tree.cases)
        else:
            known = span in tree.cases
        return None if known else "no such case"
    for word in WORD.findall(span):
        if "_" in word.strip("_") and word not in tree.words:
            return f"no source contains {word}"
    return None


def named_suites(text: str) -> set[str]:
    return {suite for row in OF_KUNIT.findall(text) for suite in SPAN.findall(row)}


def unknown_names(name: Path, text: str, tree: Tree) -> list[str]:
    """Checks that each name in the text exists."""
    found = []
    for block in blocks(text):
        file = ""
        for span in code_spans(block):
            if wrong := check_span(span, file, tree):
                found.append(f"{name}: `{span}`: {wrong}")
            if FILE.match(span):
                file = span
    for suite in sorted(named_suites(text) - tree.suites):
        found.append(f"{name}: `{suite}` is not a suite of KUnit")
    for rule in sorted(set(RULE.findall(text)) - tree.rules):
        found.append(f"{name}: {rule} is not an active or draft rule")
    return found


def unnamed_files(text: str, tree: Tree) -> list[str]:
    """Checks that the text names each file of the driver. A header may be represented by its source."""
    named: set[Path] = set()
    for span in SPAN.findall(FENCE.sub("", text)):
        if FILE.match(span):
            named |= set(tree.find(span))
    return [
        f"{GUIDE}: does not name {path.relative_to(tree.root / 'driver')}"
        for path in sources(tree.root)
        if path not in named and not (path.suffix == ".h" and path.with_suffix(".c") in named)
    ]


def missing_rows(text: str, tree: Tree) -> list[str]:
    """Checks that each module parameter and each callback of a struct pmu begins a table row or a heading."""
    rows = {name for cell in FIRST_NAMES.findall(text) for name in SPAN.findall(cell)}
    found = []
    for path, code in sources(tree.root).items():
        for name in PARAMETER.findall(code):
            if name not in rows:
                found.append(f"{GUIDE}: has no row or section for parameter {name} of {path.name}")
        for body in OPS.findall(code):
            for name in CALLBACK.findall(body):
                if name not in rows:
                    found.append(
                        f"{GUIDE}: has no row or section for callback {name} of {path.name}"
                    )
    return found


def unnamed_suites(text: str, tree: Tree) -> list[str]:
    """Checks that the text names each suite of KUnit."""
    missing = sorted(tree.suites - named_suites(text))
    return [f"{GUIDE}: does not name the KUnit suite {suite}" for suite in missing]


def undescribed_claims(root: Path) -> list[str]:
    """Checks that the text about targets names each key of a target file and each capability."""
    spans = SPAN.findall((root / TARGETS).read_text())
    named = {word for span in spans for word in WORD.findall(span)}
    keys = set(KEY.findall((root / TARGET_READER).read_text()))
    capabilities = set(CAPABILITY.findall((root / TARGET_SOURCE).read_text()))
    return [
        f"{TARGETS}: does not name {kind} {word}"
        for kind, words_of_kind in (("key", keys), ("capability", capabilities))
        for word in sorted(words_of_kind - named)
    ]


def anchors(text: str) -> set[str]:
    """The anchors of headings. Renderers disagree about the anchor of a heading with other characters or with adjacent
    dashes, so no link may use it."""
    headings = HEADING.findall(FENCE.sub("", text))
    found = (re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)
    return {anchor for anchor in found if anchor.isascii() and "--" not in anchor}


def broken_links(root: Path) -> list[str]:
    """Checks that each link within the tree leads to an existing file and heading. Generated pages have tests of their
    own: conformance/selftest/explain_test.py."""
    found = []
    for path in sorted({*root.glob("*.md"), *root.glob("*/*.md"), *root.glob("*/*/*.md")}):
        if path.relative_to(root).parts[0] == "build" or path.parent == root / GENERATED:
            continue
        for name, anchor in LINK.findall(FENCE.sub("", path.read_text())):
            if "://" in name:
                continue
            target = path.parent / name if name else path
            lost = not target.exists() or (anchor and anchor not in anchors(target.read_text()))
            if lost:
                link = f"{name}#{anchor}" if anchor else name
                found.append(f"{path.relative_to(root)}: the link ({link}) leads nowhere")
    return found


def findings(root: Path) -> list[str]:
    """The errors in the texts."""
    for name in (GUIDE, TARGETS):
        if not (root / name).is_file():
            return [f"{name}: the file is missing"]
    tree = read_tree(root)
    pages = [root / GUIDE, *sorted((root / PAGES).glob("*.md"))]
    guide = "\n".join(page.read_text() for page in pages)
    found = [
        *unnamed_files(guide, tree),
        *missing_rows(guide, tree),
        *unnamed_suites(guide, tree),
    ]
    texts = [path for path in sorted((root / DOCS).glob("*.md")) if path.name != STYLE]
    for path in (*pages, *texts):
        found += unknown_names(path.relative_to(root), path.read_text(), tree)
    return found + undescribed_claims(root) + broken_links(root)
