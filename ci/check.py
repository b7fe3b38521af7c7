#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every test of the project, stage by stage, and ends in one line that counts them."""

from __future__ import annotations

import argparse
import datetime
import itertools
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import matrix
from bounded import Commands
from soak import number_above_0
from totals import (
    Totals,
    TotalsError,
    junit_failures,
    read_junit,
    read_results,
    results_failures,
)

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "check"
PYTHON = "/usr/bin/python3"
TAIL_LINES = 60
NAMES_SHOWN = 20
KERNELS = ("6.12", "6.1")
DEBUG = "-debug"
HOUR_S = 3600


@dataclass(frozen=True)
class Stage:
    """One kind of test: commands that run in order, and the file that counts what they ran."""

    name: str
    commands: tuple[tuple[str, ...], ...]
    report: Path
    budget_s: int
    repeat: str
    beside: bool = False
    """It runs at the same time as its neighbours that do."""
    share: bool = False
    """Another day has it too: it is left to that one when time is short."""


def ctest_stage(name: str, preset: str) -> Stage:
    report = OUT / f"{name}.xml"
    return Stage(
        name,
        (
            ("ci/build", preset),
            ("ctest", "--preset", preset, "--output-junit", str(report)),
        ),
        report,
        1500,
        f"ci/build {preset} && ctest --preset {preset}",
    )


def conformance_stage(kernel: str, target: str, budget_s: int = 900, share: bool = False) -> Stage:
    name = f"conformance-{kernel}" if target == "refpmu" else f"{target}-{kernel}"
    run = (PYTHON, "-m", "pmuvm", "run", "--target", target, "--kernel", kernel)
    return Stage(
        name,
        (("ci/build", "guest", "pmuconf"), (*run, "--out", str(OUT / name))),
        OUT / name / "results.json",
        budget_s,
        f"make run {variables(kernel)} TARGET={target}",
        beside=True,
        share=share,
    )


def variables(kernel: str) -> str:
    """A kernel as make has it."""
    series = kernel.removesuffix(DEBUG)
    return f"KERNEL={series}" if series == kernel else f"KERNEL={series} DEBUG=1"


def cell_stages(share: bool) -> list[Stage]:
    """The cells of ci/matrix.toml that are stages today: those of each day, or those of a share."""
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return [
        conformance_stage(cell.place.kernel, cell.place.target, share=share)
        for cell in matrix.of_day(matrix.read().cells, today)
        if (cell.check > 1) == share
    ]


def targets() -> list[str]:
    """Those of the stages of any day."""
    return sorted({cell.place.target for cell in matrix.read().cells if cell.check})


def tool_stage(
    name: str,
    command: tuple[str, ...],
    budget_s: int,
    prepare: tuple[tuple[str, ...], ...] = (),
    share: bool = False,
) -> Stage:
    """A program of the project that leaves build/<name>/results.json."""
    report = ROOT / "build" / name / "results.json"
    return Stage(name, (*prepare, command), report, budget_s, f"make {name}", share=share)


def kunit_stage(kernel: str, budget_s: int = 2400) -> Stage:
    """The KUnit suites in one kernel: some rules are of one series alone."""
    out = OUT / f"kunit-{kernel}"
    series = kernel.removesuffix(DEBUG)
    command = (PYTHON, "kunit/run.py", "--kernel", series, "--out", str(out))
    return Stage(
        out.name,
        (command if series == kernel else (*command, "--debug"),),
        out / "results.json",
        budget_s,
        f"make kunit {variables(kernel)}",
    )


def rules_stage(before: list[Stage]) -> Stage:
    """Which rules what ran before holds."""
    reports = tuple(str(stage.report) for stage in before)
    command = (PYTHON, "ci/held.py", *reports)
    repeat = f"{PYTHON} ci/held.py build/check/*/results.json"
    return Stage(
        "rules",
        (command,),
        ROOT / "build" / "rules" / "results.json",
        120,
        f"{repeat} build/check/pytest.xml",
    )


def with_rules(known: list[Stage]) -> list[Stage]:
    """The stage `rules` behind those whose reports it reads: the tests that name rules."""
    reads = [s for s in known if s.name == "pytest" or s.report.parent.parent == OUT]
    last = max((known.index(stage) for stage in reads), default=-1)
    return [*known[: last + 1], rules_stage(reads), *known[last + 1 :]]


