# SPDX-License-Identifier: Apache-2.0
"""Writes the page of the mutants: the results of each class, and the rules without a killed mutant."""

from __future__ import annotations

import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pmubase import store

Row = dict[str, Any]
"""One trial, as in results.json."""
CLASSES = "classes.toml"
RESULTS = ("KILLED", "SURVIVED", "CRASH", "TIMEOUT", "BROKEN")


def verified_by_kills(rows: Iterable[Row]) -> set[str]:
    """The rules that a mutant names and that a test of theirs verified by killing it."""
    return {rule for row in rows if row["result"] == "KILLED" for rule in row["failed_rules"]}


def page(
    rows: Sequence[Row],
    rules_of: Mapping[str, Sequence[str]],
    exempt: Mapping[str, str],
    titles: Mapping[str, str],
) -> str:
    """The page as Markdown. `exempt`: the reason why no mutant can violate a rule. `titles`: the titles of the classes."""
    lines = ["# Mutants", ""]
    for where in _sides(rows):
        results = Counter(row["result"] for row in rows if _side(row) == where)
        lines.append(f"- {where}: {results['KILLED']} of {results.total()} killed")
    lines += ["", *_classes(rows, titles), "", "## Not killed", ""]
    alive = [row for row in rows if "KILLED" not in (row["result"], row["verdict"])]
    for row in alive:
        why = row["detail"] or f"rules {', '.join(row['rules']) or 'not named'}"
        lines.append(f"- {row['id']} ({row['file']}) on {_side(row)}: {row['result']}, {why}")
    lines += [] if alive else ["None."]
    return "\n".join([*lines, "", *_rules(rows, rules_of, exempt)]) + "\n"


def _side(row: Row) -> str:
    return f"{row['kernel']}, {row['observer']}"


def _sides(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(_side(row) for row in rows))


def _classes(rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """The table of classes: killed and tried mutants on each kernel, and the other results."""
    sides = _sides(rows)
    head = ["class", "failure", *sides, *RESULTS[1:]]
    lines = ["## Classes", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    classes = sorted({row["class"] for row in rows})
    for name, own in [
        *((name, [row for row in rows if row["class"] == name]) for name in classes),
        ("all", list(rows)),
    ]:
        cells = [name or "none", titles.get(name, "")]
        for side in sides:
            results = Counter(row["result"] for row in own if _side(row) == side)
            cells.append(f"{results['KILLED']}/{results.total()}" if results else "")
        others = Counter(row["result"] for row in own)
        cells += [str(others[word] or "") for word in RESULTS[1:]]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _rules(
    rows: Sequence[Row], rules_of: Mapping[str, Sequence[str]], exempt: Mapping[str, str]
) -> list[str]:
    """The number of rules that a kill verified, and the other rules by reason; the longest list is last."""
    every = {rule for rules in rules_of.values() for rule in rules}
    proven = verified_by_kills(rows) & every
    named = {rule for row in rows for rule in row["rules"]} & every
    groups: dict[str, list[str]] = defaultdict(list)
    for rule in sorted(named - proven):
        groups["a mutant names it, but another rule killed the mutant first, or none did"] += [rule]
    for rule in sorted(every - named):
        groups[exempt.get(rule, "no mutant of these runs names it")].append(rule)
    lines = [
        "## Rules without a killed mutant",
        "",
        f"{len(every)} rules have cases. For {len(proven)} of them, a case of the rule killed a mutant. "
        "With `python3 -m ci.mutants --rules` a run stops when each rule of a mutant was failed, not at its first kill.",
        "",
        "| rules | reason | which |",
        "|---|---|---|",
    ]
    for reason, rules in sorted(groups.items(), key=lambda group: (len(group[1]), group[0])):
        lines.append(f"| {len(rules)} | {reason} | {', '.join(rules)} |")
    return lines


def classes(folder: Path) -> dict[str, str]:
    """The title of each class in a folder of patches. Without a file of titles it is empty."""
    path = folder / CLASSES
    if not path.is_file():
        return {}
    table = tomllib.loads(path.read_text(encoding="utf-8"))["classes"]
    return {str(name): str(title) for name, title in table.items()}


def add_rows_of_other_kernels(rows: Sequence[Row], folder: Path, whole: bool) -> list[Row]:
    """`rows`, followed by the rows of the last complete run on each other kernel.

    `folder` has a file for each kernel. A run of all mutants (`whole`) writes one.
    """
    ran = list(dict.fromkeys(str(row["kernel"]) for row in rows))
    for kernel in ran if whole else ():
        own = [row for row in rows if row["kernel"] == kernel]
        store.write(folder / f"{kernel}.json", json.dumps(own, indent=1).encode())
    if not whole:
        return list(rows)
    others = sorted(path for path in folder.glob("*.json") if path.stem not in ran)
    return [*rows, *(row for path in others for row in json.loads(path.read_bytes()))]
