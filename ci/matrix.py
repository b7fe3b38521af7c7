#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the cells of ci/matrix.toml, a guest each, and ends in one table; 0 if all conform."""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import dataclasses
import difflib
import fnmatch
import itertools
import json
import math
import os
import shlex
import signal
import sys
import threading
import time
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "vm"))

import bounded  # noqa: E402
import kept  # noqa: E402
from soak import number_above_0  # noqa: E402
from pmuvm import arch, kernel, qemu, suite  # noqa: E402
from pmuvm.errors import PmuvmError  # noqa: E402

DATA = ROOT / "ci" / "matrix.toml"
OUT = ROOT / "build" / "matrix"
PROFILES = ROOT / "conformance" / "profiles"
PYTHON = "/usr/bin/python3"
BUSY = 10
"""A cell that takes this many times its minutes, and START_MIN, hangs: the host may be busy."""
START_MIN = 5
PREPARE_S = 2 * 3600
"""A kernel that is built, the first time, on such a host."""
CASES_SHOWN = 3
WIDTH = 160


class MatrixError(Exception):
    """The data, or what was asked for, is wrong; one line that says where."""


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """A point of the matrix."""

    kernel: str
    arch: str
    accel: str
    target: str
    profile: str
    """Empty: the whole catalogue."""

    def __str__(self) -> str:
        return "/".join(word for word in dataclasses.astuple(self) if word)


@dataclasses.dataclass(frozen=True)
class Cell:
    """A run of the suite that is to be conformant."""

    place: Place
    minutes: float
    """On an idle machine of two cores, with warm caches."""
    check: bool
    """`make check` runs it, too."""

    @property
    def name(self) -> str:
        """What CELLS= is matched with."""
        return str(self.place)

    @property
    def budget_s(self) -> float:
        """Seconds after which it hangs."""
        return 60 * (BUSY * self.minutes + START_MIN)

    def command(self, out: Path) -> tuple[str, ...]:
        """Runs it."""
        at = self.place
        words = ("--kernel", at.kernel, "--arch", at.arch, "--target", at.target)
        profile = ("--profile", at.profile) if at.profile else ()
        run = (PYTHON, "-m", "pmuvm", "run", *words, *profile, "--out", str(out))
        return ("env", f"PMUCONF_ACCEL={at.accel}", *run)

    def again(self) -> str:
        """What a person types to repeat it."""
        at = self.place
        words = {"PMUCONF_ACCEL": at.accel, "KERNEL": at.kernel, "TARGET": at.target}
        if at.arch != arch.AMD64.name:
            words["ARCH"] = at.arch
        if at.profile:
            words["PROFILE"] = at.profile
        return "make run " + " ".join(f"{key}={shlex.quote(word)}" for key, word in words.items())


@dataclasses.dataclass(frozen=True)
class Hole:
    """Why places are no cells."""

    globs: tuple[tuple[str, ...], ...]
    """Of each axis of Place, in its order."""
    reason: str

    def covers(self, place: Place) -> bool:
        """Whether it is about a place."""
        words = dataclasses.astuple(place)
        return all(_matches(word, globs) for word, globs in zip(words, self.globs, strict=True))


@dataclasses.dataclass(frozen=True)
class Matrix:
    """What is run, and why the rest is not."""

    cells: tuple[Cell, ...]
    holes: tuple[tuple[Hole, int], ...]
    """Each with the number of places that it alone, or it first, is about."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a cell came to."""

    cell: Cell
    verdict: str
    why: str
    """Empty if it is as expected."""
    took_s: float = 0.0
    totals: dict[str, int] = dataclasses.field(default_factory=dict)
    release: str = ""

    def row(self) -> dict[str, object]:
        """What a machine reads."""
        return {
            "id": self.cell.name,
            "result": "FAIL" if self.why else "PASS",
            "message": self.why,
            "verdict": self.verdict,
            "release": self.release,
            "duration_s": round(self.took_s),
            "minutes": self.cell.minutes,
            "again": self.cell.again(),
            "report": folder(self.cell).name,
            "totals": self.totals,
        }


