# SPDX-License-Identifier: Apache-2.0
"""Measures what `make check` catches: seeds random faults in driver, suite and scripts, one at a time.

Each fault is one mutation of one committed source. It is checked out into a separate tree, where `make check` runs
until the first failure, without lint. A fault that does not build is replaced by another one. The faults depend only on
`--seed` and the commit. build/plant/results.json has the results. The same command continues an interrupted run.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ci.mutation import mutate
from vm import store

ROOT = Path(__file__).resolve().parent.parent

PYTHON = "/usr/bin/python3"
OUT = ROOT / "build" / "plant"
TREE = OUT / "tree"
RESULTS = "results.json"
STAGES = "unit,fuzz,pytest,run,kunit,mutants"
"""All groups of `make check` except lint, which would catch a fault only by its format."""
BY_TEXT = ("pytest/ci/tests/mutants_test.py", "pytest/fuzz/tests/seeded_faults_test.py")
"""These tests compare the text of sources with patches, so that they would catch a fault by its mere text."""
LIMIT_S, GRACE_S = 2400, 60
AREAS: dict[str, tuple[str, ...]] = {
    "driver": (
        *(
            "driver/module.[ch]",
            "driver/core/*.[ch]",
            "driver/model/*.[ch]",
            "driver/core_pmu/*.[ch]",
        ),
        *(
            "driver/uncore/*.[ch]",
            "driver/trace/*.[ch]",
            "driver/port/*.[ch]",
            "driver/compat/*.[ch]",
        ),
        "driver/msr/*.c",
    ),
    "suite": (
        *("conformance/*.cpp", "conformance/perf/*.h", "conformance/target/*.h"),
        *("conformance/harness/*.h", "oracle/*.cpp", "tools/*.cpp"),
    ),
    "scripts": ("ci/*.py", "vm/*.py", "kunit/pmukunit/*.py", "conformance/rules/*.py", "fuzz/*.py"),
}
TESTS = ("*_test.py", "*/tests/*", "*/selftest/*")


@dataclasses.dataclass(frozen=True)
class Fault:
    """One mutation of one file."""

    number: int
    area: str
    file: str
    mutation: mutate.Mutation
    line: int

    def __str__(self) -> str:
        change = f"{_short(self.mutation.before)} -> {_short(self.mutation.after)}"
        return f"{self.number} {self.file}:{self.line}: {change}"


def files(root: Path) -> dict[str, list[str]]:
    """The files of each area, from git."""
    command = ["git", "ls-files", "-z"]
    out = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    names = [name for name in out.split("\0") if not any(fnmatch.fnmatch(name, t) for t in TESTS)]
    return {
        area: [name for name in names if any(fnmatch.fnmatch(name, p) for p in patterns)]
        for area, patterns in AREAS.items()
    }


def faults(root: Path, seed: int) -> Iterator[Fault]:
    """An endless sequence of faults. The areas take turns; the file and its mutation are random."""
    chance = random.Random(seed)
    known = files(root)
    number = 0
    while True:
        for area, names in known.items():
            name = chance.choice(names)
            text = (root / name).read_text(encoding="utf-8")
            every = mutate.mutations(name, text)
            if every:
                number += 1
                chosen = chance.choice(every)
                yield Fault(number, area, name, chosen, chosen.line(text))


def _short(text: str) -> str:
    return f"'{text if len(text) < 60 else text[:57] + '...'}'"


class Tree:
    """A checkout in which faults are seeded."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def prepare(self) -> str:
        """Checks out HEAD; returns its commit."""
        if not (self._place / ".git").exists():
            self._place.parent.mkdir(parents=True, exist_ok=True)
            _git(ROOT, "worktree", "prune")
            _git(ROOT, "worktree", "add", "--force", "--detach", str(self._place), "HEAD")
        commit = _git(ROOT, "rev-parse", "HEAD")
        _git(self._place, "checkout", "--force", "--detach", commit)
        return commit

    def judge(self, fault: Fault) -> dict[str, Any]:
        """Seeds a fault, runs the checks up to the first failure, and removes the fault."""
        path = self._place / fault.file
        text = path.read_text(encoding="utf-8")
        begun = time.monotonic()
        try:
            path.write_text(fault.mutation.apply(text), encoding="utf-8")
            verdict, by = self.check()
        finally:
            path.write_text(text, encoding="utf-8")
        return {
            "number": fault.number,
            "area": fault.area,
            "fault": str(fault),
            "result": verdict,
            "by": by,
            "took_s": round(time.monotonic() - begun, 1),
        }

    def check(self) -> tuple[str, str]:
        """Returns CAUGHT with the test, MISSED, or INVALID if something does not build."""
        report = self._place / "build" / "check" / RESULTS
        report.unlink(missing_ok=True)
        command = [PYTHON, "-m", "ci.check", "--stop", "--stages", STAGES]
        command += ["--skip", ",".join(BY_TEXT)]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        child = subprocess.Popen(
            command,
            cwd=self._place,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        try:
            output, _ = child.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return "CAUGHT", f"no end within {LIMIT_S} s"
        finally:
            # It ends all programs that it started.
            child.terminate()
            child.communicate(timeout=GRACE_S)
        if not report.is_file():
            # The fault broke ci/check.py itself.
            last = output.strip().splitlines()[-1:]
            return "CAUGHT", f"make check: {' '.join(last)}"[:200]
        units = json.loads(report.read_text(encoding="utf-8"))["units"]
        for unit in units:
            if unit["failed"]:
                name = unit["name"]
                if name.startswith("build/") and not name.startswith("build/kernel"):
                    return "INVALID", name
                return "CAUGHT", f"{name}: {unit['failed'][0]}"
        status = child.returncode
        return ("MISSED", "") if status == 0 else ("CAUGHT", f"status {status}")


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def read(path: Path, commit: str, seed: int) -> list[dict[str, Any]]:
    """The results of an earlier run with the same faults."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if (document["commit"], document["seed"]) == (commit, seed):
            return list(document["faults"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return []


def summary(rows: Sequence[dict[str, Any]]) -> str:
    """One line for each area, and one for all."""
    lines = []
    for area in (*AREAS, "all"):
        own = [row for row in rows if area in (row["area"], "all") and row["result"] != "INVALID"]
        caught = sum(row["result"] == "CAUGHT" for row in own)
        lines.append(f"{area}: {caught} of {len(own)} caught")
    return "\n".join(lines)


def run(options: argparse.Namespace) -> int:
    """Returns 0 if all faults were caught, 1 if one was missed."""
    tree = Tree(TREE)
    commit = tree.prepare()
    rows = read(OUT / RESULTS, commit, options.seed)
    until = time.monotonic() + 60 * options.minutes
    if not rows:
        verdict, by = tree.check()
        if verdict != "MISSED":
            print(f"plant: the tree without a fault fails: {by}", file=sys.stderr)
            return 2
    done = {row["number"] for row in rows}
    for fault in faults(TREE, options.seed):
        if sum(row["result"] != "INVALID" for row in rows) >= options.count:
            break
        if fault.number in done:
            continue
        if time.monotonic() > until:
            print(f"incomplete: the {options.minutes} minutes are over; the same command continues")
            break
        row = tree.judge(fault)
        rows.append(row)
        document = {"commit": commit, "seed": options.seed, "faults": rows}
        store.write(OUT / RESULTS, json.dumps(document, indent=1).encode())
        print(f"{row['result']:8}{row['took_s']:>7.1f} s  {row['fault']}  {row['by']}", flush=True)
    print(summary(rows))
    return int(any(row["result"] == "MISSED" for row in rows))


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.plant", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=40, help="number of faults that build (40)")
    parser.add_argument(
        "--minutes", type=float, default=20, help="start no fault after so many minutes (20)"
    )
    try:
        return run(parser.parse_args(argv))
    except KeyboardInterrupt:
        print("plant: interrupted; the same command continues", file=sys.stderr)
        return 130


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
