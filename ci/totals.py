# SPDX-License-Identifier: Apache-2.0
"""Counts of tests, read from the result files that the project's programs leave."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from junitparser import JUnitXml, JUnitXmlError


class TotalsError(Exception):
    """A result file is missing or cannot be read; the message names it."""


@dataclass(frozen=True)
class Totals:
    """How many tests passed, failed (whatever the way) and were skipped."""

    passed: int
    failed: int
    skipped: int

    def __add__(self, other: Totals) -> Totals:
        return Totals(
            self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped
        )

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read_junit(path: Path) -> Totals:
    """Counts of a JUnit file (ctest, pytest); errors count as failures."""
    try:
        report = JUnitXml.fromfile(str(path))
    except (OSError, SyntaxError, JUnitXmlError) as error:
        raise TotalsError(f"{path}: no readable JUnit report: {error}") from error
    suites = list(report) if isinstance(report, JUnitXml) else [report]
    tests = sum(int(suite.tests or 0) for suite in suites)
    failed = sum(int(suite.failures or 0) + int(suite.errors or 0) for suite in suites)
    skipped = sum(int(suite.skipped or 0) for suite in suites)
    return Totals(tests - failed - skipped, failed, skipped)


def read_results(path: Path) -> Totals:
    """Counts of a results.json: totals {cases, passed, failed, skipped}; what is neither failed."""
    try:
        totals = json.loads(path.read_text())["totals"]
        cases, passed = int(totals["cases"]), int(totals["passed"])
        skipped = int(totals["skipped"]) + int(totals.get("waived", 0))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TotalsError(f"{path}: no readable results: {error!r}") from error
    return Totals(passed, cases - passed - skipped, skipped)
