# SPDX-License-Identifier: Apache-2.0
"""Counts of tests, read from the result files that the project's programs leave."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from junitparser import Error, Failure, JUnitXml, JUnitXmlError, TestSuite


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


def _suites(path: Path) -> list[TestSuite]:
    try:
        report = JUnitXml.fromfile(str(path))
    except (OSError, SyntaxError, JUnitXmlError) as error:
        raise TotalsError(f"{path}: no readable JUnit report: {error}") from error
    return list(report) if isinstance(report, JUnitXml) else [report]


def read_junit(path: Path) -> Totals:
    """Counts of a JUnit file (ctest, pytest); errors count as failures."""
    suites = _suites(path)
    tests = sum(int(suite.tests or 0) for suite in suites)
    failed = sum(int(suite.failures or 0) + int(suite.errors or 0) for suite in suites)
    skipped = sum(int(suite.skipped or 0) for suite in suites)
    return Totals(tests - failed - skipped, failed, skipped)


def junit_failures(path: Path) -> list[str]:
    """Names of the tests of a JUnit file that failed."""
    return [
        str(case.name)
        for suite in _suites(path)
        for case in suite
        if any(isinstance(result, (Failure, Error)) for result in case.result)
    ]


def read_results(path: Path) -> Totals:
    """Counts of a results.json: totals {cases, passed, failed, skipped}; what is neither failed."""
    try:
        totals = json.loads(path.read_text())["totals"]
        cases, passed = int(totals["cases"]), int(totals["passed"])
        skipped = int(totals["skipped"]) + int(totals.get("waived", 0))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TotalsError(f"{path}: no readable results: {error!r}") from error
    return Totals(passed, cases - passed - skipped, skipped)


def results_failures(path: Path) -> list[str]:
    """Names of the cases of a results.json that failed, whatever the way."""
    try:
        document = json.loads(path.read_text())
        found = [
            str(case["id"])
            for case in document.get("cases", [])
            if case["result"] not in ("PASS", "SKIP", "WAIVED")
        ]
        return found + [str(problem) for problem in document.get("problems", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise TotalsError(f"{path}: no readable results: {error!r}") from error
