#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does a kernel answer perf_event_open as the errno model says? And which mutants of what an event may
ask for does the model tell from the driver, and how soon?"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "vm"))

from pmuvm import guest, kernel, runs, store, suite  # noqa: E402
from pmuvm.errors import PmuvmError  # noqa: E402

from mutation import patch, workshop  # noqa: E402
from mutation.patch import Mutant  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
DRIVER = ROOT / "driver"
BUILD = ROOT / "build"
CLASSES = ("C14", "C15", "C16", "C17")
"""Failure classes of types, configs, what is refused, and refusals that leave something."""
PARAMETERS = {
    "refpmu": (),
    "refpmu_plain": ("lbr=0", "records=0"),
    "refpmu_coarse": ("lbr=0", "records=0", "min_period=16"),
}
"""Targets of refpmu that `oracle` has a list of checks for, with what their module is loaded with."""
TARGETS = (*PARAMETERS, "software", "tracepoint")
KINDS = ("mutated", "random")
"""Of calls: an event that opens, with a few things changed; and any fields."""
SHARE = 10
"""Targets beside refpmu are asked one in so many of its calls: few of their checks are their own."""
LEAST_PACE = 50
"""Calls a second, far less than on a busy machine."""
CALLS = 10_000_000
ENOUGH = 10
MARGIN_S = 60


@dataclass(frozen=True)
class Trial:
    """What `oracle` said of one driver: a reason, where it disagreed with the kernel."""

    id: str
    status: int
    calls: int
    seconds: float
    reason: str
    model: str
    kernel: str
    log: str = ""
    """The calls that were answered otherwise, each with what repeats it."""

    @property
    def told(self) -> bool:
        return self.status == 1


def trial(name: str, done: guest.Done) -> Trial:
    """PmuvmError if `oracle` could not judge."""
    if done.status not in (0, 1):
        raise PmuvmError(f"{name}: oracle: {done.stderr.strip()}")
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
    said = f"{t.model:10}  {t.kernel:11}  {t.reason}" if t.told else "agree"
    return f"{t.id:46}{t.calls:>8}{t.seconds:>8.1f}  {said}"


def table(clean: Sequence[Trial], mutants: Sequence[Trial]) -> str:
    """One line a target and kind of calls, and a mutant; and what that comes to."""
    rows = [f"{'':46}{'calls':>8}{'s':>8}  model says  kernel says  reason"]
    rows += [row(t) for t in (*clean, *mutants)]
    if clean:
        agreed = sum(not t.told for t in clean)
        calls = sum(t.calls for t in clean)
        rows.append(f"{calls} calls: {agreed} of {len(clean)} kinds are answered as the model says")
    if mutants:
        rows.append(f"{sum(t.told for t in mutants)} of {len(mutants)} mutants are told")
    return "\n".join(rows)


def chosen(name: str, ids: Sequence[str]) -> list[Mutant]:
    """The mutants of those classes, targets and this kernel; or those of `ids` among them."""
    found = []
    for path in sorted((DRIVER / "mutants").glob("*.patch")):
        mutant = patch.read(path)
        target = Path(mutant.target).stem
        fits = mutant.failure_class in CLASSES and target in PARAMETERS and mutant.wants(name)
        if fits and (not ids or mutant.id in ids):
            found.append(mutant)
    return found


def status(clean: Sequence[Trial], mutants: Sequence[Trial], enough: int) -> int:
    """1 if a call to the driver itself is answered otherwise, or fewer mutants than `enough` are told."""
    return int(any(t.told for t in clean) or sum(t.told for t in mutants) < enough)


