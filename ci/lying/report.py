# SPDX-License-Identifier: Apache-2.0
"""Reports the results of the lies: progress, a page, results.json, and the exit status."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from ci.lying.trial import CAUGHT, MISSED, SKIPPED, Pair
from faults.lie_file import Lie
from pmubase import store

Row = dict[str, Any]
"""A pair, as in results.json."""
EVERY = 10


class Progress:
    """Prints a line for each lie that is not caught, and the time that remains."""

    def __init__(self, lies: Sequence[Lie], out: TextIO) -> None:
        self._total = len(lies)
        self._out = out
        self._begun = time.monotonic()
        self._done = 0

    def lie(self, lie: Lie, pairs: Sequence[Pair], ran: int, discovered: bool = False) -> None:
        """Counts a lie that has been judged."""
        self._done += 1
        if discovered:
            self._discovered(lie, pairs)
        for pair in () if discovered else pairs:
            if not pair.caught:
                self._print(f"{pair.result:<8} {lie.id} {pair.rule} {pair.case}: {pair.message}")
        if discovered or self._done % EVERY == 0 or self._done == self._total:
            spent = time.monotonic() - self._begun
            left = spent / self._done * (self._total - self._done)
            self._print(
                f"[{self._done}/{self._total}] lies, {ran} runs of cases, {spent:.0f} s, "
                f"about {left:.0f} s remain"
            )

    def _discovered(self, lie: Lie, pairs: Sequence[Pair]) -> None:
        named = [pair.rule for pair in pairs if pair.named]
        self._print(f"{lie.id}: rules = {json.dumps(named)}")
        for pair in pairs:
            sign = "named" if pair.named else "-----"
            self._print(f"    {sign} {pair.rule} {pair.case}: {pair.message}")

    def _print(self, text: str) -> None:
        print(text, file=self._out, flush=True)


def row(kernel: str, lie: Lie, pair: Pair) -> Row:
    """The pair as a row of results.json."""
    return {
        "id": f"{pair.lie}/{pair.rule}",
        "lie": pair.lie,
        "rule": pair.rule,
        "result": pair.result,
        "kernel": kernel,
        "target": lie.target,
        "file": lie.path.name,
        "case": pair.case,
        "named": pair.named,
        "message": pair.message,
    }


def write(rows: Sequence[Row], out: Path, partial: bool) -> None:
    """Writes results.json and the page."""
    results = Counter(each["result"] for each in rows)
    totals = {
        "cases": len(rows),
        "passed": results[CAUGHT],
        "failed": results[MISSED],
        "skipped": results[SKIPPED],
    }
    words = {CAUGHT: "PASS", MISSED: "FAIL", SKIPPED: "SKIP"}
    cases = [
        {
            "id": f"{each['id']} on {each['kernel']}",
            "result": words[each["result"]],
            "message": each["message"],
        }
        for each in rows
    ]
    document = {"totals": totals, "partial": partial, "cases": cases, "pairs": list(rows)}
    text = json.dumps(document, indent=1)
    store.write(out / "results.json", text.encode())
    store.write(out / "lies.md", page(rows).encode())


def page(rows: Sequence[Row]) -> str:
    """The page as Markdown: the pairs by kernel and file, and those that are not caught."""
    lines = ["# Lies", "", "| file | kernel | pairs | caught | rule named by the failure |"]
    lines.append("|---|---|---|---|---|")
    for file, kernel in sorted({(each["file"], each["kernel"]) for each in rows}):
        own = [each for each in rows if (each["file"], each["kernel"]) == (file, kernel)]
        caught = [each for each in own if each["result"] == CAUGHT]
        named = sum(each["named"] for each in caught)
        lines.append(f"| {file} | {kernel} | {len(own)} | {len(caught)} | {named} |")
    lines += ["", "## Not caught", ""]
    odd = [each for each in rows if each["result"] != CAUGHT]
    lines += [
        f"- {each['id']} on {each['kernel']}: {each['result']} {each['message']}" for each in odd
    ] or ["None."]
    lines += ["", "## Caught by a failure that does not name the rule", ""]
    weak = [each for each in rows if each["result"] == CAUGHT and not each["named"]]
    lines += [f"- {each['id']}: {each['case']}: {each['message']}" for each in weak] or ["None."]
    return "\n".join(lines) + "\n"


def summary(rows: Sequence[Row]) -> str:
    """The last line."""
    results = Counter(each["result"] for each in rows)
    lies = len({each["lie"] for each in rows})
    rules = len({each["rule"] for each in rows if each["result"] == CAUGHT})
    return (
        f"{results[CAUGHT]} of {len(rows)} pairs of a lie and a rule caught: "
        f"{lies} lies, {rules} rules"
    )


def status(rows: Sequence[Row]) -> int:
    """Returns 0 if all pairs are caught, 1 if not, 2 if there is none."""
    if not rows:
        return 2
    return 0 if all(each["result"] == CAUGHT for each in rows) else 1
