#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Which mutants of what an event may ask for does `oracle` tell from the driver, and how soon?"""

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
OUT = ROOT / "build" / "oracle"
CLASSES = ("C14", "C15", "C16", "C17")
"""Failure classes of types, configs, what is refused, and refusals that leave something."""
PARAMETERS = {
    "refpmu": (),
    "refpmu_plain": ("lbr=0", "records=0"),
    "refpmu_coarse": ("lbr=0", "records=0", "min_period=16"),
}
"""Targets that `oracle` has a list of checks for, with what their module is loaded with."""
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
    )


def table(trials: Sequence[Trial]) -> str:
    """One line a mutant."""
    rows = [f"{'mutant':46}{'calls':>8}{'s':>7}  model says  kernel says  reason"]
    for t in trials:
        said = f"{t.model:10}  {t.kernel:11}  {t.reason}" if t.told else "not told"
        rows.append(f"{t.id:46}{t.calls:>8}{t.seconds:>7.1f}  {said}")
    told = sum(t.told for t in trials)
    return "\n".join([*rows, f"{told} of {len(trials)} are told"])


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


def status(clean: Sequence[Trial], trials: Sequence[Trial], some: bool) -> int:
    """1 if the driver itself is told, or too few mutants are; of `some` mutants, if any is not."""
    enough = len(trials) if some else ENOUGH
    return int(any(t.told for t in clean) or sum(t.told for t in trials) < enough)


def run(name: str, mutants: Sequence[Mutant], seconds: int, calls: int) -> tuple[list[Trial], ...]:
    """Trials of the driver and of the mutants, in one guest."""
    found = kernel.find(name)
    files = {"bin/oracle": suite.tool("oracle/oracle")}
    for target in PARAMETERS:
        folders = (suite.TARGETS, DRIVER / "mutants")
        files[f"targets/{target}.toml"] = next(
            path for folder in folders if (path := folder / f"{target}.toml").is_file()
        )
    for mutant in mutants:
        product = OUT / found.release / f"{mutant.path.stem}.ko"
        built = workshop.build(mutant, found, DRIVER, OUT / f"workshop-{found.release}", product)
        files[f"modules/{built.name}"] = built
    machine = runs.machine(found, suite.find_target("refpmu"), files=files)
    clean, trials = [], []
    with guest.Guest(machine) as vm:
        vm.boot()

        def ask(module: str, target: str, limit: Sequence[str]) -> Trial:
            vm.load(f"{module}.ko", PARAMETERS[target])
            argv = ["oracle", "--target", f"/targets/{target}.toml", "--stop", *limit]
            done = vm.exec(argv, seconds + MARGIN_S)
            print(table([trial(module, done)]).splitlines()[1], flush=True)
            vm.unload("refpmu")
            return trial(module, done)

        for target in PARAMETERS:
            clean.append(ask("refpmu", target, ["--count", str(calls)]))
        for mutant in mutants:
            limit = ["--seconds", str(seconds), "--count", str(CALLS)]
            trials.append(ask(mutant.path.stem, Path(mutant.target).stem, limit))
        # A mutant may have left what makes the end of the guest a bad one.
        with contextlib.suppress(guest.GuestLost):
            vm.bye()
    return clean, trials


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", default="6.12", help="a name (6.12)")
    parser.add_argument("--seconds", type=int, default=60, help="for each mutant (60)")
    parser.add_argument("--calls", type=int, default=5_000, help="to the driver itself (5000)")
    parser.add_argument("--id", action="append", default=[], help="this mutant alone; repeatedly")
    options = parser.parse_args(argv)
    mutants = chosen(options.kernel, options.id)
    if not mutants:
        print("oracle: no such mutant", file=sys.stderr)
        return 2
    try:
        clean, trials = run(options.kernel, mutants, options.seconds, options.calls)
    except (PmuvmError, patch.PatchError) as error:
        print(f"oracle: {error}", file=sys.stderr)
        return 2
    print(table(trials))
    totals = {
        "cases": len(clean) + len(trials),
        "passed": sum(not t.told for t in clean) + sum(t.told for t in trials),
        "failed": sum(t.told for t in clean) + sum(not t.told for t in trials),
        "skipped": 0,
    }
    results = {"totals": totals, "kernel": options.kernel}
    results |= {"clean": [asdict(t) for t in clean], "mutants": [asdict(t) for t in trials]}
    store.write(OUT / "results.json", (json.dumps(results, indent=2) + "\n").encode())
    return status(clean, trials, bool(options.id))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
