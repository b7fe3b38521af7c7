# SPDX-License-Identifier: Apache-2.0
"""Reads the files of lies. `pmuconf` checks their calls, conditions and effects."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.rules.generate import Rule
from pmubase import toml_file
from pmubase.errors import UserError
from pmubase.toml_file import TEXT, TEXTS, like, table

FOLDER = Path("conformance/lies/data")
KILLS = ("FAIL", "CRASH", "TIMEOUT")
TARGET = "refpmu"
RESULTS = {**TEXTS, "items": {"enum": [*KILLS]}}
LIE = table(
    {
        **{"id": like("[a-z0-9]+(-[a-z0-9]+)*", "lower-case words with hyphens"), "text": TEXT},
        **{"call": {}, "path": {}, "when": {}, "effect": {}, "target": TEXT, "kill": RESULTS},
        **{"rules": TEXTS, "cases": TEXTS, "kernels": TEXTS},
    },
    optional=["path", "when", "rules", "cases", "target", "kernels", "kill"],
)
HEAD = re.compile(r"^\[\[lie\]\]\s*$", re.M)


@dataclass(frozen=True)
class Lie:
    """One entry of a file."""

    id: str
    text: str
    source: str
    """The TOML of this entry alone."""
    path: Path
    rules: tuple[str, ...]
    """The rules that it must fail."""
    cases: tuple[str, ...]
    """Cases to run before the others of its rules."""
    target: str
    kernels: tuple[str, ...]
    """Names of the kernels; all without one."""
    kill: tuple[str, ...]
    """The results that count as a catch."""

    def wants(self, kernel: str) -> bool:
        """Whether the lie is for this kernel."""
        return not self.kernels or kernel in self.kernels


def read(folder: Path) -> list[Lie]:
    """All lies of the files in `folder`. UserError for the first error."""
    lies: list[Lie] = []
    for path in sorted(folder.glob("*.toml")):
        lies += parse(path)
    seen: dict[str, Path] = {}
    for lie in lies:
        if lie.id in seen:
            raise UserError(f"{lie.path.name}: lie '{lie.id}' is also in {seen[lie.id].name}")
        seen[lie.id] = lie.path
    return lies


def parse(path: Path) -> list[Lie]:
    """The lies of one file."""
    entries = toml_file.load(path, toml_file.tables("lie", LIE)).get("lie", [])
    text = path.read_text(encoding="utf-8")
    starts = [match.start() for match in HEAD.finditer(text)]
    if len(starts) != len(entries):
        raise UserError(f"{path}: each lie needs a line [[lie]]")
    sources = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)])]
    return [_lie(path, entry, source) for entry, source in zip(entries, sources)]


def _lie(path: Path, entry: dict[str, Any], source: str) -> Lie:
    return Lie(
        id=entry["id"],
        text=entry["text"],
        source=source,
        path=path,
        rules=tuple(entry.get("rules", ())),
        cases=tuple(entry.get("cases", ())),
        target=entry.get("target", TARGET),
        kernels=tuple(entry.get("kernels", ())),
        kill=tuple(entry.get("kill", ("FAIL",))),
    )


def may_name(rule: Rule) -> bool:
    """Whether a lie may name the rule: cases verify it, and it is active or a draft."""
    return rule.status != "retired" and "case" in rule.layer


def unknown_rules(lies: Iterable[Lie], known: set[str]) -> list[str]:
    """A line for each rule that is not one of those that a lie may name."""
    return [
        f"{lie.path.name}: lie '{lie.id}': no active or draft rule that tests verify {rule}"
        for lie in lies
        for rule in lie.rules
        if rule not in known
    ]
