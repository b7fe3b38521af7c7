# SPDX-License-Identifier: Apache-2.0
"""Proves that the suite catches broken drivers: builds, boots and judges each mutant."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from ci.mutation import exempt_rules, kunit, matrix, parts, passes, patch, report, trial, workshop
from ci.mutation.killers import Killers
from ci.mutation.patch import Mutant
from ci.mutation.trial import Clean, Trial
from conformance.rules.generate import CatalogueError, read_catalogue
from vm import kernel, module, session, store, suite
from vm.channel import Message
from vm.errors import PmuvmError
from vm.guest import GuestLost
from vm.runs import boot_without_module, pass_module, plan

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "driver"
MUTANTS = DRIVER / "mutants"
OUT = ROOT / "build" / "mutants"
PARALLEL = 2
DEFAULT_KERNEL = "6.12"


Outcome = tuple[list[Trial], list[str]]
"""Trials, and the errors of the clean driver."""
Job = Callable[[], Outcome]


class Unclean(Exception):
    """The unmutated driver cannot be judged, so no mutant can be judged either."""


class Bench:
    """One target on one kernel: its cases, and guests that receive a module."""

    def __init__(self, found: kernel.Kernel, target: suite.Target, clean: Path) -> None:
        """`clean` is the unmutated driver's module."""
        self.kernel = found
        self.cases = tuple(suite.cases(target, suite.Selection()))
        self.clean = Clean(self._run_clean)
        self._target = target
        self._module = clean
        self._stack = contextlib.ExitStack()
        self._lock = threading.Lock()
        self._behind: list[session.Plan | None] = []
        self._guests: session.Session | None = None
        self._messages: list[Message] = []

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open(self, built: Path, log: Path, messages: list[Message]) -> session.Session:
        """Guests that load the module `built`. Their messages are added to `messages`."""
        with self._lock:
            if not self._behind:
                folder = self._stack.enter_context(store.scratch(OUT))
                with _convert_to_unclean("no guest"):
                    self._behind.append(boot_without_module(self._target, self.kernel, folder))
        behind = self._behind[0]
        if behind is None:
            return session.Session(plan(self._target, self.kernel, built), log, messages.append)
        return session.Session(pass_module(behind, built), log, messages.append)

    def end(self, guests: session.Session, messages: list[Message]) -> list[str]:
        """The kernel's complaints after the last case. A debug kernel also looks for memory leaks."""
        before = len(messages)
        guests.finish()
        return trial.complaints(messages[before:])

    def is_clean_for(self, complaint: str) -> bool:
        """Whether the clean driver passes the case of a complaint. A complaint without a case stands for any case."""
        known = {case.id: case for case in self.cases}
        return self.clean.fits(known.get(complaint, self.cases[0]))

    def _run_clean(self, case: suite.Case) -> str:
        with _convert_to_unclean("the clean driver"):
            first = self._guests is None
            if self._guests is None:
                log = OUT / f"clean-{self._target.name}-{self.kernel.name}.log"
                guests = self.open(self._module, log, self._messages)
                self._guests = self._stack.enter_context(guests)
            result = run_case(self._guests, case)
            # Messages about the module's load and unload are the same for all cases, so one check is enough.
            ends = first or self.kernel.needs.debug
            return "CRASH" if ends and self.end(self._guests, self._messages) else result


@contextlib.contextmanager
def _convert_to_unclean(whom: str) -> Iterator[None]:
    try:
        yield
    except PmuvmError as error:
        raise Unclean(f"{whom}: {error}") from error


WORKSHOPS: queue.Queue[int] = queue.Queue()
for _number in range(PARALLEL):
    WORKSHOPS.put(_number)


def build(found: kernel.Kernel, mutant: Mutant | None) -> Path:
    """Builds the module of the mutant, or of the driver. PatchError or PmuvmError if that fails."""
    folder = OUT / ("clean" if mutant is None else mutant.path.stem)
    product = folder / found.release / f"{module.NAME}.ko"
    number = WORKSHOPS.get()
    try:
        shop = OUT / f"workshop-{number}-{found.release}"
        return workshop.build(mutant, found, DRIVER, shop, product)
    finally:
        WORKSHOPS.put(number)


def run_case(guests: session.Session, case: suite.Case) -> str:
    """The result of a case. The cause of a BROKEN result may also break later cases, so they get another guest."""
    result = str(guests.run(case)["result"])
    if result == "BROKEN":
        guests.power_off_now()
    return result


