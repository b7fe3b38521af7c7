# SPDX-License-Identifier: Apache-2.0
"""Compares the errnos of perf_event_open on a kernel with the errno model. Also counts the mutants that this detects."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ci.mutation import workshop
from faults import mutant_file
from faults.mutant_file import Mutant
from pmubase import store
from pmubase.errors import UserError
from vm import guest, kernel, runs, suite

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "driver"
BUILD = ROOT / "build"
CLASSES = ("C14", "C15", "C16", "C17")
"""Failure classes of event types, configs, missing refusals, and refusals with side effects."""
PARAMETERS = {
    "refpmu": (),
    "refpmu_plain": ("lbr=0", "records=0"),
    "refpmu_coarse": ("lbr=0", "records=0", "min_period=16"),
}
"""The targets of refpmu that `oracle` can check, with the parameters of their module."""
TARGETS = (*PARAMETERS, "software", "tracepoint")
KINDS = ("mutated", "random")
"""Types of calls: mutations of an event that opens, and calls with random fields."""
REFPMU_WEIGHT = 10
"""Other targets than refpmu get one call for so many of refpmu's, since most of their checks are the same."""
MIN_PACE = 50
"""Calls per second; far fewer than a busy machine makes."""
CALLS = 10_000_000
MIN_DETECTED = 10
MARGIN_S = 60


@dataclass(frozen=True)
class Trial:
    """The result of `oracle` for one driver: the reason, if the kernel and the model disagree."""

    id: str
    status: int
    calls: int
    seconds: float
    reason: str
    model: str
    kernel: str
    log: str = ""
    """The calls with different answers, each with its repro command."""

    @property
    def disagrees(self) -> bool:
        return self.status == 1


def trial(name: str, done: guest.Done) -> Trial:
    """Reads the output of `oracle`. UserError if the tool could not judge."""
    if done.status not in (0, 1):
        raise UserError(f"{name}: oracle: {done.stderr.strip()}")
    facts = json.loads(done.stdout)
    first = facts["shown"][0] if facts["shown"] else {"reason": "", "model": "", "kernel": ""}
    return Trial(
        name,
        done.status,
        facts["calls"],
        round(facts["seconds"], 1),
        first["reason"],
        first["model"],
        first["kernel"],
        done.stderr.strip(),
    )


def row(t: Trial) -> str:
    """One line of the table."""
    disagreement = f"{t.model:10}  {t.kernel:11}  {t.reason}" if t.disagrees else "agree"
    return f"{t.id:46}{t.calls:>8}{t.seconds:>8.1f}  {disagreement}"


def table(clean: Sequence[Trial], mutants: Sequence[Trial]) -> str:
    """One line for each target and type of call, and for each mutant; then the totals."""
    rows = [f"{'':46}{'calls':>8}{'s':>8}  {'model':10}  {'kernel':11}  reason"]
    rows += [row(t) for t in (*clean, *mutants)]
    if clean:
        agreed = sum(not t.disagrees for t in clean)
        calls = sum(t.calls for t in clean)
        rows.append(f"{calls} calls: {agreed} of {len(clean)} types of calls agree with the model")
    if mutants:
        rows.append(f"{sum(t.disagrees for t in mutants)} of {len(mutants)} mutants are detected")
    return "\n".join(rows)


def select_mutants(name: str, ids: Sequence[str]) -> list[Mutant]:
    """The mutants of these classes and targets for this kernel; with `ids` only those of them."""
    found = []
    for path in sorted((DRIVER / "mutants").rglob("*.patch"), key=lambda path: path.name):
        mutant = mutant_file.read(path)
        target = Path(mutant.target).stem
        fits = mutant.failure_class in CLASSES and target in PARAMETERS and mutant.wants(name)
        fits = fits and mutant.needs_guest
        if fits and (not ids or mutant.id in ids):
            found.append(mutant)
    return found


def status(clean: Sequence[Trial], mutants: Sequence[Trial], enough: int) -> int:
    """Returns 1 if the driver itself disagrees with the model, or if fewer mutants than `enough` are detected."""
    return int(any(t.disagrees for t in clean) or sum(t.disagrees for t in mutants) < enough)


