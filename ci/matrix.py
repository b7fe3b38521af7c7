# SPDX-License-Identifier: Apache-2.0
"""Runs the jobs of ci/matrix.toml, each in a guest, and prints a table. Returns 0 if all targets conform."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import difflib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

from ci import driver_page, matrix_file, timed_commands
from ci.matrix_file import PYTHON, ROOT, Job, matches
from ci.soak import positive_number
from pmubase.errors import UserError
from vm import arch, page
from vm.packages import STATUS_NO_PACKAGE

OUT = ROOT / "build" / "matrix"
PREPARE_S = 2 * 3600
"""Time to build a kernel for the first time on a busy host."""
CASES_SHOWN = 3
WIDTH = 160
SKIPPED = "SKIPPED"
"""The verdict of a job whose kernel the distribution does not have."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """The result of a job."""

    job: Job
    verdict: str
    why: str
    """Empty if the result is as expected; the reason of a SKIPPED job."""
    took_s: float = 0.0
    totals: dict[str, int] = dataclasses.field(default_factory=dict)
    release: str = ""

    @property
    def result(self) -> str:
        """PASS if the result is as expected, SKIP or FAIL."""
        if self.verdict == SKIPPED:
            return "SKIP"
        return "FAIL" if self.why else "PASS"

    def row(self) -> dict[str, object]:
        """The result for programs."""
        return {
            "id": self.job.name,
            "result": self.result,
            "message": self.why,
            "verdict": self.verdict,
            "release": self.release,
            "duration_s": round(self.took_s),
            "minutes": self.job.minutes,
            "repro": self.job.repro_command(),
            "report": folder(self.job).name,
            "totals": self.totals,
        }


def select(jobs: Sequence[Job], globs: Sequence[str]) -> list[Job]:
    """The jobs that a glob matches; without globs all. UserError for a glob that matches nothing."""
    for glob in globs:
        if not any(matches(job.name, [glob]) for job in jobs):
            names = [job.name for job in jobs]
            near = difflib.get_close_matches(glob.replace("*", ""), names, n=3, cutoff=0.3)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise UserError(
                f"JOBS='{glob}' matches no job; {hint}python3 -m ci.matrix --list prints all jobs"
            )
    return [job for job in jobs if not globs or matches(job.name, globs)]


def folder(job: Job) -> Path:
    """The folder of a job's reports."""
    return OUT / job.name.replace("/", "-")


@dataclasses.dataclass(frozen=True)
class Unprepared:
    """The reason why the jobs of a kernel cannot run."""

    why: str
    gone: bool = False
    """The distribution does not have the package of the kernel, so the jobs are skipped."""


def prepare(
    jobs: Sequence[Job], commands: timed_commands.Commands
) -> dict[tuple[str, str], Unprepared]:
    """Builds and fetches what several jobs need. Returns the errors by (kernel, arch)."""
    log = OUT / "prepare.log"
    log.unlink(missing_ok=True)
    deadline = time.monotonic() + PREPARE_S

    def done(*command: str) -> Unprepared | None:
        status = commands.run(command, log, deadline)
        if status == 0:
            return None
        return Unprepared(f"{last_line(log)} ({log})", status == STATUS_NO_PACKAGE)

    suites = {arch.AMD64.name: done("ci/build", "guest")}
    for on in sorted({job.place.arch for job in jobs} - suites.keys()):
        suites[on] = (
            suites[arch.AMD64.name]
            or done("env", f"ARCH={on}", "ci/install-deps")
            or done("ci/build", f"guest-{on}")
        )
    found = {}
    for name, on in sorted({(job.place.kernel, job.place.arch) for job in jobs}):
        fetch = (PYTHON, "-m", "vm", "fetch", "--kernel", name, "--arch", on)
        found[name, on] = suites[on] or done(*fetch)
    return {key: error for key, error in found.items() if error is not None}


def last_line(log: Path) -> str:
    """The last line that a program printed."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    printed = [line.strip() for line in text.splitlines() if not line.startswith("$ ")]
    lines = [line for line in printed if line]
    return lines[-1][:WIDTH] if lines else "no output"


def first_line(message: object) -> str:
    """The first line of a case's message, shortened."""
    return str(message).partition("\n")[0][:WIDTH]


