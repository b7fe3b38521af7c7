# SPDX-License-Identifier: Apache-2.0
"""A unit of testing: what it runs, what it reads, what it takes; and what came of it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from junitparser import Error, Failure, JUnitXml, JUnitXmlError, Skipped, TestSuite

from pmuvm import store
from units.records import Case

ROOT = store.ROOT
OUT = ROOT / "build" / "check"
ENVIRONMENT = ("PMUCONF_ACCEL", "PMUCONF_SYSROOT")
"""Variables that change what units do."""


@dataclasses.dataclass(frozen=True)
class Unit:
    """Commands that run in order, and the file that says what they tested."""

    name: str
    """GROUP/WHAT; the group is what `--stages` names."""
    commands: tuple[tuple[str, ...], ...]
    budget_s: int
    repeat: str
    """The command that repeats just this."""
    report: Path | None = None
    """results.json, or JUnit's XML; without one the unit is a single test that its exit status decides."""
    needs: tuple[str, ...] = ()
    """Names of the builds that must be done before."""
    reads: tuple[str, ...] = ()
    """Inputs that are known beforehand, as units.inputs names them."""
    traced: bool = False
    """The commands are traced: whatever else they read is an input, too."""
    traceable: bool = True
    """Whether its commands work under a tracer; if not, its stated inputs cannot be verified."""
    cores: int = 1
    memory_mb: int = 700
    default_s: float = 10
    """What it takes where no earlier run tells."""
    lock: str = ""
    """Two units of the same lock never run at once: they write the same files."""
    fresh: tuple[str, ...] = ()
    """What is added to the last command to have it run what passed before, too."""
    build: bool = False
    """It tests nothing: others need it. It runs each time, and does nothing where nothing changed."""

    def stated(self) -> set[str]:
        """The inputs that are known before it runs; its commands are one."""
        said = " && ".join(" ".join(command) for command in self.commands)
        text = f"text:{said.replace(str(ROOT), '.')}"
        return {*self.reads, *(f"env:{name}" for name in ENVIRONMENT), text}

    @property
    def group(self) -> str:
        """What `--stages` calls it."""
        return self.name.partition("/")[0]

    @property
    def log(self) -> Path:
        """What its commands print."""
        return OUT / "logs" / f"{self.name.replace('/', '+')}.log"

    @property
    def trace(self) -> Path:
        """What strace prints of its commands."""
        return self.log.with_suffix(".trace")

    @property
    def cases_log(self) -> Path:
        """The ids of the cases that its guests ran."""
        return self.log.with_suffix(".cases")


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a unit."""

    unit: Unit
    cases: tuple[Case, ...]
    took_s: float = 0.0
    cached: bool = False
    """It passed before, with the same inputs."""
    remarks: tuple[str, ...] = ()
    """Results that differ from a recorded pass with the same inputs, and other lines worth reading."""
    why: str = ""
    """Why a recorded pass did not do."""

    @property
    def failed(self) -> list[Case]:
        """The tests that did not pass, whatever the way."""
        return [case for case in self.cases if not case.good]


class ReportError(Exception):
    """A report is missing or cannot be read; the message names it."""


def read_report(path: Path) -> tuple[Case, ...]:
    """The tests of a report."""
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
    """A results.json: its cases and problems; where it has none, its totals."""
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
        found += [
            # A mutant passes when it is killed.
            Case(
                f"{row['id']} on {row['kernel']}",
                "PASS" if row["result"] == "KILLED" else str(row["result"]),
                (),
                str(row["detail"])[:300],
            )
            for row in document.get("mutants", [])
            if "result" in row
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
