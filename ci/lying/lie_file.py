# SPDX-License-Identifier: Apache-2.0
"""Reads the files of lies. `pmuconf` checks their calls, conditions and effects."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.rules.generate import Rule

FOLDER = Path("conformance/lies/data")
ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
KEYS = {
    "id",
    "text",
    "call",
    "path",
    "when",
    "effect",
    "rules",
    "cases",
    "target",
    "kernels",
    "kill",
}
KILLS = ("FAIL", "CRASH", "TIMEOUT")
TARGET = "refpmu"
HEAD = re.compile(r"^\[\[lie\]\]\s*$", re.M)


class LieFileError(Exception):
    """A file has an error. The message is one line."""


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
    """All lies of the files in `folder`. LieFileError for the first error."""
    lies: list[Lie] = []
    for path in sorted(folder.glob("*.toml")):
        lies += parse(path)
    seen: dict[str, Path] = {}
    for lie in lies:
        if lie.id in seen:
            raise LieFileError(f"{lie.path.name}: lie '{lie.id}' is also in {seen[lie.id].name}")
        seen[lie.id] = lie.path
    return lies


def parse(path: Path) -> list[Lie]:
    """The lies of one file."""
    try:
        text = path.read_text(encoding="utf-8")
        tables = tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise LieFileError(f"{path.name}: {error}") from error
    if set(tables) - {"lie"}:
        raise LieFileError(f"{path.name}: unknown key '{min(set(tables) - {'lie'})}'")
    starts = [match.start() for match in HEAD.finditer(text)]
    entries = tables.get("lie", [])
    if len(starts) != len(entries):
        raise LieFileError(f"{path.name}: each lie needs a line [[lie]]")
    sources = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)])]
    return [_lie(path, entry, source) for entry, source in zip(entries, sources)]


def _lie(path: Path, entry: dict[str, Any], source: str) -> Lie:
    name = entry.get("id")
    where = f"{path.name}: lie '{name}'"
    if not isinstance(name, str) or not ID.fullmatch(name):
        raise LieFileError(f"{path.name}: key 'id' must be lower-case words with hyphens: {name!r}")
    if set(entry) - KEYS:
        raise LieFileError(f"{where}: unknown key '{min(set(entry) - KEYS)}'")
    text = entry.get("text")
    if not isinstance(text, str) or not text.strip():
        raise LieFileError(f"{where}: key 'text' must be a sentence")
    kill = _strings(where, entry, "kill") or ("FAIL",)
    if set(kill) - set(KILLS):
        raise LieFileError(f"{where}: key 'kill' has results out of {', '.join(KILLS)}")
    return Lie(
        id=name,
        text=text,
        source=source,
        path=path,
        rules=_strings(where, entry, "rules"),
        cases=_strings(where, entry, "cases"),
        target=str(entry.get("target", TARGET)),
        kernels=_strings(where, entry, "kernels"),
        kill=kill,
    )


def _strings(where: str, entry: dict[str, Any], key: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise LieFileError(f"{where}: key '{key}' must be a list of strings")
    if len(set(value)) != len(value):
        raise LieFileError(f"{where}: key '{key}' has an entry twice")
    return tuple(value)


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
