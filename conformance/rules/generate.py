# SPDX-License-Identifier: Apache-2.0
"""Check the rule catalogue (rules/*.toml) and convert it to C++: a header per area, and rules.cpp."""

from __future__ import annotations

import argparse
import dataclasses
import errno
import pathlib
import re
import sys
import tomllib
from collections.abc import Iterable

LEVELS = {"MUST": "kMust", "SHOULD": "kShould", "MAY": "kMay"}
STATUSES = {"draft": "kDraft", "active": "kActive", "retired": "kRetired"}
SUBJECTS = {
    "driver": "kDriver",
    "perf core": "kPerfCore",
    "architecture": "kArchitecture",
    "suite": "kSuite",
}
"""Whose code has to be fixed if the rule is violated (docs/adding.md)."""
ID = re.compile(r"[A-Z][A-Z0-9]*-[0-9]{3}")
LAYERS = ("case", "kunit", "fuzz", "vm", "review")
NAME = re.compile(r"[a-z][a-z0-9_]*")
NUMBER = re.compile(r"[0-9]+")
SERIES = r"[0-9]+\.[0-9]+"
KERNELS_FOLDER = pathlib.Path("vm/kernels")
KERNELS = re.compile(r"((>=|>|<=|<|==)[0-9]+\.[0-9]+)(,(>=|>|<=|<|==)[0-9]+\.[0-9]+)*")
HEADER = "// SPDX-License-Identifier: Apache-2.0\n// Generated from the rule catalogue by rules/generate.py.\n"


class CatalogueError(Exception):
    """An error in the catalogue. The message is one line with file, line and key."""


@dataclasses.dataclass(frozen=True)
class Value:
    """A value that the rule permits for the behaviour `name`: a number or an errno's name. `kernels` is for readers."""

    name: str
    value: int | str
    kernels: str


@dataclasses.dataclass(frozen=True)
class Rule:
    """One rule of the catalogue.

    `layer` lists what verifies the rule. `subject` names whose code has to be fixed if the rule is
    violated. `behaviours` has the values of what differs between kernels, each of which the rule permits.
    """

    id: str
    level: str
    status: str
    subject: str
    text: str
    why: str
    source: tuple[str, ...]
    applies: str
    kernels: str
    layer: tuple[str, ...] = ("case",)
    behaviours: tuple[Value, ...] = ()


def header_lines(text: str) -> list[int]:
    """Line numbers of the [[rule]] headers."""
    return [n for n, line in enumerate(text.splitlines(), 1) if line.strip().startswith("[[rule]]")]


def read_list(where: str, key: str, table: dict[str, object]) -> tuple[str, ...]:
    """The strings of a key that must have at least one."""
    value = table.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(s, str) for s in value):
        raise CatalogueError(f"{where}: key '{key}' must be a list of strings that is not empty")
    return tuple(str(s) for s in value)


def read_values(where: str, tables: object) -> tuple[Value, ...]:
    """The table behaviours: for each name a table from each permitted value to the kernels that have it."""
    if not isinstance(tables, dict):
        raise CatalogueError(f"{where}: key 'behaviours' must be a table")
    values = []
    for name, choices in tables.items():
        key = f"{where}: key 'behaviours.{name}'"
        if not NAME.fullmatch(name) or not isinstance(choices, dict) or len(choices) < 2:
            raise CatalogueError(f"{key} must be a table of two or more values")
        for value, kernels in choices.items():
            if not NUMBER.fullmatch(value) and not hasattr(errno, value):
                raise CatalogueError(f"{key}: '{value}' must be a number or an errno's name")
            if not isinstance(kernels, str) or not kernels.strip():
                raise CatalogueError(f"{key}: '{value}' must name the kernels that have it")
            number = int(value) if NUMBER.fullmatch(value) else value
            values.append(Value(name, number, kernels))
    return tuple(values)


def read_rule(where: str, area: str, table: dict[str, object]) -> Rule:
    """Checks one [[rule]] table."""
    known = {field.name for field in dataclasses.fields(Rule)}
    for key in table:
        if key not in known:
            raise CatalogueError(
                f"{where}: unknown key '{key}' (known: {', '.join(sorted(known))})"
            )
    values: dict[str, str] = {"applies": "true", "kernels": ">=6.1"}
    for name in known - {"source", "layer", "behaviours"}:
        value = table.get(name, values.get(name))
        if not isinstance(value, str) or not value.strip():
            raise CatalogueError(f"{where}: key '{name}' must be a string that is not empty")
        values[name] = " ".join(value.split())
    source = read_list(where, "source", table)
    layer = read_list(where, "layer", {"layer": ["case"], **table})
    if not ID.fullmatch(values["id"]) or not values["id"].startswith(area + "-"):
        raise CatalogueError(f"{where}: key 'id' must be {area}-NNN, not '{values['id']}'")
    if values["level"] not in LEVELS:
        raise CatalogueError(f"{where}: key 'level' must be one of {', '.join(LEVELS)}")
    if values["status"] not in STATUSES:
        raise CatalogueError(f"{where}: key 'status' must be one of {', '.join(STATUSES)}")
    if values["subject"] not in SUBJECTS:
        raise CatalogueError(f"{where}: key 'subject' must be one of {', '.join(SUBJECTS)}")
    if not KERNELS.fullmatch(values["kernels"]):
        raise CatalogueError(f"{where}: key 'kernels' must be like '>=6.1' or '>=6.1,<6.12'")
    for name in layer:
        if name not in LAYERS:
            raise CatalogueError(
                f"{where}: key 'layer' must have only {', '.join(LAYERS)}, not '{name}'"
            )
    behaviours = read_values(where, table.get("behaviours", {}))
    return Rule(source=source, layer=layer, behaviours=behaviours, **values)


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
    """All rules of all files, in order of id. Each id must be unique."""
    rules: dict[str, Rule] = {}
    for path in sorted(paths):
        for rule in read_file(path):
            if rule.id in rules:
                raise CatalogueError(f"{path}: key 'id': {rule.id} occurs twice")
            rules[rule.id] = rule
    return [rules[key] for key in sorted(rules)]


