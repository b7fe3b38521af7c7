#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Proves that the suite catches broken drivers: builds, boots and judges each mutant."""

from __future__ import annotations

import argparse
import datetime
import itertools
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "vm"))

from pmuvm import kernel, module, session, suite  # noqa: E402
from pmuvm.runs import plan  # noqa: E402
from pmuvm.channel import Message  # noqa: E402
from pmuvm.errors import PmuvmError  # noqa: E402
from pmuvm.guest import GuestLost  # noqa: E402

from generate import CatalogueError, read_catalogue  # noqa: E402
from mutation import beyond, kunit, matrix, patch, report, slices, trial, workshop  # noqa: E402
from mutation.patch import Mutant  # noqa: E402
from mutation.trial import Clean, Trial  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "driver"
OUT = ROOT / "build" / "mutants"
PARALLEL = 2
DEFAULT_KERNEL = "6.12"


@dataclass(frozen=True)
class Bench:
    """One kernel with the suite for it."""

    kernel: kernel.Kernel
    target: suite.Target
    cases: tuple[suite.Case, ...]

    def open(self, built: Path, log: Path) -> session.Session:
        """Guests that load the module `built`; nothing of what they say is kept but the console."""
        return session.Session(plan(self.target, self.kernel, built), log, _forget)


def _forget(_message: Message) -> None:
    """Results are taken from Session.run; the stream is for runs that are reported."""


def try_clean(bench: Bench, clean: Clean, cases: Sequence[suite.Case]) -> None:
    """Run the cases that were not run yet on the unmutated driver."""
    missing = [case for case in cases if not clean.known(case)]
    if not missing:
        return
    built = module.build(bench.kernel, DRIVER, module.default_out(bench.kernel))
    log = OUT / f"clean-{bench.target.name}-{bench.kernel.name}.log"
    with bench.open(built, log) as guests:
        for case in missing:
            clean.results[case.id] = guests.run(case)["result"]


WORKSHOPS: queue.Queue[int] = queue.Queue()
for _number in range(PARALLEL):
    WORKSHOPS.put(_number)


def build(bench: Bench, mutant: Mutant) -> Path:
    """The mutant's module; PatchError or PmuvmError if there is none."""
    product = OUT / mutant.path.stem / bench.kernel.release / f"{module.NAME}.ko"
    number = WORKSHOPS.get()
    try:
        folder = OUT / f"workshop-{number}-{bench.kernel.release}"
        return workshop.build(mutant, bench.kernel, DRIVER, folder, product)
    finally:
        WORKSHOPS.put(number)


def run_case(guests: session.Session, case: suite.Case) -> str:
    """The result. What broke a case may break the next ones too, so they get another guest."""
    result = str(guests.run(case)["result"])
    if result == "BROKEN":
        guests.drop()
    return result


def try_mutant(bench: Bench, mutant: Mutant, cases: Sequence[suite.Case], every: bool) -> Trial:
    """Build the mutant, boot it, set the cases on it."""
    name = bench.kernel.name
    try:
        built = build(bench, mutant)
    except patch.PatchError as error:
        return trial.broken(mutant, name, str(error))
    except PmuvmError as error:
        last = next((line for line in error.details.splitlines() if "error" in line), "")
        return trial.broken(mutant, name, f"{error}: {last.strip()}".rstrip(": "))
    log = OUT / mutant.path.stem / f"console-{name}.log"
    try:
        with bench.open(built, log) as guests:
            return trial.hunt(mutant, name, cases, lambda case: run_case(guests, case), every)
    except PmuvmError as error:
        lost = error.__context__
        if not isinstance(lost, GuestLost):
            return trial.broken(mutant, name, str(error))
        # It took the guest with it while it was being loaded.
        result = "KILLED" if lost.verdict in mutant.kill else lost.verdict
        killers = ("(load)",) if result == "KILLED" else ()
        return Trial(mutant, name, result, killed_by=killers, detail=f"at load: {lost.cause}")


def in_parallel(
    mutants: Sequence[Mutant], one: Callable[[Mutant], Trial], say: Callable[[Trial], None]
) -> list[Trial]:
    """`one` for each mutant, two at a time, in order; `say` hears of each as it ends."""
    lock = threading.Lock()

    def tell(future: Future[Trial]) -> None:
        if not future.cancelled() and future.exception() is None:
            with lock:
                say(future.result())

    with ThreadPoolExecutor(max_workers=PARALLEL) as pool:
        futures = [pool.submit(one, mutant) for mutant in mutants]
        for future in futures:
            future.add_done_callback(tell)
        try:
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)


def say(done: Trial) -> None:
    """A line on a trial as it ends."""
    print(report.line(done), flush=True)


