# SPDX-License-Identifier: Apache-2.0
"""Compares the catalogue with its tests: each rule needs a test or a reason, and its `layer` must be correct.

A rule's text must be one sentence with one keyword that fits its level.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from conformance.rules.evidence import PYTEST_FOLDERS, QUOTED, VERIFIES, untested_entries
from conformance.rules.generate import Rule, read_catalogue
from pmubase.errors import UserError

CASE_USE = re.compile(r"\brule::([A-Z][A-Z0-9]*)_([0-9]{3})\b")
PYTEST_USE = re.compile(r"@pytest\.mark\.rule\(([^)]*)\)", re.S)
UNTESTED = Path("conformance/untested.toml")
RULES = Path("conformance/rules")

KEYWORD = re.compile(r"\b(?:MUST|SHOULD|MAY)\b(?: NOT\b)?")
KEYWORDS = {"MUST": ("MUST", "MUST NOT"), "SHOULD": ("SHOULD", "SHOULD NOT"), "MAY": ("MAY",)}
SENTENCE_END = re.compile(r"[.!?](?=\s)")
WORD = re.compile(r"\S*\w\S*")
MAX_WORDS = 40

Evidence = dict[str, set[str]]  # The layers that name each rule.


def evidence(root: Path, files: list[Path]) -> Evidence:
    """The layers that name each rule: cases by rule::, KUnit by VERIFIES(), pytest by its mark."""
    named: Evidence = defaultdict(set)
    for file in files:
        relative = file.relative_to(root)
        component = relative.parts[0]
        if relative.match("conformance/cases/**/*_test.cpp"):
            for area, number in CASE_USE.findall(file.read_text()):
                named[f"{area}-{number}"].add("case")
        elif component == "kunit" and file.suffix in {".c", ".h"}:
            for arguments in VERIFIES.findall(file.read_text()):
                for rule_id in QUOTED.findall(arguments):
                    named[rule_id].add("kunit")
        elif file.name.endswith("_test.py") and (layer := pytest_layer(relative)):
            for arguments in PYTEST_USE.findall(file.read_text()):
                for rule_id in QUOTED.findall(arguments):
                    named[rule_id].add(layer)
    return named


def pytest_layer(file: Path) -> str:
    """The layer of a file of pytest tests; "" if its marks do not count."""
    layers = [
        layer for component, layer in PYTEST_FOLDERS.items() if file.is_relative_to(component)
    ]
    return layers[0] if layers else ""


def untested(path: Path) -> tuple[dict[str, str], list[str]]:
    """The capability that the case of each untested rule lacks ("" if it has no case), and the errors of the file."""
    try:
        rows = untested_entries(path)
    except UserError as error:
        return {}, [str(error)]
    entries = {row["rule"]: row.get("lacking", "") for row in rows}
    names = [row["rule"] for row in rows]
    found = [f"{UNTESTED}: {name} occurs twice" for name in entries if names.count(name) > 1]
    return entries, found


def lacking_error(root: Path, rule: Rule, lacking: str) -> str:
    """The error in an entry with a lacking capability: no target of this project may have it."""
    if lacking not in re.findall(r"\w+", rule.applies):
        return f"lacks '{lacking}', but applies is '{rule.applies}'"
    for target in sorted((root / "conformance" / "targets").glob("*.toml")):
        if re.search(rf"^{re.escape(lacking)}\s*=\s*true", target.read_text(), re.M):
            return f"lacks '{lacking}', but {target.name} has it"
    return ""


def rule_error(rule: Rule, layers: set[str], excused: bool) -> str:
    """The disagreement between a rule and the tests that name it; "" if there is none."""
    if rule.status == "retired":
        return f"is retired, but is named by: {', '.join(sorted(layers))}" if layers else ""
    if rule.status == "draft" and not layers:
        return ""
    if excused and layers:
        return f"is in {UNTESTED}, but is named by: {', '.join(sorted(layers))}"
    if excused:
        return "" if rule.layer == ("review",) else f"is in {UNTESTED}: its layer is review alone"
    if not layers:
        return f"no test verifies it: it has no case, and no reason in {UNTESTED}"
    if set(rule.layer) - {"review"} != layers:
        return f"layer is {', '.join(rule.layer)}, but these name it: {', '.join(sorted(layers))}"
    return ""


def text_errors(rule: Rule) -> list[str]:
    """Errors in a rule's text: keyword, number of sentences, length."""
    errors = []
    used = KEYWORD.findall(rule.text)
    fitting = KEYWORDS[rule.level]
    if len(used) != 1:
        have = ", ".join(used) or "none"
        errors.append(f"text must have exactly one of {' / '.join(fitting)}, not: {have}")
    elif used[0] not in fitting:
        errors.append(f"text has {used[0]}, but level {rule.level} needs {' or '.join(fitting)}")
    if SENTENCE_END.search(rule.text) or not rule.text.endswith("."):
        errors.append("text must be one sentence that ends with a full stop")
    words = len(WORD.findall(rule.text))
    if words > MAX_WORDS:
        errors.append(f"text has {words} words; at most {MAX_WORDS} are allowed")
    return errors


def findings(root: Path, files: list[Path]) -> list[str]:
    """All disagreements between the catalogue, its tests and untested.toml, and all wrong texts."""
    try:
        catalogue = {rule.id: rule for rule in read_catalogue((root / RULES).glob("*.toml"))}
    except UserError as error:
        return [str(error)]
    named = evidence(root, files)
    entries, found = untested(root / UNTESTED)
    found += [
        f"{rule_id}: a test names it, but it is not in the catalogue"
        for rule_id in named.keys() - catalogue
    ]
    found += [f"{UNTESTED}: no rule '{name}'" for name in entries.keys() - catalogue.keys()]
    for rule in catalogue.values():
        file = RULES / f"{rule.id.partition('-')[0]}.toml"
        found += [f"{file}: {rule.id}: {error}" for error in text_errors(rule)]
        lacking = entries.get(rule.id, "")
        wrong = lacking_error(root, rule, lacking) if lacking else ""
        wrong = wrong or rule_error(
            rule, named.get(rule.id, set()), rule.id in entries and not lacking
        )
        if wrong:
            found.append(f"{rule.id}: {wrong}")
    return sorted(found)
