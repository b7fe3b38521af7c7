# SPDX-License-Identifier: Apache-2.0
"""Runs one unit, unless it passed before with the same inputs."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import time
from collections.abc import Iterable, Sequence

from ci.timed_commands import ENDED, OVERDUE, Commands
from ci.units import records, traces
from ci.units.inputs import Inputs
from ci.units.records import Case, Record
from ci.units.unit import Outcome, ReportError, Unit, read_report
from vm.guest import CASES_LOG

MACRO = re.compile(r"^\w*CONFORMANCE_CASE\w*\(\s*(\w+),\s*(\w+)", re.M)
BUILT = ("product", "suite", "target", "case", "cache", "source")


class Runner:
    """Runs units of one checkout."""

    def __init__(self, inputs: Inputs, commands: Commands, fresh: bool = False) -> None:
        """`fresh`: also run what passed before, and compare the results."""
        self._inputs = inputs
        self._commands = commands
        self._fresh = fresh

    def run(self, unit: Unit) -> Outcome:
        """The outcome of a unit. KeyboardInterrupt if `commands` was ended."""
        if not unit.build and not self._fresh:
            record = records.passed(unit.name, self._inputs, unit.stated())
            if record is not None:
                return Outcome(unit, record.cases, record.took_s, cached=True)
        why = "" if unit.build else self._why(unit)
        begun, wall = time.monotonic(), time.time()
        status = self._execute(unit)
        took_s = time.monotonic() - begun
        if status == ENDED:
            raise KeyboardInterrupt
        outcome = Outcome(unit, self._cases(unit, status), took_s, why=why)
        if unit.build:
            self._inputs.forget(*BUILT)
        records.note_duration(unit.name, took_s)
        if unit.build:
            return outcome
        now = self._record(unit, outcome)
        if self._fresh:
            outcome = compared(outcome, now)
        if not outcome.failed and not self._changed_since(wall, now.inputs):
            records.write(now)
        if not outcome.failed:
            unit.trace.unlink(missing_ok=True)
        return outcome

    def _why(self, unit: Unit) -> str:
        """The inputs that differ from the latest pass."""
        latest = next(iter(records.read(unit.name)), None)
        if latest is None:
            return "no pass is recorded"
        changed = self._inputs.changed(latest.inputs)
        changed += sorted(unit.stated() - latest.inputs.keys())
        if not changed:
            return "requested by --fresh"
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"changed: {changed[0]}{more}"

    def _execute(self, unit: Unit) -> int:
        """Runs the commands up to the first that fails. Returns its status."""
        unit.log.parent.mkdir(parents=True, exist_ok=True)
        for stale in (unit.log, unit.trace, unit.cases_log, unit.report):
            if stale is not None:
                stale.unlink(missing_ok=True)
        deadline = time.monotonic() + unit.budget_s
        environment = {CASES_LOG: str(unit.cases_log)}
        status = 0
        for number, command in enumerate(unit.commands):
            if self._fresh and number == len(unit.commands) - 1:
                command = (*command, *unit.fresh)
            argv: Sequence[str] = command
            if unit.traced and traces.can_trace():
                argv = traces.argv(command, unit.trace.with_suffix(f".trace{number}"))
            status = self._commands.run(argv, unit.log, deadline, environment, command)
            if status != 0:
                break
        return status

    def _cases(self, unit: Unit, status: int) -> tuple[Case, ...]:
        """The tests of a unit. A unit without a valid report counts as one failed test."""
        overdue = f"not finished after {unit.budget_s} s" if status == OVERDUE else ""
        if unit.report is None:
            if unit.build and status == 0:
                return ()
            message = overdue or f"status {status}"
            return (Case(unit.name, "FAIL" if status else "PASS", (), message if status else ""),)
        try:
            cases = read_report(unit.report)
        except ReportError as error:
            return (Case(unit.name, "FAIL", (), overdue or str(error)),)
        if status != 0 and all(case.good for case in cases):
            return (*cases, Case(unit.name, "FAIL", (), overdue or f"status {status}"))
        if status == 0 and not any(case.result == "PASS" for case in cases):
            if not cases or any(not case.good for case in cases):
                return (*cases, Case(unit.name, "FAIL", (), "no test passed"))
        return cases

    def _record(self, unit: Unit, outcome: Outcome) -> Record:
        names = unit.stated()
        if unit.traced:
            names |= self.traced(unit)
        return Record(
            unit.name, self._inputs.digests(names), outcome.cases, round(outcome.took_s, 2)
        )

    def traced(self, unit: Unit) -> set[str]:
        """The inputs that the tracer saw the unit's commands read. If the machine cannot trace, all files of the
        project."""
        logs = [unit.trace.with_suffix(f".trace{number}") for number in range(len(unit.commands))]
        if not all(log.exists() for log in logs):
            return {"glob:*", "suite:runner", "suite:report", "suite:cases"}
        found: set[str] = set()
        for log in logs:
            found |= traces.inputs(log, self._inputs.root)
            log.unlink()
        if "suite:report" in found:
            found |= {"suite:runner", *self._cases_that_ran(unit)}
        return found

    def _cases_that_ran(self, unit: Unit) -> Iterable[str]:
        """The source files of the cases that the unit's guests ran."""
        with contextlib.suppress(OSError):
            ran = set(unit.cases_log.read_text(encoding="utf-8").split())
            sources = self._sources()
            if ran <= sources.keys():
                return {f"case:{sources[case]}" for case in ran}
            return {"suite:cases"}
        return set()

    def _sources(self) -> dict[str, str]:
        """The source file of each case."""
        found = {}
        for name in self._inputs.case_sources:
            text = (self._inputs.root / name).read_text(encoding="utf-8")
            found.update({f"{suite}.{case}": name for suite, case in MACRO.findall(text)})
        return found

    def _changed_since(self, wall: float, names: Iterable[str]) -> bool:
        """Whether an input was written while the unit ran. Then the unit may have read the old or the new content."""
        for name in names:
            kind, _, rest = name.partition(":")
            with contextlib.suppress(OSError):
                if kind == "file" and (self._inputs.root / rest).stat().st_mtime > wall:
                    return True
        return False


def compared(outcome: Outcome, now: Record) -> Outcome:
    """The outcome, with a remark for each difference from the recorded pass with the same inputs. That record is
    removed."""
    for earlier in records.read(now.unit):
        if earlier.key != now.key:
            continue
        lines = records.differences(earlier.cases, now.cases)
        if lines:
            records.remove(earlier)
            remark = "the same inputs gave another result: a flaky test, or an unknown input"
            return dataclasses.replace(outcome, remarks=(remark, *lines[:5]))
    return outcome