def _matches(word: str, globs: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(word, glob) for glob in globs)


def read(path: Path = DATA) -> Matrix:
    """The matrix in a file. MatrixError: file, table and key."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise MatrixError(f"{path}: {error}") from error
    root = _Table(f"{path}", tables)
    could = possible()
    cells: dict[Place, Cell] = {}
    for table in root.tables("cells"):
        for cell in _cells(table, could):
            if cell.place in cells:
                table.fail("targets", f"the cell {cell.name} is there twice")
            cells[cell.place] = cell
    holes = [_hole(table, could) for table in root.tables("hole")]
    root.finish()
    if not cells:
        root.fail("cells", "there is none")
    first: list[int] = []
    for place in could:
        if place in cells:
            continue
        about = next((i for i, hole in enumerate(holes) if hole.covers(place)), None)
        if about is None:
            root.fail("hole", f"{place} is no cell, and no hole says why")
        first.append(about)
    counted = tuple((hole, first.count(i)) for i, hole in enumerate(holes))
    for number, (_, count) in enumerate(counted, start=1):
        if not count:
            root.fail(f"hole {number}", "says why of nothing that is not a cell or another's")
    return Matrix(tuple(cells.values()), counted)


class _Table:
    """A table of the file, whose keys are taken one by one."""

    def __init__(self, where: str, data: dict[str, Any]) -> None:
        self._where = where
        self._left = dict(data)

    def fail(self, key: str, why: str) -> NoReturn:
        """The one line about a key."""
        raise MatrixError(f"{self._where}: {key}: {why}")

    def tables(self, key: str) -> list[_Table]:
        """An array of tables."""
        found = self._left.pop(key, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self.fail(key, f"must be tables [[{key}]]")
        return [_Table(f"{self._where}: {key} {i}", one) for i, one in enumerate(found, start=1)]

    def value(self, key: str, default: Any, kind: str) -> Any:
        """A value like `default`; a number may be whole."""
        found = self._left.pop(key, default)
        if isinstance(default, float) and type(found) is int:
            found = float(found)
        if type(found) is not type(default):
            self.fail(key, f"must be {kind}")
        return found

    def text(self, key: str, default: str) -> str:
        """A text."""
        found = self.value(key, default, "a text")
        assert isinstance(found, str)
        return found

    def texts(self, key: str, default: Sequence[str]) -> tuple[str, ...]:
        """A list of texts."""
        found = self.value(key, list(default), "a list of texts")
        if not all(isinstance(word, str) for word in found):
            self.fail(key, "must be a list of texts")
        return tuple(found)

    def finish(self) -> None:
        """What nobody asked for is a mistake."""
        for key in self._left:
            self.fail(key, "unknown key")


def _cells(table: _Table, could: Sequence[Place]) -> list[Cell]:
    words = {
        "arch": table.text("arch", arch.AMD64.name),
        "accel": table.text("accel", "tcg"),
        "profile": table.text("profile", ""),
    }
    lists = {"kernels": table.texts("kernels", []), "targets": table.texts("targets", [])}
    minutes = table.value("minutes", 0.0, "a number above 0")
    check = table.value("check", False, "true or false")
    table.finish()
    if not 0 < minutes < math.inf:
        table.fail("minutes", "must be a number above 0")
    for key, word in words.items():
        known = sorted({getattr(place, key) for place in could})
        if word not in known:
            table.fail(key, f"unknown '{word}'; known: {', '.join(w for w in known if w)}")
    for key, found in lists.items():
        if not found:
            table.fail(key, "is missing")
    kernels = sorted({place.kernel for place in could})
    there = [p for p in could if all(getattr(p, key) == word for key, word in words.items())]
    made: list[Cell] = []
    for name in lists["kernels"]:
        if name not in kernels:
            table.fail("kernels", f"unknown '{name}'; known: {', '.join(kernels)}")
        for glob in lists["targets"]:
            places = [p for p in there if p.kernel == name and _matches(p.target, [glob])]
            if not places:
                table.fail("targets", f"no '{glob}' can be on {name}")
            made += [Cell(place, minutes, check) for place in places]
    return made


def _hole(table: _Table, could: Sequence[Place]) -> Hole:
    globs = []
    for field in dataclasses.fields(Place):
        key = f"{field.name}s"
        asked = table.texts(key, ["*"])
        known = sorted({getattr(place, field.name) for place in could})
        for glob in asked:
            if not any(_matches(word, [glob]) for word in known):
                table.fail(key, f"'{glob}' is none of {', '.join(word for word in known if word)}")
        globs.append(asked)
    reason = table.text("reason", "")
    table.finish()
    if not reason:
        table.fail("reason", "is missing")
    return Hole(tuple(globs), reason)


def possible() -> list[Place]:
    """Every place that the files of kernels and targets allow."""
    targets = [suite.find_target(path.stem) for path in sorted(suite.TARGETS.glob("*.toml"))]
    profiles = ["", *sorted(path.stem for path in PROFILES.glob("*.toml"))]
    built = kernel.built_known()
    found = []
    for name in (*kernel.fetched_known(), *built):
        how = built.get(name)
        # A kernel that has a driver of ours built in is for the targets that ask for it.
        kind = how.kind if how is not None and how.overlay else None
        for target, accel in itertools.product(targets, qemu.ACCELS):
            if target.kind != kind or (target.accel or accel) != accel:
                continue
            if target.icount is not None and accel != "tcg":
                continue
            for on in kernel.arches_of(name):
                if target.arch in (None, on):
                    found += [Place(name, on, accel, target.name, profile) for profile in profiles]
    return found


def select(cells: Sequence[Cell], globs: Sequence[str]) -> list[Cell]:
    """The cells that a glob matches, all without one. MatrixError: one that matches nothing."""
    for glob in globs:
        if not any(_matches(cell.name, [glob]) for cell in cells):
            names = [cell.name for cell in cells]
            near = difflib.get_close_matches(glob.replace("*", ""), names, n=3, cutoff=0.3)
            hint = f"did you mean {' or '.join(near)}? " if near else ""
            raise MatrixError(f"CELLS='{glob}' matches no cell; {hint}ci/matrix.py --list has them")
    return [cell for cell in cells if not globs or _matches(cell.name, globs)]


def folder(cell: Cell) -> Path:
    """Where its reports are."""
    return OUT / cell.name.replace("/", "-")


def prepare(cells: Sequence[Cell], commands: bounded.Commands) -> dict[tuple[str, str], str]:
    """Builds and fetches what several cells need; what could not be, by (kernel, arch), and why."""
    log = OUT / "prepare.log"
    log.unlink(missing_ok=True)
    deadline = time.monotonic() + PREPARE_S

    def done(*command: str) -> str:
        status = commands.run(command, log, deadline)
        return "" if status == 0 else f"{last_line(log)} ({log})"

    suites = {arch.AMD64.name: done("ci/build", "guest", "pmuconf")}
    for on in sorted({cell.place.arch for cell in cells} - suites.keys()):
        suites[on] = (
            suites[arch.AMD64.name]
            or done("env", f"ARCH={on}", "ci/install-deps")
            or done("ci/build", f"guest-{on}", "pmuconf")
        )
    found = {}
    for name, on in sorted({(cell.place.kernel, cell.place.arch) for cell in cells}):
        fetch = (PYTHON, "-m", "pmuvm", "fetch", "--kernel", name, "--arch", on)
        found[name, on] = suites[on] or done(*fetch)
    return {key: why for key, why in found.items() if why}


def last_line(log: Path) -> str:
    """What a program said last."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    said = [line.strip() for line in text.splitlines() if not line.startswith("$ ")]
    lines = [line for line in said if line]
    return lines[-1][:WIDTH] if lines else "it said nothing"


