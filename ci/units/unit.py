# SPDX-License-Identifier: Apache-2.0
"""A unit of testing: its commands, inputs, resources and outcome."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from junitparser import Error, Failure, JUnitXml, JUnitXmlError, Skipped, TestSuite

from ci.units.records import Case
from pmubase import store

ROOT = store.ROOT
OUT = ROOT / "build" / "check"
ENVIRONMENT = ("PMUCONF_ACCEL",)
"""Environment variables that change the behaviour of units."""


@dataclasses.dataclass(frozen=True)
class Unit:
    """Commands that run in order, and a report of their tests."""

    name: str
    """GROUP/NAME; `--stages` selects groups."""
    commands: tuple[tuple[str, ...], ...]
    budget_s: int
    repeat: str
    """The command that repeats only this unit."""
    report: Path | None = None
    """results.json or JUnit XML. Without a report the unit is one test, and its exit status is the result."""
    needs: tuple[str, ...] = ()
    """Names of the builds that must finish first."""
    reads: tuple[str, ...] = ()
    """Stated inputs, as names of units.inputs."""
    traced: bool = False
    """Whether a tracer records further inputs."""
    traceable: bool = True
    """Whether its commands work under a tracer; if not, its stated inputs cannot be verified."""
    cores: int = 1
    memory_mb: int = 700
    default_s: float = 10
    """Duration of a unit without an earlier run."""
    lock: str = ""
    """Units with the same lock never run concurrently, since they write the same files."""
    fresh: tuple[str, ...] = ()
    """Arguments for the last command that make it run what passed before, too."""
    build: bool = False
    """The unit has no tests: other units need it. It always runs; without changes it is fast."""

    def stated(self) -> set[str]:
        """The inputs that are known before the unit runs. Its commands are one of them."""
        script = " && ".join(" ".join(command) for command in self.commands)
        text = f"text:{script.replace(str(ROOT), '.')}"
        return {*self.reads, *(f"env:{name}" for name in ENVIRONMENT), text}

    @property
    def group(self) -> str:
        """The name of the group for `--stages`."""
        return self.name.partition("/")[0]

    @property
    def log(self) -> Path:
        """The output of the commands."""
        return OUT / "logs" / f"{self.name.replace('/', '+')}.log"

    @property
    def trace(self) -> Path:
        """The output of strace."""
        return self.log.with_suffix(".trace")

    @property
    def cases_log(self) -> Path:
        """The ids of the cases that the unit's guests ran."""
        return self.log.with_suffix(".cases")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a unit."""

    unit: Unit
    cases: tuple[Case, ...]
    took_s: float = 0.0
    cached: bool = False
    """The unit passed before with the same inputs and did not run."""
    remarks: tuple[str, ...] = ()
    """Results that differ from a recorded pass with the same inputs, and other remarks."""
    why: str = ""
    """The reason why no recorded pass was valid."""

    @property
    def failed(self) -> list[Case]:
        """The tests that did not pass."""
        return [case for case in self.cases if not case.good]


class ReportError(Exception):
    """A report is missing or unreadable. The message names it."""


def read_report(path: Path) -> tuple[Case, ...]:
    """Reads the tests of a report."""
    return _junit(path) if path.suffix == ".xml" else _results(path)


def _junit(path: Path) -> tuple[Case, ...]:
    try:
        report = JUnitXml.fromfile(str(path))
    except (OSError, SyntaxError, JUnitXmlError) as error:
        raise ReportError(f"{path}: no readable JUnit report: {error}") from error
    suites: list[TestSuite] = list(report) if isinstance(report, JUnitXml) else [report]
    found = []
    for suite in suites:
        for case in suite:
            bad = [each for each in case.result if isinstance(each, (Failure, Error))]
            skipped = any(isinstance(each, Skipped) for each in case.result)
            result = "FAIL" if bad else "SKIP" if skipped else "PASS"
            message = str(bad[0].message or "") if bad else ""
            name = f"{case.classname}::{case.name}" if case.classname else str(case.name)
            found.append(Case(name, result, (), message.partition("\n")[0][:300]))
    return tuple(found)


def _results(path: Path) -> tuple[Case, ...]:
    """Reads a results.json: its cases and problems. If it has no cases, its totals."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        totals = document["totals"]
        found = [
            Case(
                str(case["id"]),
                str(case["result"]),
                tuple(str(rule) for rule in case.get("rules", ())),
                str(case.get("message", ""))[:300],
            )
            for case in document.get("cases", [])
        ]
        problems = [str(problem) for problem in document.get("problems", [])]
        counts = int(totals["passed"]), int(totals["cases"]), int(totals["skipped"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(f"{path}: no readable results: {error!r}") from error
    passed, cases, skipped = counts
    if not found:
        failed = cases - passed - skipped - int(totals.get("waived", 0))
        numbers = (("PASS", passed), ("SKIP", cases - passed - failed), ("FAIL", failed))
        found = [Case(f"{word} {n + 1}", word) for word, count in numbers for n in range(count)]
    return (*found, *(Case(f"({problem})", "FAIL") for problem in problems))
