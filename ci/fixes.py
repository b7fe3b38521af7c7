# SPDX-License-Identifier: Apache-2.0
"""Tries the patches for Linux in docs/upstream: builds each one, and runs the cases that fail without it.

Verdicts: `fixes` (each case that failed passes), `does not fix`, `breaks` (a case that passed without the patch fails), and
`not judged` (no case fails without it, or it does not apply or build). docs/upstream/fixes.toml has the cases of each patch.
"""

from __future__ import annotations

import argparse
import contextlib
import fnmatch
import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ci import parts, specify
from ci.faults import judging, kernels
from ci.faults.bench import Bench, run_twice
from ci.faults.catchers import Catchers
from ci.faults.kernels import Built
from ci.faults.strategies import InGuests, InKernel, Request, WithDriver
from ci.faults.trial import FINE, Attempt, Goal, Planned, Run, Trial
from faults.fault import DEVICE, DIFF_START, KERNEL, SUITE, Fault
from pmubase import store, toml_file
from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, TEXT, like, table
from vm import guest, runs, suite

FOLDER = store.ROOT / "docs" / "upstream"
LIST = "fixes.toml"
OUT = store.ROOT / "build" / "fixes"
PROGRAM = "specify "
"""The first word of a case that is a program of the specification."""
PROGRAMS = store.ROOT / "tools" / "specify" / "tests" / "programs"
PROGRAM_S = 60
FIXES, FAILS, BREAKS, NOT_JUDGED = "fixes", "does not fix", "breaks", "not judged"
KERNELS = {**SOME_TEXTS, "items": like(r"\d+\.\d+", "a series like 7.3")}
SCHEMA = toml_file.tables(
    "fix",
    table(
        {
            "id": like(r"\d{4}", "the number of a patch, like 0020"),
            "finding": TEXT,
            **{"targets": SOME_TEXTS, "cases": SOME_TEXTS, "kernels": KERNELS, "untried": TEXT},
        },
        optional=("targets", "cases", "kernels", "untried"),
    ),
)


@dataclass(frozen=True)
class Fix:
    """A patch for Linux, and the cases that fail without it."""

    id: str
    path: Path
    finding: str
    """A waiver, or the heading of a finding that has none."""
    targets: tuple[str, ...]
    cases: tuple[str, ...]
    """The cases that must pass with it on each target, without those that the target does not have."""
    kernels: tuple[str, ...]
    untried: str
    """The reason why no case can judge it; "" if there are cases."""

    def fault(self, target: suite.Target) -> Fault:
        """The patch as the builders of faults know it. UserError if it is no patch."""
        text = self.path.read_text(encoding="utf-8")
        start = DIFF_START.search(text)
        if start is None:
            raise UserError(f"{self.path}: not a patch: no line starts a diff")
        return Fault(
            id=self.id,
            path=self.path,
            text=self.finding,
            breaks=DEVICE if target.driver else KERNEL,
            targets=(target.name,),
            results=("FAIL", "CRASH"),
            cases=self.cases,
            change=text[start.start() :],
        )


def read(folder: Path = FOLDER) -> list[Fix]:
    """The patches of a folder, in the order of their numbers. UserError for the first mistake in its list."""
    path = folder / LIST
    patches = {file.name[:4]: file for file in sorted(folder.glob("*.patch"))}
    found: dict[str, Fix] = {}
    for entry in toml_file.load(path, SCHEMA).get("fix", []):
        name = entry["id"]
        if name in found:
            raise UserError(f"{path}: fix {name}: occurs twice")
        if name not in patches:
            raise UserError(f"{path}: fix {name}: there is no file {name}-*.patch")
        if ("untried" in entry) == ("cases" in entry) or ("cases" in entry) != ("targets" in entry):
            raise UserError(f"{path}: fix {name}: needs either targets and cases, or untried")
        found[name] = Fix(
            id=name,
            path=patches[name],
            finding=entry["finding"],
            targets=tuple(entry.get("targets", ())),
            cases=tuple(entry.get("cases", ())),
            kernels=tuple(entry.get("kernels", ("7.3",))),
            untried=entry.get("untried", ""),
        )
    for name, file in patches.items():
        if name not in found:
            raise UserError(f"{path}: no fix {name} for {file.name}")
    return sorted(found.values(), key=lambda fix: fix.id)


