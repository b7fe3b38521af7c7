# SPDX-License-Identifier: Apache-2.0
"""Reports the branches of driver/core and driver/model that the unit tests take. Too few are a failure."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "coverage"
PROGRAM = OUT / "driver" / "unit" / "driver_tests"
FOLDERS = ("driver/core", "driver/model")
LEAST_PERCENT = 95.0
BUDGET_S = 540
# These tests run in forked processes, which write no counts. The stages unit and asan have them.
UNCOUNTED = "*InterruptingAccessTakesEffectBeforeOrAfter*"


class NotMeasured(Exception):
    """Nothing was measured. The text is one line with the cause."""


@dataclass(frozen=True)
class File:
    """A source file: its branches, the taken branches, and the lines with a branch that was not taken."""

    path: str
    branches: int
    taken: int
    lines: tuple[int, ...]


def percent(files: list[File]) -> float:
    branches = sum(file.branches for file in files)
    return 100.0 * sum(file.taken for file in files) / branches if branches else 0.0


def read_report(report: Any) -> list[File]:
    """The files in a JSON report of gcovr."""
    files = []
    try:
        for entry in report["files"]:
            counts = {
                line["line_number"]: [branch["count"] for branch in line["branches"]]
                for line in entry["lines"]
            }
            every = [count for line in counts.values() for count in line]
            missed = tuple(sorted(number for number, line in counts.items() if 0 in line))
            taken = sum(1 for count in every if count)
            files.append(File(entry["file"], len(every), taken, missed))
    except (KeyError, TypeError) as error:
        raise NotMeasured(f"gcovr wrote a report in an unknown format: {error!r}") from error
    return sorted(files, key=lambda file: file.path)


def judge(files: list[File]) -> tuple[list[str], int]:
    """The report as lines, and the number of folders in which too few branches were taken."""
    rows, failed = [], 0
    for component in FOLDERS:
        here = [file for file in files if Path(file.path).parent == Path(component)]
        reached = percent(here)
        short = reached < LEAST_PERCENT
        failed += short
        for file in here:
            if not file.branches:
                continue
            rows.append(f"{percent([file]):6.1f} %  {file.taken:4}/{file.branches:<4} {file.path}")
            if short and file.lines:
                rows.append(f"          not taken on lines {', '.join(map(str, file.lines))}")
        verdict = f"less than {LEAST_PERCENT:.0f} %" if short else "enough"
        rows.append(f"{reached:6.1f} %  of the branches of {component}: {verdict}")
    return rows, failed


def run(command: list[str]) -> None:
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=BUDGET_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotMeasured(f"{name}: {error}") from error
    if done.returncode != 0:
        output = (done.stdout + done.stderr).strip().splitlines()[-40:]
        raise NotMeasured("\n".join([*output, f"{name} ended with status {done.returncode}"]))


def measure() -> list[File]:
    """Runs the unit tests and reads the branches that they took."""
    for counts in OUT.rglob("*.gcda"):
        counts.unlink()
    run([str(PROGRAM), "--gtest_brief=1", f"--gtest_filter=-{UNCOUNTED}"])
    report = OUT / "coverage.json"
    only = [word for component in FOLDERS for word in ("--filter", f"{component}/")]
    run(
        ["gcovr", "--root", str(ROOT), *only, "--exclude-throw-branches"]
        + ["--exclude-unreachable-branches", "--json", str(report), str(OUT)]
    )
    try:
        return read_report(json.loads(report.read_text()))
    except (OSError, ValueError) as error:
        raise NotMeasured(f"{report}: {error}") from error


def main() -> int:
    argparse.ArgumentParser(prog="python3 -m ci.coverage", description=__doc__).parse_args()
    results = OUT / "results.json"
    results.unlink(missing_ok=True)
    try:
        files = measure()
    except NotMeasured as error:
        print(f"coverage: {error}", file=sys.stderr)
        return 2
    rows, failed = judge(files)
    print("\n".join(rows))
    totals = {
        "cases": len(FOLDERS),
        "passed": len(FOLDERS) - failed,
        "failed": failed,
        "skipped": 0,
    }
    results.write_text(json.dumps({"totals": totals}, indent=2) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