@dataclass(frozen=True)
class Request:
    """The options of one run."""

    kernel: str
    mutants: tuple[Mutant, ...]
    calls: int
    """Number of calls of each type to the unmutated refpmu."""
    seconds: int
    """Time limit for each mutant."""
    first: int = 0
    """The number of the first call."""

    @property
    def out(self) -> Path:
        return BUILD / f"oracle-{self.kernel}"

    def calls_to(self, target: str) -> int:
        return self.calls if target == "refpmu" else max(1, self.calls // REFPMU_WEIGHT)


class OracleGuest:
    """A guest with the tool `oracle`, the targets, and the modules of the mutants."""

    def __init__(self, vm: guest.Guest, request: Request) -> None:
        self._vm = vm
        self._request = request

    def clean(self, target: str) -> list[Trial]:
        """Runs calls of each type to the driver itself, or to the kernel's own events."""
        calls = self._request.calls_to(target)
        self._vm.load("refpmu.ko", PARAMETERS.get(target, ()))
        deadline_s = MARGIN_S + calls // MIN_PACE
        trials = [
            self._run_oracle(
                f"{target}, {kind}",
                target,
                deadline_s,
                "--kind",
                kind,
                "--count",
                str(calls),
                "--from",
                str(self._request.first),
            )
            for kind in KINDS
        ]
        self._vm.unload("refpmu")
        return trials

    def mutant(self, mutant: Mutant) -> Trial:
        """Runs calls to a mutant until it is detected or the time is over."""
        target = Path(mutant.target).stem
        seconds = self._request.seconds
        self._vm.load(f"{mutant.path.stem}.ko", PARAMETERS[target])
        limit = ("--stop", "--seconds", str(seconds), "--count", str(CALLS))
        disagrees = self._run_oracle(mutant.path.stem, target, seconds + MARGIN_S, *limit)
        self._vm.unload("refpmu")
        return disagrees

    def _run_oracle(self, name: str, target: str, deadline_s: int, *words: str) -> Trial:
        argv = ["oracle", "--target", f"/targets/{target}.toml", *words]
        found = trial(name, self._vm.exec(argv, deadline_s))
        print(row(found), file=sys.stderr, flush=True)
        return found


def files(request: Request, found: kernel.Kernel) -> dict[str, Path]:
    """The files of the guest in addition to the suite. Builds the mutants."""
    folders = (suite.TARGETS, DRIVER / "mutants")
    given = {"bin/oracle": suite.tool("oracle/oracle")}
    for target in TARGETS:
        given[f"targets/{target}.toml"] = next(
            path for folder in folders if (path := folder / f"{target}.toml").is_file()
        )
    for mutant in request.mutants:
        product = request.out / f"{mutant.path.stem}.ko"
        built = workshop.build(mutant, found, DRIVER, request.out / "workshop", product)
        given[f"modules/{built.name}"] = built
    return given


def trial_of_dead_guest(mutant: Mutant, lost: guest.GuestLost) -> Trial:
    """A mutant that kills the kernel counts as detected."""
    return Trial(mutant.path.stem, 1, 0, 0.0, lost.cause, "", "dies", lost.tail)


def run_mutants(oracle_guest: OracleGuest, pending: list[Mutant]) -> list[Trial]:
    """Runs the pending mutants and removes them from `pending`, until the guest dies."""
    trials = []
    while pending:
        mutant = pending.pop(0)
        try:
            trials.append(oracle_guest.mutant(mutant))
        except guest.GuestLost as lost:
            trials.append(trial_of_dead_guest(mutant, lost))
            print(row(trials[-1]), file=sys.stderr, flush=True)
            break
    return trials


def run(request: Request) -> tuple[list[Trial], list[Trial]]:
    """The trials of the unmutated drivers and of the mutants. A mutant that kills its guest costs a boot."""
    found = kernel.find(request.kernel)
    machine = runs.machine(found, suite.find_target("refpmu"), files=files(request, found))
    asked: list[str] = list(TARGETS) if request.calls else []
    pending = list(request.mutants)
    clean: list[Trial] = []
    mutants: list[Trial] = []
    while asked or pending:
        with guest.Guest(machine) as vm:
            vm.boot()
            oracle_guest = OracleGuest(vm, request)
            while asked:
                clean += oracle_guest.clean(asked.pop(0))
            mutants += run_mutants(oracle_guest, pending)
            # The mutant may have damaged the kernel, so an unclean power-off is ignored.
            with contextlib.suppress(guest.GuestLost):
                vm.bye()
    return clean, mutants


def totals(clean: Sequence[Trial], mutants: Sequence[Trial], enough: int) -> dict[str, int]:
    """An undetected mutant is a failure only if fewer than `enough` are detected: some mutants do not change an errno."""
    disagrees = sum(t.disagrees for t in mutants)
    untold = len(mutants) - disagrees
    return {
        "cases": len(clean) + len(mutants),
        "passed": sum(not t.disagrees for t in clean) + disagrees,
        "failed": sum(t.disagrees for t in clean) + (untold if disagrees < enough else 0),
        "skipped": 0 if disagrees < enough else untold,
    }


def report(request: Request, clean: Sequence[Trial], mutants: Sequence[Trial], enough: int) -> None:
    """Writes the results for programs."""
    results = {
        "totals": totals(clean, mutants, enough),
        "kernel": request.kernel,
        "clean": [asdict(t) for t in clean],
        "mutants": [asdict(t) for t in mutants],
    }
    text = json.dumps(results, indent=2) + "\n"
    store.write(request.out / "results.json", text.encode())


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.oracle", description=__doc__)
    parser.add_argument("--kernel", default="6.12", help="a name (6.12)")
    parser.add_argument("--seconds", type=int, default=60, help="time limit for each mutant (60)")
    parser.add_argument(
        "--calls",
        type=int,
        default=5_000,
        help="calls of each type to the driver itself (5000); 0: none",
    )
    parser.add_argument(
        "--from", type=int, default=0, dest="first", help="number of the first call (0): for shards"
    )
    parser.add_argument(
        "--id", action="append", default=[], help="run only this mutant; may be repeated"
    )
    parser.add_argument("--no-mutants", action="store_true", help="run only the unmutated drivers")
    options = parser.parse_args(argv)
    if options.seconds < 1 or options.calls < 0 or (options.no_mutants and not options.calls):
        print(
            "oracle: --seconds must be at least 1, and with --no-mutants --calls too",
            file=sys.stderr,
        )
        return 2
    mutants = [] if options.no_mutants else select_mutants(options.kernel, options.id)
    if not mutants and not options.no_mutants:
        print("oracle: no such mutant", file=sys.stderr)
        return 2
    enough = len(mutants) if options.id or options.no_mutants else MIN_DETECTED
    request = Request(
        options.kernel, tuple(mutants), options.calls, options.seconds, first=options.first
    )
    try:
        clean, trials = run(request)
    except (UserError, guest.GuestLost, mutant_file.PatchError) as error:
        print(f"oracle: {error}", file=sys.stderr)
        return 2
    print(table(clean, trials))
    for t in clean:
        if t.disagrees:
            print(f"{t.id}:\n{t.log}")
    report(request, clean, trials, enough)
    return status(clean, trials, enough)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
