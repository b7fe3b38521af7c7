# SPDX-License-Identifier: Apache-2.0
"""Proves that tests can fail: builds each fault and lets its observers judge it.

Observers: the unit tests (unit), a fuzz harness (fuzz), the KUnit suites (kunit), the cases of the suite (suite), a test
of pytest (test).
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
from dataclasses import replace
from pathlib import Path

from ci import parts
from ci.faults import judging, report
from ci.faults.judging import DEFAULT_KERNEL, Judge
from ci.faults.trial import Goal
from conformance.rules.generate import read_catalogue
from faults import fault as fault_file
from faults.fault import KINDS, OBSERVERS, Fault
from pmubase import store
from pmubase.errors import UserError

OUT = store.ROOT / "build" / "faults"


def selected(faults: list[Fault], options: argparse.Namespace) -> list[Fault]:
    """The faults that the options select. UserError if there is none."""
    found = [fault for fault in faults if not options.kind or fault.breaks in options.kind]
    if options.id:
        globs = [glob for each in options.id for glob in each.split(",")]
        for glob in globs:
            if not any(fnmatch.fnmatchcase(fault.id, glob) for fault in found):
                raise UserError(f"no fault '{glob}'")
        found = [f for f in found if any(fnmatch.fnmatchcase(f.id, glob) for glob in globs)]
    found = [fault for fault in found if set(fault.observers) & set(options.observer or OBSERVERS)]
    if options.part != (1, 1):
        every = len(found)
        found = parts.part_of(found, *options.part)
        print(f"{len(found)} of {every} faults: part {options.part[0]} of {options.part[1]}")
    if not found:
        raise UserError("no such fault")
    return found


def run(options: argparse.Namespace) -> int:
    """Judges the selected faults."""
    every, errors = fault_file.collect()
    for error in errors:
        print(f"faults: {error}", file=sys.stderr)
    faults = selected(every, options)
    goal = Goal.ALL if options.all else Goal.RULES if options.rules else Goal.CATCH
    if goal is not Goal.CATCH:
        # All observers are tried, so a catch by a cheap one must not hide that another one misses the fault.
        faults = [replace(fault, any_of=False) for fault in faults]
    catalogue = read_catalogue((store.ROOT / "conformance" / "rules").glob("*.toml"))
    ranges = {rule.id: rule.kernels for rule in catalogue}
    observers = options.observer or OBSERVERS
    plans = [judging.plan(fault, options.kernel or (), observers, ranges) for fault in faults]
    skipped = [fault.name for fault, planned in zip(faults, plans) if not planned]
    if skipped:
        print(f"skipped, for other kernels: {report.shortened(skipped)}", flush=True)
    for one in [one for each in plans for one in each]:
        why = judging.missing(one)
        if why:
            print(f"skipped, {one.fault.id} on {one.kernel}: {why}", flush=True)
    out = options.out.resolve()
    judge = Judge([each for each in plans if each], goal, options.fresh, options.own, out)
    judged = judge.run(sys.stdout)
    trials, problems = judged.trials, judged.problems
    report.write(trials, errors, problems, skipped, out)
    if options.all:
        for done in trials:
            rules = [*(rule for rule, _ in done.failed_rules), *done.other_rules]
            print(f"{done.fault.id}: all rules that failed: {', '.join(rules) or 'none'}")
    print(report.summary(trials, errors, problems, judged.notes, options.rules))
    return report.status(trials, errors, problems)


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m ci.faults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--kind", action="append", choices=KINDS, help="only faults of this kind; repeatable")
    add("--id", action="append", metavar="GLOB,...", help="only these faults; repeatable")
    add("--observer", action="append", choices=OBSERVERS, help="only this observer; repeatable")
    add(
        "--kernel",
        action="append",
        help=f"run on this kernel; repeatable ({DEFAULT_KERNEL}; the newest for answers that are only for it)",
    )
    add("--part", type=parts.numbers, default=(1, 1), metavar="K/N", help="only one of N parts")
    add("--fresh", action="store_true", help="also try faults with a recorded result")
    add("--own", action="store_true", help="run only the cases of the rules that the fault names")
    add("--out", type=Path, default=OUT, help="folder for results.json, faults.md and the logs")
    goals = parser.add_mutually_exclusive_group()
    goals.add_argument(
        "--rules",
        action="store_true",
        help="do not stop at the first failed test, but when each named rule was failed",
    )
    goals.add_argument(
        "--all", action="store_true", help="run all tests, and print all failed rules"
    )
    options = parser.parse_args(argv)
    (options.out / "results.json").unlink(missing_ok=True)
    try:
        return run(options)
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"faults: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("faults: interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