def first_line(message: object) -> str:
    """What of a case's message a line has room for."""
    return str(message).partition("\n")[0][:WIDTH]


def run(cell: Cell, commands: bounded.Commands) -> Outcome:
    """Run one cell, whatever it does."""
    out = folder(cell)
    out.mkdir(parents=True, exist_ok=True)
    log = out / "run.log"
    results = out / "results.json"
    for path in (log, results):
        path.unlink(missing_ok=True)
    begin = time.monotonic()
    status = commands.run(cell.command(out), log, begin + cell.budget_s)
    return judge(cell, status, results, log, time.monotonic() - begin)


def judge(cell: Cell, status: int, results: Path, log: Path, took_s: float) -> Outcome:
    """What a run that has ended came to."""
    if status == bounded.OVERDUE:
        why = f"it had not ended after {cell.budget_s / 60:.0f} min"
        return Outcome(cell, "HANGS", why, took_s)
    try:
        found = json.loads(results.read_text(encoding="utf-8"))
        verdict, totals = str(found["verdict"]), dict(found["totals"])
        at = (str(found["target"]), str(found["profile"]))
        bad = [case for case in found["cases"] if case["result"] not in ("PASS", "SKIP", "WAIVED")]
        release = str(found["release"])
        lines = [f"{c['id']} {c['result']}: {first_line(c['message'])}" for c in bad]
    except (OSError, ValueError, KeyError, TypeError):
        return Outcome(cell, "NO_RESULT", f"status {status}: {last_line(log)}", took_s)
    why = ""
    if at != (cell.place.target, cell.place.profile):
        why = f"the results are those of {' '.join(at).strip()}"
    elif verdict != "CONFORMANT":
        why = str(found.get("reason", ""))
    elif status != 0:
        why = f"its status is {status}"
    elif totals.get("broken") or totals.get("lost"):
        why = f"{totals.get('broken')} broken, {totals.get('lost')} lost"
    if why and lines:
        more = [f"and {len(lines) - CASES_SHOWN} more"] if len(lines) > CASES_SHOWN else []
        why = f"{why}: {'; '.join(lines[:CASES_SHOWN] + more)}"
    return Outcome(cell, verdict, why, took_s, totals, release)