def quote(text: str) -> str:
    """A C++ string literal of `text`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def area_of(rule: Rule) -> str:
    """The area of a rule: "CNT" for CNT-003."""
    return rule.id.partition("-")[0]


def header_of(area: str, rules: list[Rule]) -> str:
    """rules/<AREA>.h. It has only names, so that a changed rule text rebuilds no case."""
    guard = f"PMUCONF_RULES_{area}_H_"
    lines = [HEADER, f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ['#include "harness/rule.h"', "", "namespace pmuconf::rule {", ""]
    lines += [f"extern const Rule {rule.id.replace('-', '_')};" for rule in rules]
    lines += ["", "}  // namespace pmuconf::rule", "", f"#endif  // {guard}", ""]
    return "\n".join(lines)


def definition_of(rule: Rule) -> list[str]:
    """The definition of the constant of one rule."""
    name = rule.id.replace("-", "_")
    lines = []
    if rule.behaviours:
        lines.append(f"static constexpr RuleValue k{name}_values[] = {{")
        for value in rule.behaviours:
            lines.append(f"    {{{quote(value.name)}, {value.value}, {quote(value.kernels)}}},")
        lines.append("};")
    lines += [
        f"constinit const Rule {name}{{",
        f"    .id = {quote(rule.id)},",
        f"    .level = Level::{LEVELS[rule.level]},",
        f"    .status = RuleStatus::{STATUSES[rule.status]},",
        f"    .subject = RuleSubject::{SUBJECTS[rule.subject]},",
        f"    .text = {quote(rule.text)},",
        f"    .why = {quote(rule.why)},",
        f"    .source = {quote('; '.join(rule.source))},",
        f"    .applies = {quote(rule.applies)},",
        f"    .kernels = {quote(rule.kernels)},",
        f"    .layer = {quote(', '.join(rule.layer))},",
    ]
    if rule.behaviours:
        lines.append(f"    .behaviours = k{name}_values,")
    return [*lines, "};"]


def source_of(rules: list[Rule], newest: str) -> str:
    """rules.cpp, with the rules and the table behind AllRules()."""
    lines = [HEADER, "#include <cerrno>", ""]
    lines += [f'#include "rules/{area}.h"' for area in sorted({*map(area_of, rules)})]
    lines += ["", "namespace pmuconf::rule {", ""]
    for rule in rules:
        lines += definition_of(rule)
    lines += ["", "}  // namespace pmuconf::rule", "", "namespace pmuconf {", ""]
    lines += ["std::string_view NewestDescribedKernel() {", f'  return "{newest}";', "}", ""]
    lines += ["std::span<const Rule> AllRules() {", "  static const Rule kRules[] = {"]
    lines += [f"      rule::{rule.id.replace('-', '_')}," for rule in rules]
    lines += ["  };", "  return kRules;", "}", "", "}  // namespace pmuconf", ""]
    return "\n".join(lines)


def newest_kernel(folder: pathlib.Path) -> str:
    """The newest series that has a file in `folder` (vm/kernels)."""
    series = [path.stem for path in folder.glob("*.toml") if re.fullmatch(SERIES, path.stem)]
    if not series:
        raise CatalogueError(f"{folder}: no file of a kernel, such as 6.12.toml")
    return max(series, key=lambda name: [int(part) for part in name.split(".")])


def write_if_changed(path: pathlib.Path, text: str) -> None:
    """Do not touch an unchanged file, because a new modification time would cause a rebuild."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def main() -> int:
    """Entry point: 0 for a valid catalogue, 1 and an error message of one line otherwise."""
    parser = argparse.ArgumentParser(
        prog="python3 -m conformance.rules.generate", description=__doc__
    )
    parser.add_argument("--out", type=pathlib.Path, help="folder for rules.cpp and rules/<AREA>.h")
    parser.add_argument(
        "--kernels", type=pathlib.Path, default=KERNELS_FOLDER, help="default: vm/kernels"
    )
    parser.add_argument("files", type=pathlib.Path, nargs="+", help="rules/*.toml")
    args = parser.parse_args()
    try:
        rules = read_catalogue(args.files)
        newest = newest_kernel(args.kernels)
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 1
    if args.out:
        for area in {*map(area_of, rules)}:
            text = header_of(area, [rule for rule in rules if area_of(rule) == area])
            write_if_changed(args.out / "rules" / f"{area}.h", text)
        write_if_changed(args.out / "rules.cpp", source_of(rules, newest))
    return 0


if __name__ == "__main__":
    sys.exit(main())