def try_mutant(bench: Bench, mutant: Mutant, known: Killers, options: argparse.Namespace) -> Trial:
    """Builds the mutant, loads it in a guest, runs the cases of its rules, and then all others."""
    name = bench.kernel.name
    try:
        built = build(bench.kernel, mutant)
    except patch.PatchError as error:
        return trial.broken(mutant, name, str(error))
    except PmuvmError as error:
        last = next((line for line in error.details.splitlines() if "error" in line), "")
        return trial.broken(mutant, name, f"{error}: {last.strip()}".rstrip(": "))
    own = known.first(mutant, trial.cases_of_rules(mutant, bench.cases))
    others = [] if options.own else [case for case in bench.cases if case not in own]
    log = OUT / mutant.path.stem / f"console-{name}.log"
    messages: list[Message] = []
    try:
        with bench.open(built, log, messages) as guests:

            def run_until_kill(cases: Sequence[suite.Case]) -> Trial:
                run = partial(run_case, guests)
                done = trial.run_until_kill(
                    mutant, name, cases, run, bench.clean.passes, options.all
                )
                if done.killed:
                    return done
                return trial.at_the_end(
                    done, [*filter(bench.is_clean_for, bench.end(guests, messages))]
                )

            done = run_until_kill(own)
            return done.continued_by(run_until_kill(others)) if others and not done.killed else done
    except PmuvmError as error:
        lost = error.__context__
        if not isinstance(lost, GuestLost):
            return trial.broken(mutant, name, str(error))
        # The guest died while it loaded the mutant.
        result = "KILLED" if lost.verdict in mutant.kill else lost.verdict
        killers = ("(load)",) if result == "KILLED" else ()
        return Trial(mutant, name, result, killed_by=killers, detail=f"at load: {lost.cause}")


def by_cases(bench: Bench, mutant: Mutant, known: Killers, options: argparse.Namespace) -> Outcome:
    """Judges one mutant, measures the time, and prints the result."""
    begun = time.monotonic()
    checked = trial.with_remarks(mutant, bench.cases)
    if not options.fresh and not options.all:
        before = passes.recorded_kill(checked, bench.kernel.name)
        if before is not None:
            return [before], []
    done = try_mutant(bench, checked, known, options)
    done = replace(done, duration_s=round(time.monotonic() - begun, 2))
    passes.record_kill(done, bench.cases)
    print_trial(done)
    return [done], []


def run_in_turn(jobs: Sequence[Job]) -> Outcome:
    """The results of the jobs, run one after the other."""
    outcomes = [job() for job in jobs]
    return [t for trials, _ in outcomes for t in trials], [f for _, fs in outcomes for f in fs]


def run_in_parallel(jobs: Sequence[Job]) -> list[Outcome]:
    """The results of the jobs, in their order. PARALLEL jobs run at the same time."""
    with ThreadPoolExecutor(max_workers=PARALLEL) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)


def print_trial(done: Trial) -> None:
    """Prints a line about a trial that has ended."""
    print(f"{report.line(done)}\n", end="", flush=True)


def run(options: argparse.Namespace) -> int:
    """Judges the mutants of a folder on each kernel."""
    folder: Path = options.folder
    if not folder.is_dir():
        print(f"mutants: no folder {folder}", file=sys.stderr)
        return 2
    mutants, problems = patch.collect(folder)
    errors = [str(problem) for problem in problems]
    if options.id:
        unknown = set(options.id) - {mutant.id for mutant in mutants}
        if unknown:
            ids = ", ".join(mutant.id for mutant in mutants)
            print(f"mutants: unknown id {min(unknown)} (known: {ids})", file=sys.stderr)
            return 2
        mutants = [mutant for mutant in mutants if mutant.id in options.id]
    if not mutants and not errors:
        print(f"mutants: no patch in {folder}", file=sys.stderr)
        return 2
    for error in errors:
        print(f"mutants: {error}", file=sys.stderr)
    if options.part != (1, 1):
        every = len(mutants)
        mutants = parts.part_of(mutants, *options.part)
        print(f"{len(mutants)} of {every} mutants: part {options.part[0]} of {options.part[1]}")

    reasons = _exempt_rules()
    names = options.kernel or [DEFAULT_KERNEL] if mutants else []
    away = [m.id for m in mutants if not any(m.wants(name) for name in names)]
    if away:
        print(f"skipped, for other kernels: {report.shortened(away)}")
    known = Killers.read()
    trials, faults, rules_of = judge(names, mutants, known, options)
    known.write(trials)
    skipped = sum(
        not mutant.wants(name)
        for name, mutant in itertools.product(names, mutants)
        for who in mutant.observers
        if options.observer in (who, None)
    )
    report.write(trials, errors, faults, skipped, options.out / "results.json")
    whole = not (options.id or options.part != (1, 1) or options.observer) and folder == MUTANTS
    rows = matrix.add_rows_of_other_kernels(report.rows(trials), OUT / "whole", whole)
    page = matrix.page(rows, rules_of, reasons, matrix.classes(folder))
    store.write(OUT / "matrix.md", page.encode())
    print(report.summary(trials, errors, faults))
    return report.status(trials, errors, faults)


