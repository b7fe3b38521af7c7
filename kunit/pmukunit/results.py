# SPDX-License-Identifier: GPL-2.0-only
"""Judges a run of the suites: a summary for people, results.json for programs, a status."""

import fnmatch
import json
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from kunit.pmukunit import ktap
from kunit.pmukunit.guest import Boot
from kunit.pmukunit.ktap import Outcome
from pmubase import store
from vm import leaks

PASSED, FAILED, NOT_JUDGED = 0, 1, 2
FAILED_LINES_SHOWN = 12


_RELEASE = re.compile(rb"\bLinux version (\S+)")


@dataclass(frozen=True)
class Subject:
    """The subject of a run, for a joined verdict (docs/judging.md). "" is unknown."""

    release: str = ""
    arch: str = ""
    driver: str = ""
    """The module of the driver in the kernel, if its own suites ran."""
    pmu: str = ""
    """The PMU of pmu_contract, if only that suite ran."""
    selected: str = ""
    """The glob of the suites or cases that ran; "" if all ran."""


def release_of(console: bytes) -> str:
    """The kernel's release in a boot log, or ""."""
    found = _RELEASE.search(console)
    return found[1].decode("utf-8", "replace") if found else ""


@dataclass(frozen=True)
class Verdict:
    """@reports come from the kernel; @problems are reasons why the run may be incomplete."""

    kernel: str
    run: ktap.Run
    reports: tuple[str, ...]
    problems: tuple[str, ...]
    duration_s: float

    @property
    def status(self) -> int:
        if self.reports or self.count(Outcome.FAILED):
            return FAILED
        if self.problems or not self.count(Outcome.PASSED):
            return NOT_JUDGED
        return PASSED

    def count(self, outcome: Outcome) -> int:
        return sum(case.outcome is outcome for case in self.run.cases)


def expected_suites(folder: Path, glob: str) -> frozenset[str]:
    """Names of the suites, which are those of their files. @glob: kunit.filter_glob, "" for all."""
    names = {path.name.removesuffix("_kunit.c") for path in folder.glob("*_kunit.c")}
    return frozenset(fnmatch.filter(names, glob.split(".", 1)[0] or "*"))


def judge(
    kernel: str, boot: Boot, expected: frozenset[str], whole: bool, scanned: bool = False
) -> Verdict:
    """Judges a boot. @whole: all expected suites must have run; else (a glob for cases) one.

    @scanned: the guest was to scan for memory leaks after the suites.
    """
    run = ktap.parse(boot.console)
    problems = [boot.cut] if boot.cut else []
    problems += run.problems
    ran = set(run.suites) | {case.suite for case in run.cases}
    missing = sorted(expected - ran) if whole or not ran else []
    problems += [f"suite {name}: did not run" for name in missing]
    problems += [f"suite {name}: not one of this folder" for name in sorted(ran - expected)]
    reports = list(ktap.kernel_reports(boot.console))
    if scanned:
        text = boot.console.decode("utf-8", "replace")
        if leaks.DONE not in text.split():
            problems.append("nobody looked for lost memory at the end")
        run, nobodys = assign_leaks(run, leaks.parse(text))
        reports += nobodys
    return Verdict(kernel, run, tuple(reports), tuple(problems), boot.duration_s)


def assign_leaks(run: ktap.Run, found: list[leaks.Leak]) -> tuple[ktap.Run, list[str]]:
    """Marks the cases in @run that leaked memory as failed. Also returns the leaks of no case.

    A leak belongs to the case in which its thread printed a line, else to the case in its stack.
    """
    cases = list(run.cases)
    nobodys = []
    for leak in found:
        at = [i for i, case in enumerate(cases) if leak.pid in case.threads]
        at = at or [i for i, case in enumerate(cases) if case.name in leak.frames]
        if len(at) != 1:
            nobodys.append(str(leak))
            continue
        case = cases[at[0]]
        said = f"{case.message}\n{leak}" if case.message else str(leak)
        reports = (*case.reports, str(leak))
        cases[at[0]] = replace(case, outcome=Outcome.FAILED, message=said, reports=reports)
    return replace(run, cases=tuple(cases)), nobodys


def write(verdict: Verdict, path: Path, subject: Subject = Subject()) -> None:
    document = {
        "layer": "kunit",
        **asdict(subject),
        "verdict": ("PASSED", "FAILED", "NOT_JUDGED")[verdict.status],
        "kernel": verdict.kernel,
        "duration_s": round(verdict.duration_s, 3),
        "totals": {
            "cases": len(verdict.run.cases),
            "passed": verdict.count(Outcome.PASSED),
            "failed": verdict.count(Outcome.FAILED),
            "skipped": verdict.count(Outcome.SKIPPED),
            "suites": len(verdict.run.suites),
        },
        "cases": [
            {
                "id": f"{case.suite}.{case.name}",
                "result": case.outcome.value,
                "message": case.message,
                "parameters": case.parameters,
                "rules": case.rules,
            }
            for case in verdict.run.cases
        ],
        "problems": [*verdict.reports, *verdict.problems],
    }
    store.write(path, (json.dumps(document, indent=1) + "\n").encode())


def summary(verdict: Verdict) -> str:
    lines = []
    suites = list(verdict.run.suites)
    suites += sorted({case.suite for case in verdict.run.cases} - set(suites))
    for suite in suites:
        cases = [case for case in verdict.run.cases if case.suite == suite]
        tally = {outcome: sum(c.outcome is outcome for c in cases) for outcome in Outcome}
        parameters = sum(case.parameters for case in cases)
        lines.append(
            f"  {suite:<20} {len(cases):3} cases: {tally[Outcome.PASSED]} passed, "
            f"{tally[Outcome.FAILED]} failed, {tally[Outcome.SKIPPED]} skipped"
            + (f"; {parameters} rows" if parameters else "")
        )
    for case in verdict.run.cases:
        if case.outcome is not Outcome.PASSED:
            lines.append(f"{case.outcome.value} {case.suite}.{case.name}")
            said = case.message.splitlines()
            lines += [f"    {line}" for line in said[:FAILED_LINES_SHOWN]]
    lines += [f"kernel: {line}" for line in verdict.reports]
    lines += [f"not judged: {line}" for line in verdict.problems]
    word = ("PASSED", "FAILED", "NOT JUDGED")[verdict.status]
    lines.append(
        f"kunit {verdict.kernel}: {word}: {verdict.count(Outcome.PASSED)} of"
        f" {len(verdict.run.cases)} cases passed in {len(verdict.run.suites)} suites,"
        f" {verdict.duration_s:.1f} s"
    )
    return "\n".join(lines)
