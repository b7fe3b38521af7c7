# SPDX-License-Identifier: Apache-2.0
"""Check the rule catalogue (rules/*.toml) and convert it to C++: a header per area, and rules.cpp."""

from __future__ import annotations

import argparse
import dataclasses
import errno
import pathlib
import re
import sys
from collections.abc import Iterable
from typing import Any

from pmubase import toml_file
from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, TEXT, Schema, like, table

LEVELS = {"MUST": "kMust", "SHOULD": "kShould", "MAY": "kMay"}
STATUSES = {"draft": "kDraft", "active": "kActive", "retired": "kRetired"}
SUBJECTS = {
    "driver": "kDriver",
    "perf core": "kPerfCore",
    "architecture": "kArchitecture",
    "suite": "kSuite",
}
"""Whose code has to be fixed if the rule is violated (docs/adding.md)."""
LAYERS = ("case", "kunit", "fuzz", "vm", "review")
SERIES = r"[0-9]+\.[0-9]+"
KERNELS_FOLDER = pathlib.Path("vm/kernels")
KERNELS = r"((>=|>|<=|<|==)[0-9]+\.[0-9]+)(,(>=|>|<=|<|==)[0-9]+\.[0-9]+)*"
VALUES: Schema = {
    "description": "a table of two or more values",
    **{"type": "object", "minProperties": 2, "additionalProperties": TEXT},
    "propertyNames": like("[0-9]+|" + "|".join(errno.errorcode.values()), "a number or an errno"),
}
BEHAVIOURS: Schema = {
    **{"type": "object", "additionalProperties": VALUES},
    "propertyNames": like("[a-z][a-z0-9_]*", "a lower-case name"),
}
"""For each name a table from each permitted value to the kernels that have it."""
HEADER = "// SPDX-License-Identifier: Apache-2.0\n// Generated from the rule catalogue by rules/generate.py.\n"


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


def schema(area: str) -> Schema:
    """The schema of the rules of an area."""
    keys = {
        "id": like(f"{area}-[0-9]{{3}}", f"{area}-NNN"),
        "level": {"enum": [*LEVELS]},
        "status": {"enum": [*STATUSES]},
        "subject": {"enum": [*SUBJECTS]},
        **{"text": TEXT, "why": TEXT, "source": SOME_TEXTS, "applies": TEXT},
        "kernels": like(KERNELS, "like '>=6.1' or '>=6.1,<6.12'"),
        "layer": {**SOME_TEXTS, "items": {"enum": [*LAYERS]}},
        "behaviours": BEHAVIOURS,
    }
    rule = table(keys, optional=["applies", "kernels", "layer", "behaviours"])
    rules = {"type": "array", "items": rule, "minItems": 1}
    return table({"area": TEXT, "rule": rules}, optional=["area"])


def rule_of(entry: dict[str, Any]) -> Rule:
    """The rule of a table [[rule]] that follows the schema."""
    texts = {"applies": "true", "kernels": ">=6.1"}
    texts |= {key: " ".join(text.split()) for key, text in entry.items() if isinstance(text, str)}
    values = tuple(
        Value(name, int(value) if value.isdigit() else value, kernels)
        for name, choices in entry.get("behaviours", {}).items()
        for value, kernels in choices.items()
    )
    layer = tuple(entry.get("layer", ("case",)))
    return Rule(source=tuple(entry["source"]), layer=layer, behaviours=values, **texts)


def read_file(path: pathlib.Path) -> list[Rule]:
    """All rules of one file."""
    return [rule_of(entry) for entry in toml_file.load(path, schema(path.stem))["rule"]]


def read_areas(folder: pathlib.Path) -> dict[str, str]:
    """What the rules of each area are about: "branch stacks: the branches before a sample"."""
    paths = sorted(folder.glob("*.toml"))
    return {path.stem: str(toml_file.load(path, schema(path.stem))["area"]) for path in paths}


def read_catalogue(paths: Iterable[pathlib.Path]) -> list[Rule]:
    """All rules of all files, in order of id. Each id must be unique."""
    rules: dict[str, Rule] = {}
    for path in sorted(paths):
        for rule in read_file(path):
            if rule.id in rules:
                raise UserError(f"{path}: rule.id: {rule.id} occurs twice")
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
        raise UserError(f"{folder}: no file of a kernel, such as 6.12.toml")
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
    except UserError as error:
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