@dataclass(frozen=True)
class Request:
    """What to ask a kernel."""

    kernel: str
    mutants: tuple[Mutant, ...]
    calls: int
    """Of each kind to refpmu as it is."""
    seconds: int
    """For each mutant."""
    first: int = 0
    """The number of the first call."""

    @property
    def out(self) -> Path:
        return BUILD / f"oracle-{self.kernel}"

    def calls_to(self, target: str) -> int:
        return self.calls if target == "refpmu" else max(1, self.calls // SHARE)


class Asking:
    """A guest that has `oracle`, the targets, and the modules of the mutants."""

    def __init__(self, vm: guest.Guest, request: Request) -> None:
        self._vm = vm
        self._request = request

    def clean(self, target: str) -> list[Trial]:
        """The driver itself, or the kernel's own events beside it: calls of each kind."""
        calls = self._request.calls_to(target)
        self._vm.load("refpmu.ko", PARAMETERS.get(target, ()))
        deadline_s = MARGIN_S + calls // LEAST_PACE
        trials = [
            self._ask(
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
        """Until it is told, or the time is over."""
        target = Path(mutant.target).stem
        seconds = self._request.seconds
        self._vm.load(f"{mutant.path.stem}.ko", PARAMETERS[target])
        limit = ("--stop", "--seconds", str(seconds), "--count", str(CALLS))
        told = self._ask(mutant.path.stem, target, seconds + MARGIN_S, *limit)
        self._vm.unload("refpmu")
        return told

    def _ask(self, name: str, target: str, deadline_s: int, *words: str) -> Trial:
        argv = ["oracle", "--target", f"/targets/{target}.toml", *words]
        found = trial(name, self._vm.exec(argv, deadline_s))
        print(row(found), file=sys.stderr, flush=True)
        return found


def files(request: Request, found: kernel.Kernel) -> dict[str, Path]:
    """What the guest has beside the suite; the mutants are built."""
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


def dead(mutant: Mutant, lost: guest.GuestLost) -> Trial:
    """A driver that takes the kernel with it is told, too."""
    return Trial(mutant.path.stem, 1, 0, 0.0, lost.cause, "", "dies", lost.tail)


def ask_mutants(asking: Asking, pending: list[Mutant]) -> list[Trial]:
    """Takes off what it asked, up to one after which there is no guest any more."""
    trials = []
    while pending:
        mutant = pending.pop(0)
        try:
            trials.append(asking.mutant(mutant))
        except guest.GuestLost as lost:
            trials.append(dead(mutant, lost))
            print(row(trials[-1]), file=sys.stderr, flush=True)
            break
    return trials


def run(request: Request) -> tuple[list[Trial], list[Trial]]:
    """Trials of drivers as they are and of the mutants, in one guest or as many as the mutants end."""
    found = kernel.find(request.kernel)
    machine = runs.machine(found, suite.find_target("refpmu"), files=files(request, found))
    asked: list[str] = list(TARGETS) if request.calls else []
    pending = list(request.mutants)
    clean: list[Trial] = []
    mutants: list[Trial] = []
    while asked or pending:
        with guest.Guest(machine) as vm:
            vm.boot()
            asking = Asking(vm, request)
            while asked:
                clean += asking.clean(asked.pop(0))
            mutants += ask_mutants(asking, pending)
            # A mutant may have left what makes the end of the guest a bad one.
            with contextlib.suppress(guest.GuestLost):
                vm.bye()
    return clean, mutants


def totals(clean: Sequence[Trial], mutants: Sequence[Trial], enough: int) -> dict[str, int]:
    """Mutants that are not told are no failure where `enough` are: some do not show in an errno."""
    told = sum(t.told for t in mutants)
    untold = len(mutants) - told
    return {
        "cases": len(clean) + len(mutants),
        "passed": sum(not t.told for t in clean) + told,
        "failed": sum(t.told for t in clean) + (untold if told < enough else 0),
        "skipped": 0 if told < enough else untold,
    }


def report(request: Request, clean: Sequence[Trial], mutants: Sequence[Trial], enough: int) -> None:
    """Writes what was found for machines."""
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", default="6.12", help="a name (6.12)")
    parser.add_argument("--seconds", type=int, default=60, help="for each mutant (60)")
    parser.add_argument(
        "--calls", type=int, default=5_000, help="of each kind to the driver itself (5000); 0: none"
    )
    parser.add_argument(
        "--from", type=int, default=0, dest="first", help="number of the first call (0): for shards"
    )
    parser.add_argument("--id", action="append", default=[], help="this mutant alone; repeatedly")
    parser.add_argument("--no-mutants", action="store_true", help="only what is as it is")
    options = parser.parse_args(argv)
    if options.seconds < 1 or options.calls < 0 or (options.no_mutants and not options.calls):
        print(
            "oracle: --seconds must be at least 1, and --calls too without mutants", file=sys.stderr
        )
        return 2
    mutants = [] if options.no_mutants else chosen(options.kernel, options.id)
    if not mutants and not options.no_mutants:
        print("oracle: no such mutant", file=sys.stderr)
        return 2
    enough = len(mutants) if options.id or options.no_mutants else ENOUGH
    request = Request(
        options.kernel, tuple(mutants), options.calls, options.seconds, first=options.first
    )
    try:
        clean, trials = run(request)
    except (PmuvmError, guest.GuestLost, patch.PatchError) as error:
        print(f"oracle: {error}", file=sys.stderr)
        return 2
    print(table(clean, trials))
    for t in clean:
        if t.told:
            print(f"{t.id}:\n{t.log}")
    report(request, clean, trials, enough)
    return status(clean, trials, enough)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