def run(job: Job, commands: timed_commands.Commands) -> Outcome:
    """Runs one job."""
    out = folder(job)
    out.mkdir(parents=True, exist_ok=True)
    log = out / "run.log"
    results = out / "results.json"
    for path in (log, results):
        path.unlink(missing_ok=True)
    begin = time.monotonic()
    status = commands.run(job.command(out), log, begin + job.budget_s)
    return judge(job, status, results, log, time.monotonic() - begin)


def judge(job: Job, status: int, results: Path, log: Path, took_s: float) -> Outcome:
    """The result of a job that has ended."""
    if status == timed_commands.OVERDUE:
        why = f"it did not end within {job.budget_s / 60:.0f} min"
        return Outcome(job, "HANGS", why, took_s)
    try:
        found = json.loads(results.read_text(encoding="utf-8"))
        verdict, totals = str(found["verdict"]), dict(found["totals"])
        at = (str(found["target"]), str(found["profile"]))
        bad = [case for case in found["cases"] if case["result"] not in ("PASS", "SKIP", "WAIVED")]
        release = str(found["release"])
        lines = [f"{c['id']} {c['result']}: {first_line(c['message'])}" for c in bad]
    except (OSError, ValueError, KeyError, TypeError):
        return Outcome(job, "NO_RESULT", f"status {status}: {last_line(log)}", took_s)
    why = ""
    if at != (job.place.target, job.place.profile):
        why = f"the results belong to {' '.join(at).strip()}"
    elif verdict != "CONFORMANT":
        why = str(found.get("reason", ""))
    elif status != 0:
        why = f"its status is {status}"
    elif totals.get("broken") or totals.get("lost"):
        why = f"{totals.get('broken')} broken, {totals.get('lost')} lost"
    if why and lines:
        more = [f"and {len(lines) - CASES_SHOWN} more"] if len(lines) > CASES_SHOWN else []
        why = f"{why}: {'; '.join(lines[:CASES_SHOWN] + more)}"
    return Outcome(job, verdict, why, took_s, totals, release)


def print_outcome(number: int, total: int, outcome: Outcome) -> None:
    """Prints a line about a job that has ended."""
    head = f"[{number}/{total}] {outcome.job.name}"
    if not outcome.why:
        cases = outcome.totals.get("cases", 0)
        print(f"{head}: conformant, {cases} cases, {outcome.took_s:.0f} s", flush=True)
        return
    print(
        f"{head}: {outcome.verdict}: {outcome.why}; repro: {outcome.job.repro_command()}",
        flush=True,
    )


def table(outcomes: Iterable[Outcome]) -> list[list[str]]:
    """The rows of the table. The first row is the head."""
    rows = [["job", "verdict", "passed", "waived", "skipped", "failed", "s", "planned s"]]
    for outcome in outcomes:
        count = outcome.totals
        bad = sum(count.get(key, 0) for key in ("failed", "broken", "timeout", "crash", "lost"))
        numbers = [count.get("passed", 0), count.get("waived", 0), count.get("skipped", 0), bad]
        rows.append(
            [
                outcome.job.name,
                outcome.verdict,
                *(str(number) for number in numbers),
                f"{outcome.took_s:.0f}",
                f"{outcome.job.minutes * 60:.0f}",
            ]
        )
    return rows


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The table for a terminal."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        " ".join(
            word.ljust(width) if i < 2 else word.rjust(width)
            for i, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """The table in Markdown."""
    rule = ["---", "---", *["--:"] * (len(rows[0]) - 2)]
    return [f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:])]


def write(outcomes: Sequence[Outcome]) -> None:
    """Writes the results so far: for programs, and as a page."""
    count = collections.Counter(outcome.result for outcome in outcomes)
    totals = {
        "cases": len(outcomes),
        "passed": count["PASS"],
        "failed": count["FAIL"],
        "skipped": count["SKIP"],
    }
    document = {"totals": totals, "cases": [outcome.row() for outcome in outcomes]}
    _replace(OUT / "results.json", json.dumps(document, indent=1))
    lines = ["# The matrix", "", *markdown(table(outcomes)), ""]
    for outcome in outcomes:
        if outcome.why:
            lines += [
                f"- {outcome.job.name}: {outcome.why}",
                f"  repro: `{outcome.job.repro_command()}`",
            ]
    _replace(OUT / "matrix.md", "\n".join(lines))
    reports = reports_of(outcomes)
    _replace(OUT / "rules.md", driver_page.page_of_reports(reports, OUT))


