# SPDX-License-Identifier: Apache-2.0
"""The results of fuzzing system calls in guests: figures and findings of each target, as a table and as JSON."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from fuzz import page
from pmubase import store
from pmubase.errors import UserError

FIGURES = re.compile(
    r"^syscall_fuzzer: programs=(\d+) operations=(\d+) compared=(\d+) opened=(\d+) places=(\d+)"
    r" seconds=([\d.]+)$",
    re.M,
)
FEATURES = re.compile(r"\bft: (\d+)")


@dataclass(frozen=True)
class Finding:
    """A finding: its input and its messages."""

    said: tuple[str, ...]
    input: str
    """Empty if the input is unknown, because many programs ran before the finding was detected."""
    log: str
    repeat: str


@dataclass
class Campaign:
    """The results for one target."""

    target: str
    kernel: str
    coverage: bool
    programs: int = 0
    operations: int = 0
    compared: int = 0
    opened: int = 0
    places: int = 0
    features: int = 0
    corpus: int = 0
    seconds: float = 0.0
    findings: list[Finding] = dataclasses.field(default_factory=list)
    error: str = ""

    def add(self, output: str) -> None:
        """Adds the figures of a slice. UserError if the output has none."""
        found = FIGURES.findall(output)
        if not found:
            tail = output.strip().splitlines()[-1:] or ["no output"]
            raise UserError(f"the fuzzer ended without figures: {tail[0]}")
        programs, operations, compared, opened, places = map(int, found[-1][:5])
        self.programs += programs
        self.operations += operations
        self.compared += compared
        self.opened += opened
        self.places = max(self.places, places)
        self.features = max([self.features, *map(int, FEATURES.findall(output))])
        self.seconds += float(found[-1][5])


def table(campaigns: Sequence[Campaign]) -> str:
    """A line for each target, and the findings below."""
    rows = [
        f"{'target':<10}{'programs':>10}{'per s':>7}{'operations':>12}{'per s':>7}{'compared':>10}"
        f"{'places':>8}{'corpus':>8}  findings"
    ]
    for c in campaigns:
        what = f"not judged: {c.error}" if c.error else str(len(c.findings))
        per_s = 1 / c.seconds if c.seconds else 0
        rows.append(
            f"{c.target:<10}{c.programs:>10}{c.programs * per_s:>7.0f}{c.operations:>12}"
            f"{c.operations * per_s:>7.0f}{c.compared:>10}{c.places:>8}{c.corpus:>8}  {what}"
        )
    for c in campaigns:
        for finding in c.findings:
            rows += [f"finding on {c.target}: {line}" for line in finding.said]
            rows.append(f"  {finding.input or finding.log}\n  repeat with: {finding.repeat}")
    return "\n".join(rows)


def status(campaigns: Sequence[Campaign]) -> int:
    """Returns 0 if clean, 1 for a finding, 2 if not judged. A finding takes precedence over a target that was not
    judged."""
    if any(c.findings for c in campaigns):
        return 1
    return 2 if not campaigns or any(c.error for c in campaigns) else 0


def report(campaigns: Sequence[Campaign], path: Path) -> None:
    """Writes the results for programs."""
    passed = sum(not c.findings and not c.error for c in campaigns)
    totals = {
        "executions": sum(c.programs for c in campaigns),
        "operations": sum(c.operations for c in campaigns),
        "findings": sum(len(c.findings) for c in campaigns),
        "cases": len(campaigns),
        "passed": passed,
        "failed": len(campaigns) - passed,
        "skipped": 0,
    }
    figures = {"totals": totals, "targets": [asdict(c) for c in campaigns]}
    store.write(path, (json.dumps(figures, indent=2) + "\n").encode())


def as_run(campaign: Campaign) -> page.Run:
    """The row of the page."""
    return page.Run(
        subject=f"{campaign.target} on {campaign.kernel}",
        executions=campaign.operations,
        seconds=campaign.seconds,
        reached=campaign.places,
        corpus=campaign.corpus,
        findings=len(campaign.findings),
    )