def judge(
    bench: Bench, mutants: Sequence[Mutant], every: bool, others: bool
) -> tuple[list[Trial], list[str]]:
    """Every mutant on one kernel: the cases of its rules; then, if it lives on, the `others`."""
    clean = Clean()
    own = {mutant.id: trial.named(mutant, bench.cases) for mutant in mutants}
    wanted = [case for case in bench.cases if any(case in cases for cases in own.values())]
    where = f"clean driver, {bench.target.name} on {bench.kernel.release}"
    print(f"{where}: {len(wanted)} cases", flush=True)
    try_clean(bench, clean, wanted)

    def first(mutant: Mutant) -> Trial:
        usable = [case for case in own[mutant.id] if clean.passes(case)]
        return try_mutant(bench, mutant, usable, every)

    def goes_on(done: Trial) -> bool:
        return others and _lives(done) and len(bench.cases) > len(own[done.mutant.id])

    def say_more(done: Trial) -> None:
        again = "; the other cases are next" if goes_on(done) else ""
        print(report.line(done) + again, flush=True)

    trials = in_parallel(mutants, first, say_more)
    left = [t for t in trials if goes_on(t)]
    if left:
        print(f"{where}: the other cases", flush=True)
        try_clean(bench, clean, bench.cases)
    before = {t.mutant.id: t for t in left}

    def second(mutant: Mutant) -> Trial:
        rest = [case for case in bench.cases if case not in own[mutant.id] and clean.passes(case)]
        return before[mutant.id].after(try_mutant(bench, mutant, rest, every))

    later = in_parallel([t.mutant for t in left], second, say)
    final = {t.mutant.id: t for t in later}
    faults = [f"{name} on {bench.kernel.name}: {result}" for name, result in clean.faults()]
    return [final.get(t.mutant.id, t) for t in trials], faults


def _lives(done: Trial) -> bool:
    return done.result not in ("KILLED", "BROKEN")


def run(options: argparse.Namespace) -> int:
    """Judge the mutants of a folder on each kernel."""
    folder: Path = options.folder
    if not folder.is_dir():
        print(f"mutants: no folder {folder}", file=sys.stderr)
        return 2
    mutants, problems = patch.collect(folder)
    errors = [str(problem) for problem in problems]
    if options.id:
        unknown = set(options.id) - {mutant.id for mutant in mutants}
        if unknown:
            known = ", ".join(mutant.id for mutant in mutants)
            print(f"mutants: unknown id {min(unknown)} (known: {known})", file=sys.stderr)
            return 2
        mutants = [mutant for mutant in mutants if mutant.id in options.id]
    if not mutants and not errors:
        print(f"mutants: no patch in {folder}", file=sys.stderr)
        return 2
    for error in errors:
        print(f"mutants: {error}", file=sys.stderr)
    if options.slices:
        every = len(mutants)
        mutants = slices.of_day(mutants, options.slices, options.day)
        print(f"{len(mutants)} of {every} mutants: slice of {options.day}, one of {options.slices}")

    reasons = _beyond()
    rules_of: dict[str, tuple[str, ...]] = {}
    trials: list[Trial] = []
    faults: list[str] = []
    skipped = 0
    names = options.kernel or [DEFAULT_KERNEL] if mutants else []
    by_cases, by_kunit = (
        [m for m in mutants if who in m.observers and options.observer in (who, None)]
        for who in patch.OBSERVERS
    )
    for name, of in itertools.product(names, sorted({mutant.target for mutant in by_cases})):
        target = suite.find_target(of)
        cases = tuple(suite.cases(target, suite.Selection()))
        rules_of |= {case.id: case.rules for case in cases}
        bench = Bench(kernel.find(name), target, cases)
        own = [mutant for mutant in by_cases if mutant.target == of]
        chosen = [trial.checked(mutant, cases) for mutant in own if mutant.wants(name)]
        skipped += len(own) - len(chosen)
        done, found = judge(bench, chosen, options.all, not options.own) if chosen else ([], [])
        trials += done
        faults += found
    for name in names:
        chosen = [mutant for mutant in by_kunit if mutant.wants(name)]
        skipped += len(by_kunit) - len(chosen)
        done, found = kunit.judge(name, chosen, DRIVER, OUT, say) if chosen else ([], [])
        trials += done
        faults += found
    report.write(trials, errors, faults, skipped, OUT / "results.json")
    matrix.write(trials, rules_of, reasons, OUT / "matrix.md")
    print(report.summary(trials, errors, faults))
    return report.status(trials, errors, faults)


def _beyond() -> dict[str, str]:
    """Rule → why no mutant can show it."""
    catalogue = read_catalogue((ROOT / "conformance" / "rules").glob("*.toml"))
    wanted = [rule.id for rule in catalogue if rule.status == "active" and "case" in rule.layer]
    return beyond.read(DRIVER / "mutants" / beyond.NAME, wanted)[0]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


_positive.__name__ = "number above 0"  # argparse says: invalid ... value


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=DRIVER / "mutants", help="of patches")
    parser.add_argument("--kernel", action="append", help=f"may be repeated ({DEFAULT_KERNEL})")
    parser.add_argument("--id", action="append", help="only this mutant; may be repeated")
    parser.add_argument("--observer", choices=patch.OBSERVERS, help="only what this one is to kill")
    parser.add_argument("--slices", type=_positive, help="try one of so many shares, that of --day")
    parser.add_argument(
        "--day",
        type=datetime.date.fromisoformat,
        default=datetime.datetime.now(datetime.timezone.utc).date(),
        help="YYYY-MM-DD; default today",
    )
    parser.add_argument("--own", action="store_true", help="only cases of the rules it names")
    parser.add_argument("--all", action="store_true", help="do not stop at the first kill")
    options = parser.parse_args(argv)
    (OUT / "results.json").unlink(missing_ok=True)
    try:
        return run(options)
    except PmuvmError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"mutants: {error}", file=sys.stderr)
    except (CatalogueError, beyond.BeyondError) as error:
        print(f"mutants: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("mutants: interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
