# SPDX-License-Identifier: Apache-2.0
"""Reports the results of regressions: for a person, for programs, and as an exit status."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.mutation.report import TESTS_SHOWN, shortened
from ci.regression.verdict import BROKEN, NOT_RUN, Verdict
from faults.verdicts import CAUGHT, MISSED
from pmubase import store

RESULTS = (CAUGHT, MISSED, BROKEN, NOT_RUN)
SHOWN = 160


def line(done: Verdict) -> str:
    """One line about one result."""
    words = []
    if done.result == CAUGHT:
        words.append(f"{done.rule or 'no rule'}, {done.case} on {done.target}")
    elif done.detail:
        words.append(done.detail[:SHOWN])
    return (
        f"{done.regression.id:<6}{done.series:<6}{done.result:<8}{done.duration_s:>6.1f} s"
        f" ({done.build_s:.1f} s build, {done.tried} cases)  {' '.join(words)}"
    )


def counts(verdicts: Sequence[Verdict]) -> str:
    """The number of each result."""
    found = [done.result for done in verdicts]
    return ", ".join(f"{found.count(word)} {word}" for word in RESULTS if word in found) or "none"


def summary(verdicts: Sequence[Verdict], errors: Sequence[str], faults: Sequence[str]) -> str:
    """The last lines: faults of the clean kernel, problems, and the counts."""
    lines = [f"clean kernel: {fault}; no such case catches a regression" for fault in faults]
    lines += [f"not judged: {error}" for error in errors]
    for done in verdicts:
        if done.problem:
            again = f"python3 -m ci.regressions --id {done.regression.id} --kernel {done.series}"
            lines.append(f"{done.regression.id} on {done.series}: {done.problem[:SHOWN]}")
            if done.own:
                tests = shortened([f"{name} {result}" for name, result in done.own], TESTS_SHOWN)
                lines.append(f"  cases of its rules ({', '.join(done.regression.rules)}): {tests}")
            lines.append(f"  again: {again} --fresh")
    old = sum(done.recorded for done in verdicts)
    lines.append(f"{len(verdicts)} regressions: {counts(verdicts)}; {old} recorded before")
    return "\n".join(lines)


def status(verdicts: Sequence[Verdict], errors: Sequence[str]) -> int:
    """Returns 0 if each regression was caught or missed as its header states, 1 if not, 2 if one was not judged."""
    if errors or any(done.result == BROKEN for done in verdicts) or not verdicts:
        return 2
    return 1 if any(done.problem for done in verdicts) else 0


def row(done: Verdict) -> dict[str, Any]:
    """A result as a row of the results file."""
    one = done.regression
    return {
        "id": one.id,
        "file": one.path.name,
        "fix": f"{one.commit} {one.subject}".strip(),
        "kernel": done.series,
        "result": done.result,
        "rule": done.rule,
        "case": done.case,
        "target": done.target,
        "rules": list(one.rules),
        "failed_rules": dict(done.failed_rules),
        "expected_miss": one.missed,
        "cases_tried": done.tried,
        "cases_of_rules": dict(done.own),
        "build_s": done.build_s,
        "duration_s": done.duration_s,
        "recorded": done.recorded,
        "detail": done.detail,
        "problem": done.problem,
    }


def write(
    verdicts: Sequence[Verdict], errors: Sequence[str], faults: Sequence[str], path: Path
) -> None:
    """Writes the results to a file. Each result is also a case, which passes if it is no problem."""
    cases = []
    for done in verdicts:
        good = "SKIP" if done.result == NOT_RUN else "PASS"
        result = "BROKEN" if done.result == BROKEN else "FAIL" if done.problem else good
        name = f"{done.regression.id} on {done.series}"
        cases.append({"id": name, "result": result, "message": done.problem or done.detail})
    found = [case["result"] for case in cases]
    document = {
        "caught": sum(done.result == CAUGHT for done in verdicts),
        "total": len(verdicts) + len(errors),
        "totals": {
            "cases": len(cases) + len(errors),
            "passed": found.count("PASS"),
            "failed": found.count("FAIL") + found.count("BROKEN") + len(errors),
            "skipped": found.count("SKIP"),
        },
        "problems": list(errors),
        "clean": list(faults),
        "cases": cases,
        "regressions": [row(done) for done in verdicts],
    }
    store.write(path, (json.dumps(document, indent=1) + "\n").encode())


def table(verdicts: Sequence[Verdict]) -> str:
    """The results as a page."""
    head = ("id", "fix", "kernel", "result", "rule", "case", "target", "s", "why")
    lines = ["# Regressions", "", f"{counts(verdicts)}.", ""]
    lines += [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for done in verdicts:
        one = done.regression
        why = "" if done.result == CAUGHT else one.missed or done.detail
        cells = (one.id, one.subject, done.series, done.result, done.rule, done.case, done.target)
        seconds = f"{done.duration_s:.0f}"
        lines.append(f"| {' | '.join((*cells, seconds, why.replace('|', '/')[:SHOWN]))} |")
    return "\n".join(lines) + "\n"
