#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turn the rule catalogue (rules/*.toml) into rules.h and rules.cpp, checking it on the way."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import re
import sys
import tomllib
from collections.abc import Iterable

LEVELS = {"MUST": "kMust", "SHOULD": "kShould", "MAY": "kMay"}
STATUSES = {"draft": "kDraft", "active": "kActive", "retired": "kRetired"}
ID = re.compile(r"[A-Z][A-Z0-9]*-[0-9]{3}")
KERNELS = re.compile(r"((>=|>|<=|<|==)[0-9]+\.[0-9]+)(,(>=|>|<=|<|==)[0-9]+\.[0-9]+)*")
HEADER = "// SPDX-License-Identifier: Apache-2.0\n// Generated from the rule catalogue by rules/generate.py.\n"


class CatalogueError(Exception):
    """One line that names the file, the line and the key that is wrong."""


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule of the catalogue."""

    id: str
    level: str
    status: str
    text: str
    why: str
    source: tuple[str, ...]
    applies: str
    kernels: str


def header_lines(text: str) -> list[int]:
    """Line numbers of the [[rule]] headers."""
    return [n for n, line in enumerate(text.splitlines(), 1) if line.strip().startswith("[[rule]]")]


def read_rule(where: str, area: str, table: dict[str, object]) -> Rule:
    """Check one [[rule]] table."""
    known = {field.name for field in dataclasses.fields(Rule)}
    for key in table:
        if key not in known:
            raise CatalogueError(
                f"{where}: unknown key '{key}' (known: {', '.join(sorted(known))})"
            )
    values: dict[str, str] = {"applies": "true", "kernels": ">=6.1"}
    for name in known - {"source"}:
        value = table.get(name, values.get(name))
        if not isinstance(value, str) or not value.strip():
            raise CatalogueError(f"{where}: key '{name}' must be a string that is not empty")
        values[name] = " ".join(value.split())
    source = table.get("source")
    if not isinstance(source, list) or not source or not all(isinstance(s, str) for s in source):
        raise CatalogueError(f"{where}: key 'source' must be a list of strings that is not empty")
    if not ID.fullmatch(values["id"]) or not values["id"].startswith(area + "-"):
        raise CatalogueError(f"{where}: key 'id' must be {area}-NNN, not '{values['id']}'")
    if values["level"] not in LEVELS:
        raise CatalogueError(f"{where}: key 'level' must be one of {', '.join(LEVELS)}")
    if values["status"] not in STATUSES:
        raise CatalogueError(f"{where}: key 'status' must be one of {', '.join(STATUSES)}")
    if not KERNELS.fullmatch(values["kernels"]):
        raise CatalogueError(f"{where}: key 'kernels' must be like '>=6.1' or '>=6.1,<6.12'")
    return Rule(source=tuple(str(s) for s in source), **values)


def read_file(path: pathlib.Path) -> list[Rule]:
    """All rules of one file."""
    try:
        text = path.read_text(encoding="utf-8")
        tables = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CatalogueError(f"{path}: {error}") from error
    for key in tables:
        if key != "rule":
            raise CatalogueError(f"{path}: unknown key '{key}' (known: rule)")
    entries = tables.get("rule", [])
    if not isinstance(entries, list) or not entries:
        raise CatalogueError(f"{path}: no [[rule]]")
    lines = header_lines(text)
    rules = []
    for index, table in enumerate(entries):
        line = lines[index] if len(lines) == len(entries) else 1
        rules.append(read_rule(f"{path}:{line}", path.stem, table))
    return rules


def read_catalogue(paths: Iterable[pathlib.Path]) -> list[Rule]:
    """All rules of all files, in order of id; an id may stand only once."""
    rules: dict[str, Rule] = {}
    for path in sorted(paths):
        for rule in read_file(path):
            if rule.id in rules:
                raise CatalogueError(f"{path}: key 'id': {rule.id} stands twice")
            rules[rule.id] = rule
    return [rules[key] for key in sorted(rules)]


def quote(text: str) -> str:
    """A C++ string literal of `text`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def header_of(rules: list[Rule]) -> str:
    """rules.h: one constant a rule."""
    lines = [HEADER, "#ifndef PMUCONF_RULES_H_", "#define PMUCONF_RULES_H_", ""]
    lines += ['#include "pmuconf/rule.h"', "", "namespace pmuconf::rule {", ""]
    for rule in rules:
        lines.append(f"inline constexpr Rule {rule.id.replace('-', '_')}{{")
        lines.append(f"    .id = {quote(rule.id)},")
        lines.append(f"    .level = Level::{LEVELS[rule.level]},")
        lines.append(f"    .status = RuleStatus::{STATUSES[rule.status]},")
        lines.append(f"    .text = {quote(rule.text)},")
        lines.append(f"    .why = {quote(rule.why)},")
        lines.append(f"    .source = {quote('; '.join(rule.source))},")
        lines.append(f"    .applies = {quote(rule.applies)},")
        lines.append(f"    .kernels = {quote(rule.kernels)},")
        lines.append("};")
    lines += ["", "}  // namespace pmuconf::rule", "", "#endif  // PMUCONF_RULES_H_", ""]
    return "\n".join(lines)


def source_of(rules: list[Rule]) -> str:
    """rules.cpp: the table behind AllRules()."""
    lines = [HEADER, '#include "pmuconf/rules.h"', "", "namespace pmuconf {", ""]
    lines += ["std::span<const Rule> AllRules() {", "  static constexpr Rule kRules[] = {"]
    lines += [f"      rule::{rule.id.replace('-', '_')}," for rule in rules]
    lines += ["  };", "  return kRules;", "}", "", "}  // namespace pmuconf", ""]
    return "\n".join(lines)


def write_if_changed(path: pathlib.Path, text: str) -> None:
    """Leave the file's time alone when nothing changed, so that nothing is rebuilt for it."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Entry point: 0 when the catalogue is right, 1 with one line when it is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--header", type=pathlib.Path, help="rules.h to write")
    parser.add_argument("--source", type=pathlib.Path, help="rules.cpp to write")
    parser.add_argument("files", type=pathlib.Path, nargs="+", help="rules/*.toml")
    args = parser.parse_args()
    try:
        rules = read_catalogue(args.files)
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 1
    if args.header:
        write_if_changed(args.header, header_of(rules))
    if args.source:
        write_if_changed(args.source, source_of(rules))
    return 0


if __name__ == "__main__":
    sys.exit(main())
