# SPDX-License-Identifier: Apache-2.0
"""The history as text for a terminal."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterable, Iterator, Sequence

from typing import Any

from pmubase import store
from results import history
from results.errors import ResultsError
from results.history import Changes, Stored

SHORT = 12
"""The digits of a commit that are shown."""
GIT_S = 30
OPEN = {
    **{"failed": "FAILED", "waived": "WAIVED", "incomplete": "INCOMPLETE"},
    **{"not tested": "NOT_TESTED", "not judged": "NOT_JUDGED", "not run": "NOT_RUN"},
}
"""The results of rules that a claim lists, with their words."""
COUNTED = ("passed", "failed", "waived", "skipped")


def commit_of_checkout() -> str:
    """The commit of this checkout, with a + if a file differs from it. ResultsError outside a repository."""
    found = []
    for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--untracked-files=no")):
        try:
            done = subprocess.run(
                ["git", "-C", str(store.ROOT), *words],
                capture_output=True,
                text=True,
                timeout=GIT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise ResultsError("this folder has no commit: use --commit") from error
        found.append(done.stdout.strip())
    return found[0] + ("+" if found[1] else "")


def two_commits(database: sqlite3.Connection, old: str | None, new: str | None) -> tuple[str, str]:
    """The two commits to compare; by default the last two that have runs."""
    known = history.commits(database)
    if old is None and len(known) < 2:
        raise ResultsError("the history has runs of fewer than two commits")
    first = history.commit_of(database, old) if old is not None else known[-2]
    second = history.commit_of(database, new) if new is not None else known[-1]
    if first == second:
        raise ResultsError(f"the same commit twice: {first[:SHORT]}")
    return first, second


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def table_of_runs(runs: Iterable[Stored]) -> list[str]:
    """A line for each run, after a line of headings."""
    head = [
        "run",
        "added",
        "commit",
        "target",
        "kernel",
        "arch",
        "machine",
        "verdict",
        *COUNTED,
        "s",
    ]
    rows = [head]
    for run in runs:
        cell = run.cell
        rows.append(
            [
                *(str(run.id), run.added, run.commit[:SHORT], cell.target, cell.kernel, cell.arch),
                *(cell.machine, run.verdict),
                *(str(run.totals.get(key, "")) for key in COUNTED),
                f"{run.seconds:.0f}",
            ]
        )
    return list(_aligned(rows))


def lines_of_changes(old: str, new: str, found: Sequence[Changes]) -> list[str]:
    """The rules that changed, by cell. The last line counts the cells."""
    lines = []
    for changes in found:
        if not changes:
            continue
        lines.append(f"{changes.cell}:")
        named = {
            "newly failing": changes.failing,
            "fixed": changes.fixed,
            "newly skipped": changes.skipped,
            "flaky": changes.flaky,
        }
        for word, rules in named.items():
            for rule in rules:
                cases = ", ".join(changes.cases.get(rule, []))
                lines.append(f"  {word}: {rule}{f' ({cases})' if cases else ''}")
    changed = sum(bool(changes) for changes in found)
    lines.append(f"{old[:SHORT]} to {new[:SHORT]}: {changed} of {len(found)} cells differ")
    return lines


def lines_of_bundle(found: Any) -> list[str]:
    """The verified claim of a bundle (bundle.Verified): its subject, its verdict, and the rules without an answer."""
    manifest, results = found.manifest, found.results
    profile = f", profile {manifest['profile']}" if manifest["profile"] else ", whole catalogue"
    subject = f"{manifest['target']} on {manifest['release']} {manifest['arch']}{profile}"
    lines = [f"{manifest['verdict']}: {subject}", f"reason: {results['reason']}"]
    for word, result in OPEN.items():
        rules = found.rules(result)
        if rules:
            lines.append(f"{word}: {' '.join(rules)}")
    lines.append(f"suite: commit {manifest['commit']}")
    lines.append(f"signed by: {found.signer}" if found.signer else "signature: not checked")
    return lines