class Patched(Attempt):
    """Runs cases on a patched kernel or driver, and notes those that fail."""

    def __init__(self, planned: Planned) -> None:
        super().__init__(planned, Goal.ALL)
        self.results: dict[str, str] = {}
        self.broken: list[str] = []
        """The cases that fail only with the patch."""
        self.signs: list[str] = []

    def run(
        self, cases: Sequence[suite.Case], run: Run, clean: Callable[[suite.Case], bool]
    ) -> None:
        for case in cases:
            self.results[case.id] = run(case)
            if self.results[case.id] not in FINE and clean(case):
                self.broken.append(case.id)

    def add_signs(self, found: Sequence[str]) -> None:
        self.signs += found


class Judging(InGuests):
    """The part of a trial of a patch that follows its build."""

    def by_cases(self, planned: Planned, built: object) -> Trial:
        (bench,) = self.of(planned)
        names = planned.fault.cases
        own = [case for case in bench.cases if case.id in names]
        failing = [case.id for case in own if not bench.clean.fits(case)]
        bench.rest()
        others = [] if self.request.own else [case for case in bench.cases if case not in own]
        attempt = Patched(planned)
        if failing:
            log = self.request.out / planned.fault.name / f"console-{bench.target.name}.log"
            lost = bench.attempt(built, attempt, [*own, *others], log, run_twice)
            if lost:
                attempt.signs.append(f"{lost} before a case ran")
        bench.rest()
        verdict, detail = decide(names, failing, attempt)
        return Trial(
            planned.fault,
            planned.kernel,
            planned.observer,
            verdict,
            by=tuple(failing),
            detail=detail,
            tried=len(attempt.results),
        )


def decide(names: Sequence[str], failing: Sequence[str], done: Patched) -> tuple[str, str]:
    """The verdict and its reason. `names`: the cases of the fix. `failing`: those that fail without the patch."""
    if not failing:
        return NOT_JUDGED, f"fails without the patch: none of {', '.join(names)}"
    after = {name: done.results.get(name, "not run") for name in failing}
    still = [f"{name} is {result}" for name, result in after.items() if result != "PASS"]
    if still and done.results:
        return FAILS, ", ".join(still)
    new = [*done.broken, *done.signs]
    return (BREAKS, ", ".join(new)) if new else (FIXES, ", ".join(failing))


class InPatchedKernel(Judging, InKernel):
    """A kernel with a patch. A program of the specification may take the place of a case."""

    together: Fault | None = None
    """All patches as one. If it is set, one kernel has them all."""
    _built: Built | None = None

    def judge(self, planned: Planned) -> Trial:
        if self.together is None:
            return super().judge(planned)
        clean = self._original(planned.kernel)
        if self._built is None or self._built.kernel.name != planned.kernel:
            shop = self._shops[planned.kernel]
            self._built = shop.build(self.together, self._modules(planned.kernel), clean)
        return self.by_cases(planned, self._built)

    def by_cases(self, planned: Planned, built: object) -> Trial:
        names = planned.fault.cases
        if not names[0].startswith(PROGRAM):
            return super().by_cases(planned, built)
        assert isinstance(built, Built)
        before = run_programs(self._original(planned.kernel), names)
        done = Patched(planned)
        done.results = run_programs(built, names)
        failing = [name for name, result in before.items() if result != "PASS"]
        verdict, detail = decide(names, failing, done)
        tried = len(done.results)
        return Trial(
            planned.fault, planned.kernel, SUITE, verdict, tuple(failing), (), (), tried, detail
        )


def run_programs(built: Built, names: Sequence[str]) -> dict[str, str]:
    """Runs programs of the specification in a guest. One fails if the kernel deviates, although the deviation is known."""
    host = suite.find_target("refpmu").on(cpus=1)
    paths = [PROGRAMS / name.removeprefix(PROGRAM) for name in names]
    machine = runs.machine(built.kernel, host, files={path.name: path for path in paths})
    results = {}
    with guest.Guest(machine) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        for name, path in zip(names, paths, strict=True):
            found = specify.facts(specify.specify(vm, "refpmu", [f"/{path.name}"], PROGRAM_S))
            right = not (found["found"] or found["reports"] or found["known_deviations"])
            results[name] = "PASS" if right else "FAIL"
        vm.bye()
    return results


class WithPatchedDriver(Judging, WithDriver):
    """A driver with a patch, as a module of a stock kernel."""


def plan(fix: Fix, asked: Sequence[str]) -> list[Planned]:
    """The trials of a patch, one for each target and kernel."""
    found = []
    for target in map(suite.find_target, fix.targets):
        fault = fix.fault(target)
        for name in [name for name in fix.kernels if not asked or name in asked]:
            if fault.breaks == KERNEL:
                (on,) = kernels.arches_of([target.name])
                name = kernels.kernel_name(name, on)
            found.append(Planned(fault, name, SUITE))
    return found


