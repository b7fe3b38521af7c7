# SPDX-License-Identifier: Apache-2.0
"""Re-introduces real bugs of Linux in its own code, and shows which of them the suite catches.

Each regression is a patch that undoes one fix. A kernel is built with it, and guests boot this kernel and run cases.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if not __package__:
    # Started as a file: its own folder is no package, and has modules with names of the standard library.
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

# pylint: disable=wrong-import-position
from ci.mutation import parts
from ci.mutation.killers import Killers
from ci.mutation.target_bench import Unclean
from ci.mutation.trial import Goal
from ci.regression import recipes, report
from ci.regression.judging import Judge
from ci.regression.on_kernel import Request
from ci.regression.verdict import merged
from faults import regression_file, verdicts
from faults.verdicts import CAUGHT
from pmubase import store
from pmubase.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / regression_file.FOLDER
OUT = ROOT / "build" / "regressions"
DEFAULT_KERNEL = "6.12"


def run(options: argparse.Namespace) -> int:
    """Tries the regressions of folders on each kernel."""
    folders: list[Path] = [folder.resolve() for folder in options.folder or [FOLDER]]
    for folder in folders:
        if not folder.is_dir():
            return _refused(f"no folder {folder}")
    series = tuple(options.kernel or [DEFAULT_KERNEL])
    known = recipes.series()
    for name in series:
        if name not in known:
            return _refused(f"unknown kernel '{name}' (known: {', '.join(known)})")
    every, problems = regression_file.collect(*folders)
    errors = [str(problem) for problem in problems]
    chosen = every
    if options.id:
        unknown = set(options.id) - {one.id for one in every}
        if unknown:
            return _refused(f"unknown id {min(unknown)}")
        chosen = [one for one in every if one.id in options.id]
        errors = []
    if options.part != (1, 1):
        chosen = parts.part_of(chosen, *options.part)
        print(f"{len(chosen)} of {len(every)}: part {options.part[0]} of {options.part[1]}")
    for error in errors:
        print(f"regressions: {error}", file=sys.stderr)
    if not any(set(one.kernels) & set(series) for one in chosen) and not errors:
        return _refused(f"no patch for {', '.join(series)} in {', '.join(map(str, folders))}")
    goal = Goal.ALL if options.all else Goal.RULES if options.rules else Goal.KILL
    stored = verdicts.read(FOLDER)
    first = {key: one.case for key, one in stored.items()}
    out = options.out.resolve()
    request = Request(tuple(chosen), series, goal, options.fresh, options.own, out, first)
    killers = Killers.read()
    judge = Judge(request, killers, sys.stdout)
    found = judge.run()
    killers.write(judge.trials)
    report.write(found, errors, judge.faults, out / "results.json")
    store.write(out / "table.md", report.table(found).encode())
    if options.write:
        # Without the other cases, a miss is no result.
        valid = [done for done in found if done.result == CAUGHT or not options.own]
        verdicts.write(FOLDER, merged(stored, valid, regression_file.collect(FOLDER)[0]))
    print(report.summary(found, errors, judge.faults))
    return report.status(found, errors)


def _refused(why: str) -> int:
    print(f"regressions: {why}", file=sys.stderr)
    return 2


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m ci.regressions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--folder",
        type=Path,
        action="append",
        help=f"of patches; repeatable ({regression_file.FOLDER})",
    )
    add("--id", action="append", help="try only this regression; repeatable")
    add("--kernel", action="append", help=f"series of the kernels; repeatable ({DEFAULT_KERNEL})")
    add("--part", type=parts.numbers, default=(1, 1), metavar="K/N", help="only one of N parts")
    add("--fresh", action="store_true", help="also try regressions with a recorded result")
    add("--own", action="store_true", help="run only the cases of the rules that the patch names")
    add("--out", type=Path, default=OUT, help="folder for results.json, table.md and the logs")
    add(
        "--write",
        action="store_true",
        help=f"write the results to {regression_file.FOLDER / verdicts.NAME}; with --own, only catches",
    )
    goals = parser.add_mutually_exclusive_group()
    goals.add_argument(
        "--rules",
        action="store_true",
        help="do not stop at the first failed case, but when each named rule was failed",
    )
    goals.add_argument("--all", action="store_true", help="run all cases on all targets")
    options = parser.parse_args(argv)
    (options.out / "results.json").unlink(missing_ok=True)
    try:
        return run(options)
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        return _refused(str(error))
    except (Unclean, UserError) as error:
        return _refused(str(error))
    except KeyboardInterrupt:
        return _refused("interrupted")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
