# SPDX-License-Identifier: Apache-2.0
"""Proves that cases can fail: gives them wrong answers of the kernel, and judges whether they notice."""

from __future__ import annotations

import argparse
import fnmatch
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ci.lying import report, trial
from ci.lying.trial import Pair
from ci.verified_rules import applies
from conformance.rules.generate import Rule, read_catalogue
from faults import lie_file
from faults.lie_file import Lie
from pmubase import store
from pmubase.errors import UserError
from vm import kernel, session, stock, suite
from vm.channel import Message
from vm.runs import plan

OUT = store.ROOT / "build" / "lies"
DEFAULT_KERNEL = "6.12"
LONGEST_S = 15
"""Deadline of a case under a lie. A case that hangs under a lie catches nothing, unless the lie has `kill`."""


class Bench:
    """One target on one kernel, with a guest."""

    def __init__(self, target: suite.Target, found: kernel.Kernel, out: Path) -> None:
        self._messages: list[Message] = []
        self.cases = tuple(suite.cases(target, suite.Selection()))
        log = out / f"console-{target.name}-{found.name}.log"
        self._guests = session.Session(plan(target, found, None), log, self._messages.append)
        self._clean: dict[str, str] = {}
        self.ran = 0

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._guests.power_off_now()

    def passes(self, case: suite.Case) -> bool:
        """Whether the case passes without a lie."""
        if case.id not in self._clean:
            self.ran += 1
            self._clean[case.id] = str(self._guests.run(case)["result"])
        return self._clean[case.id] == "PASS"

    def unclean(self) -> list[str]:
        """The cases that failed without a lie."""
        return [
            f"{case}: {how}" for case, how in self._clean.items() if how not in ("PASS", "SKIP")
        ]

    def run(self, case: suite.Case, lie: Lie) -> Message:
        """The result of the case under the lie."""
        self.ran += 1
        result = self._guests.run(case, lie=lie.source, longest_s=LONGEST_S)
        if result["result"] == "BROKEN" and "lie" not in result:
            lines = str(result["message"]).splitlines()
            why = next((line for line in lines if "pmuconf: " in line), lines[0])
            raise UserError(
                f"{lie.path.name}: lie '{lie.id}': {why.replace(session.LIE, 'its line ')}"
            )
        return result


def judge(
    lies: Sequence[Lie], name: str, options: argparse.Namespace
) -> Iterator[tuple[Lie, list[Pair], Bench]]:
    """The pairs of each lie on one kernel, one target after the other."""
    found = kernel.find(name)
    for of in sorted({lie.target for lie in lies}):
        with Bench(suite.find_target(of), found, options.out) as bench:
            for lie in (lie for lie in lies if lie.target == of):

                def run(case: suite.Case, lie: Lie = lie) -> Message:
                    return bench.run(case, lie)

                if options.all:
                    globs = (options.case or "*").split(",")
                    cases = [
                        case
                        for case in bench.cases
                        if any(fnmatch.fnmatchcase(case.id, glob) for glob in globs)
                        and (not options.areas or _areas(case.rules) & set(options.areas))
                    ]
                    yield lie, trial.discover(lie, cases, run, bench.passes), bench
                else:
                    yield lie, trial.judge(lie, bench.cases, run, bench.passes), bench
            for fault in bench.unclean():
                print(f"lies: without a lie: {fault}", file=sys.stderr)


def _areas(rules: Sequence[str]) -> set[str]:
    return {rule.partition("-")[0] for rule in rules}


def plan_kernels(
    lies: Sequence[Lie], rules: Mapping[str, Rule], asked: Sequence[str]
) -> dict[str, list[Lie]]:
    """The lies to run on each kernel. If none is asked for, a lie runs on the default kernel if it and one of its rules
    are for that kernel, otherwise on the newest one."""

    def suits(lie: Lie, name: str) -> bool:
        return lie.wants(name) and (
            not lie.rules or any(applies(rules[rule].kernels, name) for rule in lie.rules)
        )

    if asked:
        return {name: [lie for lie in lies if suits(lie, name)] for name in asked}
    default = [lie for lie in lies if suits(lie, DEFAULT_KERNEL)]
    newest = stock.series()[-1]
    others = [lie for lie in lies if lie not in default and suits(lie, newest)]
    return {name: of for name, of in ((DEFAULT_KERNEL, default), (newest, others)) if of}


def run(options: argparse.Namespace) -> int:
    """Judges the selected lies on each kernel."""
    catalogue = read_catalogue((store.ROOT / "conformance" / "rules").glob("*.toml"))
    known = {r.id: r for r in catalogue if lie_file.may_name(r)}
    lies = lie_file.read(options.folder)
    for problem in lie_file.unknown_rules(lies, set(known)):
        raise UserError(problem)
    if options.lies:
        globs = options.lies.split(",")
        lies = [lie for lie in lies if any(fnmatch.fnmatchcase(lie.id, glob) for glob in globs)]
        if not lies:
            raise UserError(f"no lie matches '{options.lies}'")
    if not lies:
        raise UserError(f"no lie in {options.folder}")
    rows: list[report.Row] = []
    for name, wanted in plan_kernels(lies, known, options.kernel or []).items():
        progress = report.Progress(wanted, sys.stdout)
        for lie, pairs, bench in judge(wanted, name, options):
            # A rule of other kernels has no case here.
            excused = {r for r in lie.rules if not applies(known[r].kernels, name)}
            kept = [p for p in pairs if p.result != trial.SKIPPED or p.rule not in excused]
            progress.lie(lie, kept, bench.ran, discovered=options.all)
            rows += [report.row(name, lie, pair) for pair in kept]
    report.write(rows, options.out, partial=bool(options.lies or options.all))
    print(report.summary(rows))
    return report.status(rows)


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.lies", description=__doc__)
    parser.add_argument(
        "--folder", type=Path, default=store.ROOT / lie_file.FOLDER, help="of the lies' files"
    )
    parser.add_argument("--lies", metavar="GLOB,...", default="", help="run only these lies")
    parser.add_argument(
        "--kernel",
        action="append",
        help=f"run on this kernel; may be repeated ({DEFAULT_KERNEL}, or the newest for rules of newer kernels)",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="run each lie against all cases, and print the rules that it fails",
    )
    parser.add_argument(
        "--areas",
        type=lambda text: text.split(","),
        default=[],
        metavar="AREA,...",
        help="with --all: only cases of rules of these areas",
    )
    parser.add_argument("--case", metavar="GLOB,...", help="with --all: only these cases")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for results.json")
    options = parser.parse_args(argv)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").unlink(missing_ok=True)
    try:
        return run(options)
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"lies: {error}", file=sys.stderr)
    except UserError as error:
        print(f"lies: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("lies: interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