def reports_of(outcomes: Iterable[Outcome]) -> list[Path]:
    """The results of the jobs that have some. The folder of another job may have the results of an earlier run."""
    return [folder(outcome.job) / "results.json" for outcome in outcomes if outcome.totals]


def write_page(outcomes: Iterable[Outcome]) -> None:
    """Writes the page for a browser, in which each job is a column. An error is only a line."""
    reports = reports_of(outcomes)
    if not reports:
        return
    try:
        page.write(reports, OUT / page.NAME)
        print(f"page of all runs: {OUT / page.NAME}")
    except UserError as error:
        print(f"matrix: no page: {error}", file=sys.stderr)


def _replace(path: Path, text: str) -> None:
    """Replaces a file in one step, so that a reader never sees a part of it."""
    new = path.with_suffix(".new")
    new.write_text(text + "\n", encoding="utf-8")
    new.rename(path)


def run_all(chosen: Sequence[Job], parallel: int) -> list[Outcome]:
    """Runs jobs, `parallel` at the same time, the longest first. Each result is written at once."""
    outcomes = {job: Outcome(job, "NOT_RUN", "not run") for job in chosen}
    write(list(outcomes.values()))
    commands = timed_commands.Commands()
    broken = prepare(chosen, commands)
    number = 0

    def ended(outcome: Outcome) -> None:
        nonlocal number
        number += 1
        outcomes[outcome.job] = outcome
        print_outcome(number, len(chosen), outcome)
        write(list(outcomes.values()))

    ready = []
    for job in sorted(chosen, key=lambda job: -job.minutes):
        error = broken.get((job.place.kernel, job.place.arch))
        if error is None:
            ready.append(job)
        else:
            ended(Outcome(job, SKIPPED if error.gone else "NO_RESULT", error.why))
    lock = threading.Lock()

    def judge(job: Job) -> None:
        """Runs a job and writes its result before the thread starts another one."""
        outcome = run(job, commands)
        with lock:
            ended(outcome)

    with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
        try:
            for future in concurrent.futures.as_completed(pool.submit(judge, job) for job in ready):
                future.result()
        except BaseException:
            commands.end()
            pool.shutdown(cancel_futures=True)
            raise
    return list(outcomes.values())


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """Returns 0 if each job has the expected result, 1 if one has not, 2 if nothing could run."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.matrix", description=__doc__)
    parser.add_argument(
        "--jobs",
        default="",
        metavar="GLOBS",
        help="globs of names, separated by spaces; without them all jobs run",
    )
    parser.add_argument("--list", action="store_true", help="print the jobs, run nothing")
    parser.add_argument(
        "--parallel",
        metavar="N",
        type=positive_number,
        default=len(os.sched_getaffinity(0)),
        help="number of guests at the same time (as many as there are cores)",
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        jobs = matrix_file.read()
        chosen = select(jobs, options.jobs.split())
        if options.list:
            for job in chosen:
                print(f"{job.name}  {job.minutes:g} min  {job.repro_command()}")
            return 0
        OUT.mkdir(parents=True, exist_ok=True)
        minutes = sum(job.minutes for job in chosen) / options.parallel
        count = f"{len(chosen)} of {len(jobs)} jobs"
        print(f"{count}, {options.parallel} at the same time: about {minutes:.0f} min", flush=True)
        outcomes = run_all(chosen, options.parallel)
    except (UserError, OSError) as error:
        print(f"matrix: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"matrix: interrupted; {OUT / 'results.json'} has the finished jobs", file=sys.stderr)
        return 130
    print("\n".join(["", *aligned(table(outcomes))]))
    results = collections.Counter(outcome.result for outcome in outcomes)
    print(f"{results['PASS']} of {len(outcomes)} jobs have the expected result, ", end="")
    print(f"{results['SKIP']} were skipped; {OUT / 'matrix.md'} lists them")
    print(f"rules that each driver passed: {OUT / 'rules.md'}")
    write_page(outcomes)
    return 1 if results["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
