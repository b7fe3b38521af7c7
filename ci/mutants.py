# SPDX-License-Identifier: Apache-2.0
"""Proves that broken drivers are caught: builds each mutant and lets its observers judge it.

Observers: the unit tests (unit), a fuzz harness (fuzz), the KUnit suites (kunit), the cases of the suite (suite).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

if not __package__:
    # Started as a file: its own folder is no package, and has modules with names of the standard library.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

# pylint: disable=wrong-import-position
from ci.mutation import matrix, parts, report, rule_evidence
from ci.mutation.bench import Unclean
from ci.mutation.judging import Judge, Request, plan
from ci.mutation.killers import Killers
from ci.mutation.trial import Goal
from conformance.rules.generate import read_catalogue
from faults import exempt_rules, mutant_file
from pmubase import store
from pmubase.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "driver"
MUTANTS = DRIVER / "mutants"
OUT = ROOT / "build" / "mutants"
DEFAULT_KERNEL = "6.12"


def run(options: argparse.Namespace) -> int:
    """Judges the mutants of folders on each kernel."""
    folders: list[Path] = [f.resolve() for f in options.folder or mutant_file.folders(ROOT)]
    for folder in folders:
        if not folder.is_dir():
            print(f"mutants: no folder {folder}", file=sys.stderr)
            return 2
    named = ", ".join(map(str, folders))
    mutants, problems = mutant_file.collect(*folders)
    errors = [str(problem) for problem in problems]
    if options.id:
        unknown = set(options.id) - {mutant.id for mutant in mutants}
        if unknown:
            ids = ", ".join(mutant.id for mutant in mutants)
            print(f"mutants: unknown id {min(unknown)} (known: {ids})", file=sys.stderr)
            return 2
        mutants = [mutant for mutant in mutants if mutant.id in options.id]
    if not mutants and not errors:
        print(f"mutants: no patch in {named}", file=sys.stderr)
        return 2
    for error in errors:
        print(f"mutants: {error}", file=sys.stderr)
    observers = tuple(options.observer or mutant_file.OBSERVERS)
    if options.observer:
        mutants = [mutant for mutant in mutants if set(mutant.observers) & set(observers)]
    if options.part != (1, 1):
        every = len(mutants)
        mutants = parts.part_of(mutants, *options.part)
        print(f"{len(mutants)} of {every} mutants: part {options.part[0]} of {options.part[1]}")

    reasons = _exempt_rules()
    names = tuple(options.kernel or [DEFAULT_KERNEL])
    away = [mutant.id for mutant in mutants if not plan(mutant, names, observers)]
    if away:
        print(f"skipped, for other kernels: {report.shortened(away)}", flush=True)
    goal = Goal.ALL if options.all else Goal.RULES if options.rules else Goal.KILL
    if goal is not Goal.KILL:
        # All observers are tried, so a kill by a cheap one must not hide that another one misses the mutant.
        mutants = [replace(mutant, any_of=False) for mutant in mutants]
    request = Request(tuple(mutants), names, observers, goal, options.fresh, options.own, OUT)
    known = Killers.read()
    judged = Judge(request, known, sys.stdout).run()
    trials, faults = judged.trials, judged.faults
    known.write(trials)
    report.write(trials, errors, faults, len(away), options.out / "results.json")
    whole = not (options.id or options.part != (1, 1) or options.observer or options.folder)
    rows = matrix.add_rows_of_other_kernels(report.rows(trials), OUT / "whole", whole)
    page = matrix.page(rows, judged.rules_of, reasons, matrix.classes(MUTANTS))
    store.write(OUT / "matrix.md", page.encode())
    rule_evidence.write(trials, options.out / rule_evidence.NAME)
    print(report.summary(trials, errors, faults, len(away), options.rules))
    return report.status(list(report.verdicts(trials).values()), errors, faults)


def _exempt_rules() -> dict[str, str]:
    """The reason why no mutant can violate a rule, by rule."""
    catalogue = read_catalogue((ROOT / "conformance" / "rules").glob("*.toml"))
    wanted = [rule.id for rule in catalogue if rule.status == "active" and "case" in rule.layer]
    return exempt_rules.read(MUTANTS / exempt_rules.NAME, wanted)


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m ci.mutants",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--folder",
        type=Path,
        action="append",
        help="of patches; may be repeated (all folders of the project)",
    )
    parser.add_argument(
        "--kernel", action="append", help=f"run on this kernel; may be repeated ({DEFAULT_KERNEL})"
    )
    parser.add_argument("--id", action="append", help="run only this mutant; may be repeated")
    parser.add_argument(
        "--observer",
        action="append",
        choices=mutant_file.OBSERVERS,
        help="run only trials of this observer; may be repeated",
    )
    parser.add_argument(
        "--part", type=parts.numbers, default=(1, 1), metavar="K/N", help="run only one of N parts"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run mutants that were killed before, too"
    )
    parser.add_argument(
        "--out", type=Path, default=OUT, help="folder for results.json and rules.json"
    )
    parser.add_argument(
        "--own", action="store_true", help="of the suite, run only the cases of the mutant's rules"
    )
    goals = parser.add_mutually_exclusive_group()
    goals.add_argument(
        "--rules",
        action="store_true",
        help="do not stop at the first kill, but when each rule of the mutant was failed",
    )
    goals.add_argument("--all", action="store_true", help="do not stop at the first kill")
    options = parser.parse_args(argv)
    (options.out / "results.json").unlink(missing_ok=True)
    try:
        return run(options)
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"mutants: {error}", file=sys.stderr)
    except (UserError, Unclean) as error:
        print(f"mutants: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("mutants: interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