def pytest_stage(name: str, marks: str, budget_s: int) -> Stage:
    """The tests in Python that bear `marks`."""
    report = OUT / f"{name}.xml"
    run = (PYTHON, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-m", marks)
    return Stage(
        name,
        (("ci/build", "guest", "pmuconf"), (*run, f"--junitxml={report}")),
        report,
        budget_s,
        f"{PYTHON} -m pytest -m '{marks}'",
    )


def stages() -> list[Stage]:
    guest = ("ci/build", "guest", "pmuconf")
    return [
        # As of the mutants, below: nightly has no share.
        tool_stage("lint", (PYTHON, "ci/lint.py", "--slices", "6", "--tidy-minutes", "6"), 1800),
        ctest_stage("unit", "dev"),
        ctest_stage("asan", "asan"),
        tool_stage(
            "coverage",
            (PYTHON, "ci/coverage.py"),
            1200,
            (("ci/build", "coverage", "driver_tests"),),
        ),
        pytest_stage("pytest", "not nightly", 2700),
        *(kunit_stage(kernel) for kernel in KERNELS),
        *cell_stages(share=False),
        tool_stage("fuzz", (PYTHON, "fuzz/run.py", "--time", "40"), 900, (("ci/build", "fuzz"),)),
        # A share each day: those of a week and a day are all of them. Nightly runs them all at once.
        tool_stage(
            "mutants", (PYTHON, "ci/mutants.py", "--slices", "8"), 2100, (guest,), share=True
        ),
        *cell_stages(share=True),
    ]


def oracle_stage(kernel: str) -> Stage:
    """A kernel's errno, call by call; and the mutants that show there."""
    name = f"oracle-{kernel}"
    command = (PYTHON, "ci/oracle.py", "--kernel", kernel, "--calls", "100000")
    report = ROOT / "build" / name / "results.json"
    return Stage(
        name,
        (("ci/build", "guest", "pmuconf"), command),
        report,
        3 * HOUR_S,
        f"make oracle KERNEL={kernel} CALLS=100000",
    )


def nightly_stages(rounds: int) -> list[Stage]:
    """What takes hours: debug kernels, every mutant on every kernel, the matrix, fuzzing, soaks."""
    guest = ("ci/build", "guest", "pmuconf")
    debug = [f"{kernel}{DEBUG}" for kernel in KERNELS]
    each = [word for kernel in (*KERNELS, *debug) for word in ("--kernel", kernel)]
    soak = (PYTHON, "ci/soak.py", "-n", str(rounds), "--kernel")
    return [
        tool_stage("lint", (PYTHON, "ci/lint.py"), 2 * HOUR_S),
        pytest_stage("pytest-nightly", "nightly", 2 * HOUR_S),
        tool_stage("lines", (PYTHON, "ci/lines.py"), HOUR_S, (guest,)),
        *(kunit_stage(kernel, 3 * HOUR_S) for kernel in debug),
        *(
            conformance_stage(kernel, target, 3 * HOUR_S)
            for target in targets()
            for kernel in debug
        ),
        tool_stage("mutants", (PYTHON, "ci/mutants.py", *each), 8 * HOUR_S, (guest,)),
        tool_stage("matrix", (PYTHON, "ci/matrix.py"), 8 * HOUR_S),
        *(oracle_stage(kernel) for kernel in KERNELS),
        tool_stage(
            "fuzz",
            (PYTHON, "fuzz/run.py", "--time", str(HOUR_S)),
            2 * HOUR_S,
            (("ci/build", "fuzz"),),
        ),
        tool_stage(
            "fuzz-vm",
            (PYTHON, "fuzz/campaign.py", "--kernel", "6.12-kcov", "--time", str(HOUR_S)),
            4 * HOUR_S,
            (guest,),
        ),
        *(
            tool_stage(f"soak-{kernel}", (*soak, kernel), max(rounds, 8) * HOUR_S // 4, (guest,))
            for kernel in KERNELS
        ),
    ]


def run_stage(stage: Stage, commands: Commands) -> Totals:
    """Runs a stage; what is broken before it could count counts as one failure."""
    log = OUT / f"{stage.name}.log"
    log.unlink(missing_ok=True)
    stage.report.unlink(missing_ok=True)
    deadline = time.monotonic() + stage.budget_s
    status = 0
    for command in stage.commands:
        status = commands.run(command, log, deadline)
        if status != 0:
            break
    try:
        read = read_junit if stage.report.suffix == ".xml" else read_results
        totals = read(stage.report)
    except TotalsError as error:
        with log.open("a") as out:
            out.write(f"{error}\n")
        return Totals(0, 1, 0)
    if status != 0 and totals.failed == 0:
        return Totals(totals.passed, 1, totals.skipped)
    if status == 0 and totals.passed == 0:
        with log.open("a") as out:
            out.write(f"{stage.report}: nothing passed: an empty run is a failure\n")
        return Totals(0, totals.failed + 1, totals.skipped)
    return totals


def run_stages(
    stages: Sequence[Stage], short_s: float = math.inf
) -> Generator[tuple[Stage, Totals | None, float], None, None]:
    """Runs stages in their order, on all processors those that run beside each other.

    After `short_s` seconds shares are left to another day: they have no Totals.
    """
    commands = Commands()
    short = time.monotonic() + short_s

    def timed(stage: Stage) -> tuple[Totals | None, float]:
        begin = time.monotonic()
        if stage.share and begin > short:
            stage.report.unlink(missing_ok=True)
            return None, 0
        return run_stage(stage, commands), time.monotonic() - begin

    for beside, group in itertools.groupby(stages, lambda stage: stage.beside):
        with ThreadPoolExecutor(os.cpu_count() if beside else 1) as pool:
            waiting = [(stage, pool.submit(timed, stage)) for stage in group]
            try:
                for stage, future in waiting:
                    print(f"{stage.name:24} ", end="", flush=True)
                    yield stage, *future.result()
            except BaseException:
                commands.end()
                pool.shutdown(cancel_futures=True)
                raise


def failed_tests(stage: Stage) -> list[str]:
    """The names of the tests that failed, the first of them if they are many."""
    try:
        named = junit_failures if stage.report.suffix == ".xml" else results_failures
        names = named(stage.report)
    except TotalsError:
        names = []
    if not names:
        return [f"see {OUT / stage.name}.log"]
    more = [f"and {len(names) - NAMES_SHOWN} more"] if len(names) > NAMES_SHOWN else []
    return names[:NAMES_SHOWN] + more


def tail(path: Path) -> str:
    lines = path.read_text(errors="replace").splitlines() if path.exists() else []
    return "\n".join(f"    {line}" for line in lines[-TAIL_LINES:])


def interrupt(_number: int, _frame: object) -> NoReturn:
    """An end from outside is one at the terminal."""
    raise KeyboardInterrupt


def told(todo: Sequence[Stage], short_s: float) -> int:
    """Runs stages and prints what came of them; 1 if a test failed, else 0."""
    total = Totals(0, 0, 0)
    failures = []
    for stage, result, took_s in run_stages(todo, short_s):
        if result is None:
            print(f"left to another day, for want of time; now: {stage.repeat}", flush=True)
            continue
        total += result
        print(f"{result}  ({took_s:.0f} s)", flush=True)
        if stage.name == "rules" and not result.failed:
            print(f"{'':24} {tail(OUT / 'rules.log').splitlines()[-1].strip()}")
        if result.failed:
            failures.append(f"{stage.name}: {', '.join(failed_tests(stage))}")
            print(f"{tail(OUT / f'{stage.name}.log')}\n    repeat just this: {stage.repeat}")
    print(total)
    for line in failures:
        print(f"failed in {line}")
    return 1 if total.failed else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages", help="only these, with commas; an unknown one names all")
    parser.add_argument("--nightly", action="store_true", help="those that take hours, instead")
    parser.add_argument(
        "--minutes",
        type=number_above_0,
        default=math.inf,
        help="after so many, what another day has a share of too is left to it",
    )
    parser.add_argument("--rounds", type=number_above_0, default=8, help="of the nightly soak (8)")
    options = parser.parse_args()
    try:
        known = nightly_stages(options.rounds) if options.nightly else with_rules(stages())
    except matrix.MatrixError as error:
        print(f"check: {error}")
        return 2
    names = [stage.name for stage in known]
    asked = ",".join(names) if options.stages is None else options.stages
    chosen = [name for name in asked.split(",") if name]
    unknown = [name for name in chosen if name not in names]
    if unknown or not chosen:
        print(f"check: unknown stage '{','.join(unknown)}'; known: {', '.join(names)}")
        return 2
    OUT.mkdir(parents=True, exist_ok=True)
    todo = [stage for stage in known if stage.name in chosen]
    # Alone `rules` takes the reports that are there; else those of this run.
    if not options.nightly and chosen != ["rules"]:
        todo = with_rules([stage for stage in todo if stage.name != "rules"])
        todo = [stage for stage in todo if stage.name in chosen]
    try:
        return told(todo, 60 * options.minutes)
    except KeyboardInterrupt:
        print(f"\ncheck: interrupted; what has ended is in {OUT}")
        return 130


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)
    sys.exit(main())
