# SPDX-License-Identifier: Apache-2.0
"""The page of the mutants: what became of each class, and which rules no killed mutant shows."""

from __future__ import annotations

import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pmuvm import store

Row = dict[str, Any]
"""One trial, as in results.json."""
CLASSES = "classes.toml"
RESULTS = ("KILLED", "SURVIVED", "CRASH", "TIMEOUT", "BROKEN")


def shown(rows: Iterable[Row], rules_of: Mapping[str, Sequence[str]]) -> set[str]:
    """The rules that a mutant names and one of whose cases killed it; `rules_of` by case."""
    return {
        rule
        for row in rows
        if row["result"] == "KILLED"
        for rule in row["rules"]
        if row["observer"] == "kunit" or any(rule in rules_of.get(c, ()) for c in row["killed_by"])
    }


def page(
    rows: Sequence[Row],
    rules_of: Mapping[str, Sequence[str]],
    beyond: Mapping[str, str],
    titles: Mapping[str, str],
) -> str:
    """Markdown. `beyond`: rule → why no mutant can show it; `titles` of the classes."""
    lines = ["# Mutants", ""]
    for where in _sides(rows):
        results = Counter(row["result"] for row in rows if _side(row) == where)
        lines.append(f"- {where}: {results['KILLED']} of {results.total()} killed")
    lines += ["", *_classes(rows, titles), "", "## Not killed", ""]
    alive = [row for row in rows if row["result"] != "KILLED"]
    for row in alive:
        why = row["detail"] or f"rules {', '.join(row['rules']) or 'not named'}"
        lines.append(f"- {row['id']} ({row['file']}) on {_side(row)}: {row['result']}, {why}")
    lines += [] if alive else ["None."]
    return "\n".join([*lines, "", *_rules(rows, rules_of, beyond)]) + "\n"


def _side(row: Row) -> str:
    return f"{row['kernel']}, KUnit" if row["observer"] == "kunit" else f"{row['kernel']}, cases"


def _sides(rows: Iterable[Row]) -> list[str]:
    return list(dict.fromkeys(_side(row) for row in rows))


def _classes(rows: Sequence[Row], titles: Mapping[str, str]) -> list[str]:
    """A line a class: on each kernel, killed of tried; and the results that are no kill."""
    sides = _sides(rows)
    head = ["class", "what goes wrong", *sides, *RESULTS[1:]]
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
    rows: Sequence[Row], rules_of: Mapping[str, Sequence[str]], beyond: Mapping[str, str]
) -> list[str]:
    """How many rules were seen to fail, and of those that were not: why, with the longest list last."""
    every = {rule for rules in rules_of.values() for rule in rules}
    proven = shown(rows, rules_of) & every
    named = {rule for row in rows for rule in row["rules"]} & every
    groups: dict[str, list[str]] = defaultdict(list)
    for rule in sorted(named - proven):
        groups["named by a mutant that another of its rules killed first, or that lives"] += [rule]
    for rule in sorted(every - named):
        groups[beyond.get(rule, "named by no mutant of these runs")].append(rule)
    lines = [
        "## Rules without a killed mutant",
        "",
        f"Of {len(every)} rules that have cases, a mutant was killed by one of their own of {len(proven)}. "
        "A run stops at the first kill of each mutant: `ci/mutants.py --all` shows more.",
        "",
        "| rules | why not | which |",
        "|---|---|---|",
    ]
    for reason, rules in sorted(groups.items(), key=lambda group: (len(group[1]), group[0])):
        lines.append(f"| {len(rules)} | {reason} | {', '.join(rules)} |")
    return lines


def classes(folder: Path) -> dict[str, str]:
    """Class → what goes wrong, of a folder of patches; none if the folder has none."""
    path = folder / CLASSES
    if not path.is_file():
        return {}
    table = tomllib.loads(path.read_text(encoding="utf-8"))["classes"]
    return {str(name): str(title) for name, title in table.items()}


def with_other_kernels(rows: Sequence[Row], folder: Path, whole: bool) -> list[Row]:
    """`rows`, and behind them what the last whole run on each other kernel gave.

    `folder` keeps a file for each kernel; a run of all mutants (`whole`) leaves its own there.
    """
    ran = list(dict.fromkeys(str(row["kernel"]) for row in rows))
    for kernel in ran if whole else ():
        own = [row for row in rows if row["kernel"] == kernel]
        store.write(folder / f"{kernel}.json", json.dumps(own, indent=1).encode())
    if not whole:
        return list(rows)
    others = sorted(path for path in folder.glob("*.json") if path.stem not in ran)
    return [*rows, *(row for path in others for row in json.loads(path.read_bytes()))]
