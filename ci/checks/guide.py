# SPDX-License-Identifier: Apache-2.0
"""Compares driver/README.md, driver/docs/ and docs/ with the tree: the texts name existing things, and links lead somewhere.

The check reads the rule ids of the texts, and these code spans:

- a file, by its path from driver/ or from the root; `*` is allowed
- a folder, with a `/` at its end
- a case (`Suite.Name` or `Suite.*`, of the suite or of the unit tests)

docs/targets.md must name each key of a target file and each capability.
"""

from __future__ import annotations

import re
import tomllib
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

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
FILE = re.compile(r"^[\w.*-]+(/[\w.*-]+)*\.(c|h|cpp|toml|md|py|inc)$|^(\w+/)*(Kbuild|Kconfig)$")
FOLDER = re.compile(r"^[\w-]+(/[\w-]+)*/$")
CASE = re.compile(r"^([A-Z]\w*)\.([A-Z]\w*|\*)$")
WORD = re.compile(r"\w*[A-Za-z]\w*")
RULE = re.compile(r"\b[A-Z]{2,3}-\d{3}\b")
CASES = re.compile(r"^CONFORMANCE_CASE\(\s*(\w+)\s*,\s*(\w+)", re.M)
TESTS = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)
KEY = re.compile(
    r"(?:->|\.)(?:Table|Tables|Node|String|StringOr|StringsOr|Int|IntOr|BoolOr|DoubleOr)"
    r"\(\"(\w+)\""
)
CAPABILITY = re.compile(r"\{Cap::k\w+, \"(\w+)\"\}")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)


@dataclass(frozen=True)
class Tree:
    """The names that texts may use."""

    root: Path
    cases: set[str]
    rules: set[str]

    def has(self, name: str) -> bool:
        """Whether a path from driver/ or from the root exists."""
        return any(any(base.glob(name)) for base in (self.root / "driver", self.root))


def read_tree(root: Path) -> Tree:
    cases: set[str] = set()
    for pattern, component in ((CASES, "conformance/cases"), (TESTS, "driver/unit")):
        for path in (root / component).rglob("*.cpp"):
            cases |= {f"{suite}.{name}" for suite, name in pattern.findall(path.read_text())}
    rules = {
        rule["id"]
        for path in (root / "conformance" / "rules").glob("*.toml")
        for rule in tomllib.loads(path.read_text()).get("rule", [])
        if rule["status"] != "retired"
    }
    return Tree(root, cases, rules)


def check_span(span: str, tree: Tree) -> str | None:
    """The error in one code span, if it has one."""
    if FILE.match(span):
        return None if tree.has(span) else "no such file"
    if FOLDER.match(span):
        return None if tree.has(span) else "no such folder"
    if case := CASE.match(span):
        suite = f"{case[1]}."
        known = (
            tree.cases
            if case[2] != "*"
            else {suite + "*" for n in tree.cases if n.startswith(suite)}
        )
        return None if span in known else "no such case"
    return None


def unknown_names(name: Path, text: str, tree: Tree) -> list[str]:
    """Checks that each name in the text exists."""
    found = []
    for span in SPAN.findall(FENCE.sub("", text)):
        if wrong := check_span(span, tree):
            found.append(f"{name}: `{span}`: {wrong}")
    for rule in sorted(set(RULE.findall(text)) - tree.rules):
        found.append(f"{name}: {rule} is not an active or draft rule")
    return found


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
    texts = [path for path in sorted((root / DOCS).glob("*.md")) if path.name != STYLE]
    found = []
    for path in (*pages, *texts):
        found += unknown_names(path.relative_to(root), path.read_text(), tree)
    return found + undescribed_claims(root) + broken_links(root)
