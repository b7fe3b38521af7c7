# SPDX-License-Identifier: Apache-2.0
"""Writes conformance/golden.txt: the level, status, meaning and profiles of each rule that is no draft. `make lint`
compares the file with the rules and profiles, so that none of this changes without a diff that a reviewer sees."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.rules.generate import Rule, read_catalogue
from pmubase import store, toml_file
from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, TEXT, table

ROOT = Path(__file__).resolve().parent.parent

FILE = Path("conformance/golden.txt")
COMMAND = "python3 -m ci.golden"
MEANING = "meaning (text, applies, kernels or behaviours)"
PROFILE = table(
    {"profile": table({"name": TEXT, "version": TEXT, "text": TEXT, "rules": SOME_TEXTS})}
)
COLUMNS = ("level", "status", MEANING, "profiles")
HEAD = f"""\
# The rules that are no draft: id, level, status, digest of the meaning, profiles that name the rule.
# `{COMMAND}` writes this file, and `make lint` compares it. CONTRIBUTING.md names the reviewers of a change.
# Longer than 500 lines: a line for each rule.
"""


def meaning(rule: Rule) -> str:
    """The digest of a rule's meaning: 16 hexadecimal digits."""
    values = sorted((value.name, str(value.value)) for value in rule.behaviours)
    fields = [rule.text, rule.applies, rule.kernels, values]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:16]


def profiles_of(root: Path, ids: set[str]) -> dict[str, list[str]]:
    """The profiles that name each rule of `ids`. UserError if a profile names another one."""
    found: dict[str, list[str]] = {one: [] for one in ids}
    for path in sorted((root / "conformance" / "profiles").glob("*.toml")):
        for one in toml_file.load(path, PROFILE)["profile"]["rules"]:
            if one not in ids:
                raise UserError(f"{path.name}: {one} is a draft or no rule of the catalogue")
            found[one].append(path.stem)
    return found


def golden(root: Path) -> str:
    """The text that the file must have."""
    rules = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
    listed = [rule for rule in rules if rule.status != "draft"]
    profiles = profiles_of(root, {rule.id for rule in listed})
    lines = [
        " ".join([rule.id, rule.level, rule.status, meaning(rule), *profiles[rule.id]])
        for rule in listed
    ]
    return HEAD + "".join(f"{line}\n" for line in lines)


def entries(text: str) -> dict[str, list[str]]:
    """The columns of each rule, by its id."""
    found = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            columns = line.split(" ", 4)
            found[columns[0]] = columns[1:] + [""] * (5 - len(columns))
    return found


def differences(before: str, now: str) -> Iterator[str]:
    """A line for each difference between two texts of the file."""
    old, new = entries(before), entries(now)
    for one in sorted(old | new):
        if one not in old:
            yield f"{one}: new: {' '.join(new[one]).strip()}"
        elif one not in new:
            yield f"{one}: now a draft, or missing in the catalogue"
        else:
            for name, was, value in zip(COLUMNS, old[one], new[one], strict=True):
                if was != value:
                    yield f"{one}: {name}: was '{was}', now '{value}'"


def findings(root: Path) -> list[str]:
    """The step `golden` of ci/lint.py."""
    try:
        now = golden(root)
        before = (root / FILE).read_text(encoding="utf-8") if (root / FILE).is_file() else ""
    except UserError as error:
        return [str(error)]
    if before == now:
        return []
    last = f"{FILE} differs: if each change is intended, {COMMAND} updates the file for its review"
    return [*differences(before, now), last]


def main(argv: Sequence[str], root: Path = ROOT) -> int:
    """Writes the file. Returns 0, or 2 with a line about an error."""
    argparse.ArgumentParser(prog=COMMAND, description=__doc__).parse_args(argv)
    try:
        store.write(root / FILE, golden(root).encode())
    except UserError as error:
        print(f"golden: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
