# SPDX-License-Identifier: Apache-2.0
"""Repeats the suite in random order, on several types of virtual machines and on a busy host."""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pmubase.errors import UserError
from vm import arch, runs, suite
from vm.machine_options import MachineOptions

ROOT = Path(__file__).resolve().parent.parent

OUT = ROOT / "build" / "soak"
FINE = ("PASS", "SKIP", "WAIVED")
LOAD = 2
"""Number of processes that keep the host busy during each run."""


@dataclass(frozen=True)
class Kind:
    """A type of virtual machine."""

    name: str
    cpus: int
    icount: int | None = None


KINDS = (Kind("2cpu", 2), Kind("1cpu", 1), Kind("4cpu", 4), Kind("icount", 1, icount=3))


@dataclass
class Seen:
    """All results of each case on each type of machine, with the seed of the first run that had the result."""

    seeds: dict[tuple[str, str], dict[str, int]] = field(default_factory=dict)
    rounds: int = 0

    def add(self, kind: str, seed: int, results: dict[str, str]) -> None:
        """Adds the results of one round."""
        self.rounds += 1
        for case, result in results.items():
            self.seeds.setdefault((kind, case), {}).setdefault(result, seed)

    def changed(self) -> list[str]:
        """A line for each case with more than one result on one type of machine."""
        return [
            f"{case} on {kind}: " + ", ".join(f"{r} with seed {s}" for r, s in found.items())
            for (kind, case), found in sorted(self.seeds.items())
            if len(found) > 1
        ]

    def bad(self) -> list[str]:
        """A line for each case that always had the same bad result."""
        return [
            f"{case} on {kind}: always {next(iter(found))}"
            for (kind, case), found in sorted(self.seeds.items())
            if len(found) == 1 and next(iter(found)) not in FINE
        ]

    def figures(self) -> dict[str, object]:
        """The results for programs. A case counts once for each type of machine."""
        changed, bad = self.changed(), self.bad()
        totals = {
            "cases": len(self.seeds),
            "passed": len(self.seeds) - len(changed) - len(bad),
            "failed": len(changed) + len(bad),
            "skipped": 0,
        }
        return {"rounds": self.rounds, "totals": totals, "changed": changed, "bad": bad}


def _spin() -> None:
    while True:
        pass


@contextlib.contextmanager
def busy_host(processes: int) -> Iterator[None]:
    """Keeps the host busy inside the block."""
    load = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(processes)]
    for process in load:
        process.start()
    try:
        yield
    finally:
        for process in load:
            process.kill()
            process.join()


def run_suite(options: argparse.Namespace, kind: Kind, seed: int) -> dict[str, str]:
    """Runs the suite once and returns the result of each case. UserError if the run has no results."""
    out = OUT / f"{seed}-{kind.name}"
    request = runs.Request(
        target=options.target,
        kernel=options.kernel,
        arch=arch.AMD64.name,
        selection=suite.Selection(options.case, "", ""),
        out=out,
        shuffle=seed,
        boot=True,
        machine=MachineOptions(cpus=kind.cpus, icount=kind.icount),
    )
    runs.run_target(request)
    try:
        found = json.loads((out / "results.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"round {seed} on {kind.name} has no results: {error}") from error
    return {case["id"]: case["result"] for case in found["cases"]}


def kind_of(seed: int, kinds: Sequence[Kind]) -> Kind:
    """The machine of a round. It depends on the seed, so that single rounds also use all types."""
    return kinds[(seed - 1) % len(kinds)]


def soak(options: argparse.Namespace, kinds: Sequence[Kind]) -> int:
    """Runs the rounds. Returns 0 if no result changed and none was bad."""
    seen = Seen()
    OUT.mkdir(parents=True, exist_ok=True)
    for number in range(options.n):
        seed = options.seed + number
        kind = kind_of(seed, kinds)
        print(f"round {number + 1} of {options.n}: {kind.name}, seed {seed}", flush=True)
        with busy_host(options.load):
            seen.add(kind.name, seed, run_suite(options, kind, seed))
        # The results are written after each round, so that an interrupted soak has results.
        text = json.dumps(seen.figures(), indent=1) + "\n"
        (OUT / "results.json").write_text(text, encoding="utf-8")
    for line in (*seen.changed(), *seen.bad()):
        print(line)
    print(
        f"{seen.rounds} rounds: {len(seen.changed())} changed results, {len(seen.bad())} bad ones"
    )
    return 1 if seen.changed() or seen.bad() else 0


def positive_number(text: str) -> int:
    """A number above 0, from an argument."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.soak", description=__doc__)
    parser.add_argument("-n", type=positive_number, default=8, help="rounds (8)")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the first round; each later round adds one (1)"
    )
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument("--target", default="refpmu")
    parser.add_argument("--case", default="", help="run only cases that match this glob")
    parser.add_argument("--load", type=int, default=LOAD, help=f"busy processes ({LOAD})")
    names = [kind.name for kind in KINDS]
    parser.add_argument(
        "--kind", action="append", choices=names, help="run only on this kernel; may be repeated"
    )
    options = parser.parse_args(argv)
    kinds = [kind for kind in KINDS if kind.name in (options.kind or names)]
    (OUT / "results.json").unlink(missing_ok=True)
    try:
        return soak(options, kinds)
    except UserError as error:
        print(f"soak: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("soak: interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