def judge(
    names: Sequence[str], mutants: Sequence[Mutant], known: Killers, options: argparse.Namespace
) -> tuple[list[Trial], list[str], dict[str, tuple[str, ...]]]:
    """Judges the mutants on each kernel. Returns the trials, the faults of the clean driver, and the rules of each
    case."""
    jobs: list[Job] = []
    built_in: list[Job] = []
    rules_of: dict[str, tuple[str, ...]] = {}
    benches: list[Bench] = []
    with contextlib.ExitStack() as stack:
        for name in names:
            wanted = {
                who: [m for m in mutants if who in m.observers and m.wants(name)]
                for who in patch.OBSERVERS
                if options.observer in (who, None)
            }
            if wanted.get("kunit"):
                built_in.append(
                    partial(kunit.judge, name, wanted["kunit"], DRIVER, OUT, print_trial)
                )
            if not wanted.get("cases"):
                continue
            found = kernel.find(name)
            clean = build(found, None)
            for of in sorted({mutant.target for mutant in wanted["cases"]}):
                bench = stack.enter_context(Bench(found, suite.find_target(of), clean))
                benches.append(bench)
                rules_of |= {case.id: case.rules for case in bench.cases}
                own = [mutant for mutant in wanted["cases"] if mutant.target == of]
                jobs += [partial(by_cases, bench, mutant, known, options) for mutant in own]
        # The mutants that are built into a kernel share a build tree and run one after the other, so they start first.
        outcomes = run_in_parallel([partial(run_in_turn, built_in), *jobs])
    faults = [fault for _, found in outcomes for fault in found]
    for bench in benches:
        faults += [f"{name} on {bench.kernel.name}: {how}" for name, how in bench.clean.faults()]
    return [done for trials, _ in outcomes for done in trials], faults, rules_of


def _exempt_rules() -> dict[str, str]:
    """The reason why no mutant can violate a rule, by rule."""
    catalogue = read_catalogue((ROOT / "conformance" / "rules").glob("*.toml"))
    wanted = [rule.id for rule in catalogue if rule.status == "active" and "case" in rule.layer]
    return exempt_rules.read(MUTANTS / exempt_rules.NAME, wanted)


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.mutants", description=__doc__)
    parser.add_argument("--folder", type=Path, default=MUTANTS, help="of patches")
    parser.add_argument(
        "--kernel", action="append", help=f"run on this kernel; may be repeated ({DEFAULT_KERNEL})"
    )
    parser.add_argument("--id", action="append", help="run only this mutant; may be repeated")
    parser.add_argument(
        "--observer",
        choices=patch.OBSERVERS,
        help="run only the mutants that this observer must kill",
    )
    parser.add_argument(
        "--part", type=parts.numbers, default=(1, 1), metavar="K/N", help="run only one of N parts"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="run mutants that were killed before, too"
    )
    parser.add_argument("--out", type=Path, default=OUT, help="folder for results.json")
    parser.add_argument(
        "--own", action="store_true", help="run only the cases of the mutant's rules"
    )
    parser.add_argument("--all", action="store_true", help="do not stop at the first kill")
    options = parser.parse_args(argv)
    (options.out / "results.json").unlink(missing_ok=True)
    try:
        return run(options)
    except PmuvmError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"mutants: {error}", file=sys.stderr)
    except (CatalogueError, exempt_rules.ExemptRulesError, Unclean) as error:
        print(f"mutants: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("mutants: interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
