# SPDX-License-Identifier: Apache-2.0
"""Runs the checks on files."""

from __future__ import annotations

import concurrent.futures
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from pmubase.errors import UserError

from .checks import counting, groups, opening, registration, sysfs
from .facts import Fact
from .program import Pmu, Program
from .view import CANNOT_TELL, CHECKS, VERDICTS, Finding, View

LOADED = (counting, groups, opening, registration, sysfs)
"""The modules that register checks."""


def review_file(path: Path) -> list[Finding]:
    """The findings of all checks for a file; those of other files of its module are with them."""
    program = Program(path)
    found: set[Finding] = set()
    for pmu in program.pmus:
        view = View(program, pmu)
        for name, run in CHECKS.items():
            for verdict, fact, message in run(view):
                found.add(Finding(fact.file, fact.line, name, verdict, message))
    if not program.pmus:
        if "perf_pmu_register(" not in program.texts[path]:
            raise UserError(f"{path}: no struct pmu with an event_init, so nothing to review")
        view = View(program, Pmu({}, Fact(1, 0, "member", "", (), path)))
        for verdict, fact, message in CHECKS["sysfs-emit"](view):
            found.add(Finding(fact.file, fact.line, "sysfs-emit", verdict, message))
        message = "the file registers a PMU whose struct pmu the review does not find"
        found.add(Finding(path, 1, "type-first", CANNOT_TELL, message))
    return sorted(found)


def _try(path: Path) -> tuple[list[Finding], str]:
    try:
        return review_file(path), ""
    except UserError as error:
        return [], str(error)


def review(paths: Sequence[Path]) -> tuple[list[Finding], list[str]]:
    """The findings for files, each once, and one line for each file that cannot be reviewed."""
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        done = list(pool.map(_try, paths))
    return best(finding for found, _ in done for finding in found), [
        error for _, error in done if error
    ]


def best(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each line and check: the worst."""
    worst: dict[tuple[Path, int, str], Finding] = {}
    for finding in findings:
        key = finding.file, finding.line, finding.check
        kept = worst.get(key)
        if kept is None or VERDICTS.index(finding.verdict) < VERDICTS.index(kept.verdict):
            worst[key] = finding
    return sorted(worst.values())