def merged(planned: Sequence[Planned], out: Path) -> Fault:
    """The patches of trials as one, in their order."""
    faults = list({one.fault.id: one.fault for one in planned}.values())
    path = out / "together.patch"
    store.write(path, b"".join(fault.path.read_bytes() for fault in faults))
    change = "".join(fault.change for fault in faults)
    return replace(faults[0], id="together", path=path, change=change)


def try_one(planned: Planned, strategy: InGuests) -> Trial:
    """The result of a trial. A patch that does not apply or build is not judged."""
    why = judging.missing(planned)
    if not why:
        try:
            return strategy.judge(planned)
        except UserError as error:
            why = str(error)
    return Trial(planned.fault, planned.kernel, SUITE, NOT_JUDGED, detail=why)


def line(done: Trial) -> str:
    """A trial as a line of the output."""
    place = f"{done.fault.targets[0]} on {done.kernel}"
    return f"{done.fault.id}  {done.result}: {done.fault.text}, {place}: {done.detail}"


def selected(fixes: Sequence[Fix], options: argparse.Namespace) -> list[Fix]:
    """The patches that the options select. UserError if there is none."""
    found = list(fixes)
    if options.id:
        for glob in options.id.split(","):
            if not any(fnmatch.fnmatchcase(fix.id, glob) for fix in fixes):
                raise UserError(f"no patch '{glob}'; known: {fixes[0].id} to {fixes[-1].id}")
        globs = options.id.split(",")
        found = [fix for fix in fixes if any(fnmatch.fnmatchcase(fix.id, g) for g in globs)]
    found = parts.part_of(found, *options.part)
    if options.patch is not None:
        if len(found) != 1:
            raise UserError(f"--patch replaces one patch, and --id selects {len(found)}")
        if not options.patch.is_file():
            raise UserError(f"--patch: no file {options.patch}")
        found = [replace(found[0], path=options.patch)]
    if not found:
        raise UserError("no such patch")
    return found


def run(options: argparse.Namespace) -> int:
    """Tries the selected patches. Returns 0 if each one that has cases fixes them, 1 if one does not."""
    fixes = selected(read(), options)
    out = options.out.resolve()
    for fix in fixes:
        if fix.untried:
            print(f"{fix.id}  {NOT_JUDGED}: {fix.finding}: {fix.untried}", flush=True)
    planned = [one for fix in fixes for one in plan(fix, options.kernel or ())]
    trials: list[Trial] = []
    for kind, how in ((DEVICE, WithPatchedDriver), (KERNEL, InPatchedKernel)):
        mine = tuple(one for one in planned if one.fault.breaks == kind)
        if not mine:
            continue
        event = threading.Event()
        request = Request(mine, Goal.ALL, not options.all, out, Catchers.read(), print, event)
        with contextlib.closing(how(request)) as strategy:
            if options.together and isinstance(strategy, InPatchedKernel):
                strategy.together = merged(mine, out)
            for one in mine:
                trials.append(try_one(one, strategy))
                print(line(trials[-1]), flush=True)
                write(trials, out)
    return 0 if all(done.result == FIXES for done in trials) else 1


def write(trials: Sequence[Trial], out: Path) -> None:
    """Writes results.json."""
    rows: list[dict[str, object]] = [
        {
            "id": done.fault.id,
            "finding": done.fault.text,
            "verdict": done.result,
            "target": done.fault.targets[0],
            "kernel": done.kernel,
            "detail": done.detail,
            "failed_before": list(done.by),
            "cases_run": done.tried,
        }
        for done in trials
    ]
    store.write(out / "results.json", json.dumps({"trials": rows}, indent=1).encode())


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m ci.fixes",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--id", metavar="GLOB,...", help="only these patches, such as 0020 or '002*'")
    add("--kernel", action="append", help="only on this series; repeatable")
    add("--part", type=parts.numbers, default=(1, 1), metavar="K/N", help="only one of N parts")
    add("--all", action="store_true", help="run all cases of the targets, to find those that break")
    add("--together", action="store_true", help="one kernel with all selected patches")
    add("--patch", type=Path, metavar="FILE", help="this file instead of the patch that --id names")
    add("--out", type=Path, default=OUT, help="folder for results.json, the logs and the builds")
    try:
        return run(parser.parse_args(argv))
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"fixes: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("fixes: interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
