# SPDX-License-Identifier: Apache-2.0
"""Traces one unit whose inputs are stated, and reports the project files that it reads but does not state.

A change to such a file would not run the unit again. LeakSanitizer is off, since it does not work under a tracer.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from ci.units import catalogue, traces
from ci.units.inputs import Inputs
from ci.units.readers import reads
from ci.units.unit import OUT, Unit
from vm.guest import CASES_LOG

ROOT = Path(__file__).resolve().parent.parent

KINDS = ("file", "product", "cache")
"""Kinds of traced inputs that must be stated. Folders and failed look-ups follow from the files."""
OF_GIT = ("file:.gitignore",)
"""Read by git to list the project's files."""


def stated_units(units: Sequence[Unit]) -> list[Unit]:
    """The units that run without a tracer, but can be traced, and state their inputs."""
    return [unit for unit in units if not unit.build and not unit.traced and unit.traceable]


def unstated(stated: Iterable[str], found: Iterable[str]) -> list[str]:
    """The inputs in `found` that no input in `stated` includes."""
    names = set(stated)
    suite = any(name.startswith("suite:") for name in names)
    missing = []
    for name in sorted(found):
        kind, _, rest = name.partition(":")
        if kind not in KINDS or name in names or name in OF_GIT:
            continue
        if kind == "file" and any(reads(each, rest) for each in names):
            continue
        if "/generated/" in rest and "glob:conformance/rules/*" in names:
            continue  # made of the rules and the BPF programs
        if kind == "product" and suite and rest.startswith("build/guest/"):
            continue  # `suite:` includes these files
        missing.append(name)
    return missing


def traced(unit: Unit, folder: Path) -> set[str]:
    """Runs the commands of a unit with their reports below `folder`, and returns the inputs that they read."""
    found: set[str] = set()
    environment = {
        **os.environ,
        CASES_LOG: str(folder / "cases"),
        "ASAN_OPTIONS": "detect_leaks=0",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for number, command in enumerate(unit.commands):
        words = [word.replace(str(OUT), str(folder)) for word in command]
        if number == len(unit.commands) - 1:
            words += unit.fresh
        log = folder / f"trace{number}"
        done = subprocess.run(
            traces.argv(words, log),
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            timeout=unit.budget_s,
            check=False,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: status {done.returncode}")
        found |= traces.inputs(log, ROOT)
    return found


def main(argv: Sequence[str]) -> int:
    """Returns 0 if the unit states all that it reads, 1 if not, 2 if it could not be traced."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.stated", description=__doc__)
    parser.add_argument("unit", help="a unit of make check with stated inputs")
    options = parser.parse_args(argv)
    units = {unit.name: unit for unit in stated_units(catalogue.check_units(Inputs(ROOT)))}
    if options.unit not in units:
        print(f"stated: no unit '{options.unit}' with stated inputs", file=sys.stderr)
        return 2
    if not traces.can_trace():
        print("stated: strace(1) is missing, or not allowed here", file=sys.stderr)
        return 2
    unit = units[options.unit]
    (OUT / "stated").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=OUT / "stated") as folder:
        try:
            missing = unstated(unit.stated(), traced(unit, Path(folder)))
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(f"stated: {error}", file=sys.stderr)
            return 2
    for name in missing:
        print(f"{unit.name} reads {name} and does not state it")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
