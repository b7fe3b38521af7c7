# SPDX-License-Identifier: Apache-2.0
"""Compares a kernel and the reference driver with the executable specification, by random programs in a guest."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.faults import modules
from pmubase import store
from pmubase.errors import UserError
from vm import guest, kernel, runs, suite

TARGETS = ("refpmu", "refpmu_uncore", "software", "tracepoint")
MARGIN_S = 120
"""For the minimiser, and a program that hangs."""
RECORDING = "/tmp/recording"
"""A file of the guest."""
SHORT = (("operations", "operations"), ("seconds", "s"), ("operations_per_s", "ops/s"))


def files(places: dict[str, Path] | None = None) -> dict[str, Path]:
    """The files of the guest in addition to the suite."""
    return {f"targets/{name}.toml": suite.TARGETS / f"{name}.toml" for name in TARGETS} | (
        places or {}
    )


def boot(name: str, places: dict[str, Path] | None = None) -> guest.Guest:
    """A guest of one CPU, which the caller boots."""
    host = suite.find_target("refpmu").on(cpus=1)
    return guest.Guest(runs.machine(kernel.find(name), host, files=files(places)))


def specify(vm: guest.Guest, target: str, words: Sequence[str], seconds: float) -> guest.Done:
    """Runs `pmuconf specify` for that time."""
    argv = ["pmuconf", "specify", "--target", f"/targets/{target}.toml", *words]
    return vm.exec(argv, int(seconds) + MARGIN_S)


def facts(done: guest.Done) -> dict[str, Any]:
    """The result of a run. UserError if there is none."""
    if done.status not in (0, 1):
        raise UserError(f"specify: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def row(name: str, run: dict[str, Any]) -> str:
    """One line of the table."""
    found = len(run["found"]) + len(run["reports"])
    numbers = "  ".join(f"{run[key]:>9.0f} {unit}" for key, unit in SHORT)
    known = sum(run["known_deviations"].values())
    return f"{name:16}{numbers}  {known:>5} known  {found} found"


def run(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Runs programs on each target, in one guest."""
    places = {}
    if options.fault:
        module = modules.faulty_module(options.fault, kernel.find(options.kernel))
        places["modules/broken.ko"] = module
    results: dict[str, dict[str, Any]] = {}
    words = ["--seconds", str(options.seconds), "--seed", str(options.seed)]
    words += ["--from", str(options.first)]
    words += [] if options.stop else ["--keep-going"]
    words += ["--record", RECORDING] if options.record else []
    with boot(options.kernel, places) as vm:
        vm.boot()
        vm.load("broken.ko" if options.fault else "refpmu.ko")
        for target in options.target or TARGETS:
            done = specify(vm, target, words, options.seconds)
            results[target] = facts(done)
            print(done.stderr, end="")
            print(row(target, results[target]), flush=True)
            if options.record:
                store.write(options.record / f"{target}.jsonl", vm.get(RECORDING, MARGIN_S))
        vm.bye()
    return results


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.specify", description=__doc__)
    parser.add_argument("--kernel", default="6.12", help="a name (6.12)")
    parser.add_argument("--target", action="append", choices=TARGETS, help="default: all")
    parser.add_argument("--seconds", type=float, default=60, help="for each target (60)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--from", type=int, default=0, dest="first", help="number of the first program: for shards"
    )
    parser.add_argument("--fault", help="a fault of the driver, by its id")
    parser.add_argument(
        "--record", type=Path, help="folder for the recordings, which `pmuconf compare` reads"
    )
    parser.add_argument("--stop", action="store_true", help="stop at the first disagreement")
    options = parser.parse_args(argv)
    try:
        results = run(options)
    except (UserError, guest.GuestLost) as error:
        print(f"specify: {error}", file=sys.stderr)
        return 2
    out = store.ROOT / "build" / f"specify-{options.kernel}"
    store.write(out / "results.json", (json.dumps(results, indent=2) + "\n").encode())
    return int(any(result["found"] or result["reports"] for result in results.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