def say(number: int, total: int, outcome: Outcome) -> None:
    """The line on a cell that has ended."""
    head = f"[{number}/{total}] {outcome.cell.name}"
    if not outcome.why:
        cases = outcome.totals.get("cases", 0)
        print(f"{head}: conformant, {cases} cases, {outcome.took_s:.0f} s", flush=True)
        return
    print(f"{head}: {outcome.verdict}: {outcome.why}; again: {outcome.cell.again()}", flush=True)


def table(outcomes: Iterable[Outcome]) -> list[list[str]]:
    """The rows of the table, its head first."""
    rows = [["cell", "verdict", "passed", "waived", "skipped", "failed", "s", "planned s"]]
    for outcome in outcomes:
        count = outcome.totals
        bad = sum(count.get(key, 0) for key in ("failed", "broken", "timeout", "crash", "lost"))
        numbers = [count.get("passed", 0), count.get("waived", 0), count.get("skipped", 0), bad]
        rows.append(
            [
                outcome.cell.name,
                outcome.verdict,
                *(str(number) for number in numbers),
                f"{outcome.took_s:.0f}",
                f"{outcome.cell.minutes * 60:.0f}",
            ]
        )
    return rows


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """For a terminal."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        " ".join(
            word.ljust(width) if i < 2 else word.rjust(width)
            for i, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """For a reader of pages."""
    rule = ["---", "---", *["--:"] * (len(rows[0]) - 2)]
    return [f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:])]


def write(outcomes: Sequence[Outcome], holes: Iterable[tuple[Hole, int]]) -> None:
    """What is known by now, for machines and people."""
    good = sum(not outcome.why for outcome in outcomes)
    totals = {
        "cases": len(outcomes),
        "passed": good,
        "failed": len(outcomes) - good,
        "skipped": 0,
    }
    document = {"totals": totals, "cases": [outcome.row() for outcome in outcomes]}
    _replace(OUT / "results.json", json.dumps(document, indent=1))
    page = ["# The matrix", "", *markdown(table(outcomes)), ""]
    for outcome in outcomes:
        if outcome.why:
            page += [f"- {outcome.cell.name}: {outcome.why}", f"  again: `{outcome.cell.again()}`"]
    page += ["", "Not run:", ""]
    page += [f"- {count} places: {hole.reason}" for hole, count in holes]
    _replace(OUT / "matrix.md", "\n".join(page))
    # Cells of which no more is known have reports of an earlier run, perhaps.
    reports = [folder(outcome.cell) / "results.json" for outcome in outcomes if outcome.totals]
    _replace(OUT / "rules.md", kept.of_runs(reports, OUT))


def _replace(path: Path, text: str) -> None:
    """In one step: who reads meanwhile sees the old text or the new one."""
    new = path.with_suffix(".new")
    new.write_text(text + "\n", encoding="utf-8")
    new.rename(path)


def run_all(chosen: Sequence[Cell], matrix: Matrix, jobs: int) -> list[Outcome]:
    """Run cells, `jobs` at once, the longest first; results are written as they come."""
    outcomes = {cell: Outcome(cell, "NOT_RUN", "not run") for cell in chosen}
    write(list(outcomes.values()), matrix.holes)
    commands = bounded.Commands()
    broken = prepare(chosen, commands)
    number = 0

    def ended(outcome: Outcome) -> None:
        nonlocal number
        number += 1
        outcomes[outcome.cell] = outcome
        say(number, len(chosen), outcome)
        write(list(outcomes.values()), matrix.holes)

    ready = []
    for cell in sorted(chosen, key=lambda cell: -cell.minutes):
        why = broken.get((cell.place.kernel, cell.place.arch))
        if why is None:
            ready.append(cell)
        else:
            ended(Outcome(cell, "NO_RESULT", why))
    lock = threading.Lock()

    def judge(cell: Cell) -> None:
        """Its result is written before its thread takes another one."""
        outcome = run(cell, commands)
        with lock:
            ended(outcome)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            for future in concurrent.futures.as_completed(
                pool.submit(judge, cell) for cell in ready
            ):
                future.result()
        except BaseException:
            commands.end()
            pool.shutdown(cancel_futures=True)
            raise
    return list(outcomes.values())


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Sequence[str]) -> int:
    """0 if every cell is as expected, 1 if one is not, 2 if nothing could be run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", default="", help="globs of names, with spaces; all without")
    parser.add_argument(
        "--list", action="store_true", help="say which cells there are, run nothing"
    )
    parser.add_argument(
        "--jobs",
        type=number_above_0,
        default=len(os.sched_getaffinity(0)),
        help="guests at once (as many as there are cores)",
    )
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        matrix = read()
        chosen = select(matrix.cells, options.cells.split())
        if options.list:
            for cell in chosen:
                print(f"{cell.name}  {cell.minutes:g} min  {cell.again()}")
            return 0
        OUT.mkdir(parents=True, exist_ok=True)
        minutes = sum(cell.minutes for cell in chosen) / options.jobs
        count = f"{len(chosen)} of {len(matrix.cells)} cells"
        print(f"{count}, {options.jobs} at once: about {minutes:.0f} min", flush=True)
        outcomes = run_all(chosen, matrix, options.jobs)
    except (MatrixError, PmuvmError, OSError) as error:
        print(f"matrix: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"matrix: interrupted; what has ended is in {OUT / 'results.json'}", file=sys.stderr)
        return 130
    print("\n".join(["", *aligned(table(outcomes))]))
    good = sum(not outcome.why for outcome in outcomes)
    left = sum(count for _, count in matrix.holes)
    print(f"{good} of {len(outcomes)} cells are as expected; {OUT / 'matrix.md'}", end="")
    print(f" has them, and why {left} other places are no cells")
    print(f"which rules each driver was shown to keep: {OUT / 'rules.md'}")
    return 0 if good == len(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
