# SPDX-License-Identifier: Apache-2.0
"""Keeps the results of runs in an SQLite file, and compares those of two commits.

A cell is a combination of target, kernel, architecture, machine and profile. Runs of the same cell can be compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from results import measurements
from results.document import Run
from results.errors import ResultsError

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    added TEXT NOT NULL,
    commit_id TEXT NOT NULL,
    target TEXT NOT NULL,
    kernel TEXT NOT NULL,
    release TEXT NOT NULL,
    arch TEXT NOT NULL,
    machine TEXT NOT NULL,
    profile TEXT NOT NULL,
    verdict TEXT NOT NULL,
    totals TEXT NOT NULL,
    seconds REAL NOT NULL,
    digest TEXT NOT NULL,
    document BLOB NOT NULL,
    UNIQUE (digest, commit_id, machine)
);
CREATE TABLE rule (run INTEGER NOT NULL REFERENCES run, id TEXT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (run, id))
    WITHOUT ROWID;
CREATE TABLE test (
    run INTEGER NOT NULL REFERENCES run,
    id TEXT NOT NULL,
    result TEXT NOT NULL,
    seconds REAL NOT NULL,
    rules TEXT NOT NULL,
    PRIMARY KEY (run, id)
) WITHOUT ROWID;
CREATE INDEX run_by_commit ON run (commit_id);
"""
FAILED = {"FAILED"}
PASSED = {"PASSED", "WAIVED", "PARTIAL"}
SKIPPED = {"NOT_APPLICABLE", "NOT_RUN", "NOT_TESTED", "NOT_JUDGED", "INCOMPLETE", "REVIEW"}
WAIT_S = 60
MOST_MEASURED = 256 << 10
"""The measurements of a run that the file keeps, in bytes of JSON."""


@dataclass(frozen=True, order=True)
class Cell:
    """The properties that results must share to be compared."""

    target: str
    kernel: str
    arch: str
    machine: str
    profile: str

    def __str__(self) -> str:
        profile = f", profile {self.profile}" if self.profile else ""
        return f"{self.target} on {self.kernel} {self.arch}, {self.machine}{profile}"


@dataclass(frozen=True)
class Stored:
    """A run in the file."""

    id: int
    added: str
    commit: str
    cell: Cell
    release: str
    verdict: str
    totals: dict[str, int]
    seconds: float


@dataclass
class Changes:
    """How the rules of a cell differ between two commits."""

    cell: Cell
    failing: list[str] = field(default_factory=list)
    """Rules that failed in the later commit, and in no run of the earlier one."""
    fixed: list[str] = field(default_factory=list)
    """Rules that failed in the earlier commit, and passed in each run of the later one."""
    skipped: list[str] = field(default_factory=list)
    """Rules that passed in the earlier commit, and have no answer in the later one."""
    flaky: list[str] = field(default_factory=list)
    """Rules that failed in some runs of one of the commits and passed in others."""
    cases: dict[str, list[str]] = field(default_factory=dict)
    """The failed cases of the rules in `failing` and `flaky`."""

    def __bool__(self) -> bool:
        return bool(self.failing or self.fixed or self.skipped or self.flaky)


def default_file() -> Path:
    """The file that commands use by default."""
    named = os.environ.get("PMUCONF_HISTORY")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "pmuconf" / "history.sqlite"


@contextlib.contextmanager
def opened(path: Path, create: bool = False) -> Iterator[sqlite3.Connection]:
    """The database in a file. Its changes are written at the end, or none of them after an exception."""
    if not create and not path.is_file():
        raise ResultsError(f"{path}: no such file: add runs first")
    try:
        if create:
            path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(path, timeout=WAIT_S)) as database, database:
            _prepare(database, path)
            yield database
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from error
    except sqlite3.Error as error:
        raise ResultsError(f"{path}: {error}") from error


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("BEGIN IMMEDIATE")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version == 0 and not database.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in SCHEMA.split(";")[:-1]:
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    elif version != SCHEMA_VERSION:
        raise ResultsError(f"{path}: no history of this version: {version}, not {SCHEMA_VERSION}")


def add(database: sqlite3.Connection, run: Run, commit: str, machine: str) -> int | None:
    """Adds a run, and returns its number. None if the file has it already."""
    data = run.data
    content = json.dumps(data, sort_keys=True).encode()
    row = {
        "added": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit_id": commit,
        **{key: data[key] for key in ("target", "kernel", "release", "arch", "profile", "verdict")},
        "machine": machine,
        "totals": json.dumps(data["totals"]),
        "seconds": sum(case["duration_s"] for case in data["cases"]),
        "digest": hashlib.sha256(content).hexdigest(),
        "document": zlib.compress(json.dumps(_stored(data), sort_keys=True).encode()),
    }
    names = ", ".join(row)
    places = ", ".join(f":{name}" for name in row)
    done = database.execute(f"INSERT OR IGNORE INTO run ({names}) VALUES ({places})", row)
    if done.rowcount == 0:
        return None
    number = done.lastrowid
    assert number is not None
    rules = [*data["rules"], *data["drafts"]]
    database.executemany(
        "INSERT INTO rule VALUES (?, ?, ?)", [(number, one["id"], one["result"]) for one in rules]
    )
    database.executemany(
        "INSERT INTO test VALUES (?, ?, ?, ?, ?)",
        [
            (number, case["id"], case["result"], case["duration_s"], " ".join(case["rules"]))
            for case in data["cases"]
        ],
    )
    return number


def _stored(data: dict[str, Any]) -> dict[str, Any]:
    """The document that the file keeps. It has no measurements if they have more than MOST_MEASURED bytes."""
    key = measurements.KEY
    rows = [case[key] for case in data["cases"] if key in case]
    if len(json.dumps(rows)) <= MOST_MEASURED:
        return data
    cases = [{name: case[name] for name in case if name != key} for case in data["cases"]]
    return data | {"cases": cases}


def runs(database: sqlite3.Connection) -> list[Stored]:
    """All runs, the oldest first."""
    rows = database.execute(
        "SELECT id, added, commit_id, target, kernel, arch, machine, profile, release, verdict, totals, seconds"
        " FROM run ORDER BY id"
    )
    return [
        Stored(
            row[0], row[1], row[2], Cell(*row[3:8]), row[8], row[9], json.loads(row[10]), row[11]
        )
        for row in rows
    ]


def document_of(database: sqlite3.Connection, number: int) -> Run:
    """The whole results.json of a run."""
    (data,) = database.execute("SELECT document FROM run WHERE id = ?", [number]).fetchone()
    return Run(Path(f"run {number}"), json.loads(zlib.decompress(data)))


def newest(database: sqlite3.Connection) -> list[Stored]:
    """The last run of each cell."""
    found = {run.cell: run for run in runs(database)}
    return [found[cell] for cell in sorted(found)]


def commits(database: sqlite3.Connection) -> list[str]:
    """The commits that have runs, in the order of their first run."""
    rows = database.execute("SELECT commit_id FROM run GROUP BY commit_id ORDER BY min(id)")
    return [row[0] for row in rows]


def commit_of(database: sqlite3.Connection, name: str) -> str:
    """The commit that begins with `name`. ResultsError if there is none, or more than one."""
    known = commits(database)
    found = [commit for commit in known if commit.startswith(name)]
    if name in known:
        return name
    if len(found) != 1:
        raise ResultsError(f"{'no' if not found else 'more than one'} commit '{name}' has runs")
    return found[0]


def _results(database: sqlite3.Connection, ids: Iterable[int]) -> dict[str, list[str]]:
    """The results of each rule in some runs."""
    found: dict[str, list[str]] = {}
    for number in ids:
        for rule, result in database.execute("SELECT id, result FROM rule WHERE run = ?", [number]):
            found.setdefault(rule, []).append(result)
    return found


def _failed_cases(database: sqlite3.Connection, ids: Iterable[int]) -> dict[str, list[str]]:
    """The cases that failed in some runs, by rule."""
    found: dict[str, dict[str, None]] = {}
    for number in ids:
        rows = database.execute(
            "SELECT id, rules FROM test WHERE run = ? AND result NOT IN ('PASS', 'SKIP', 'WAIVED')",
            [number],
        )
        for case, rules in rows:
            for rule in rules.split():
                found.setdefault(rule, {})[case] = None
    return {rule: list(cases) for rule, cases in found.items()}


def _flaky(results: Iterable[str]) -> bool:
    return bool(FAILED.intersection(results)) and bool(PASSED.intersection(results))


def diff(database: sqlite3.Connection, old: str, new: str) -> list[Changes]:
    """The changes of each cell that has runs of both commits."""
    cells: dict[Cell, tuple[list[int], list[int]]] = {}
    for run in runs(database):
        pair = cells.setdefault(run.cell, ([], []))
        if run.commit == old:
            pair[0].append(run.id)
        if run.commit == new:
            pair[1].append(run.id)
    both = {cell: pair for cell, pair in cells.items() if pair[0] and pair[1]}
    if not both:
        raise ResultsError(f"no cell has runs of both {old} and {new}")
    return [_changes(database, cell, *both[cell]) for cell in sorted(both)]


def _changes(database: sqlite3.Connection, cell: Cell, old: list[int], new: list[int]) -> Changes:
    before, after = _results(database, old), _results(database, new)
    found = Changes(cell)
    for rule in sorted(before.keys() | after.keys()):
        was, now = set(before.get(rule, ())), set(after.get(rule, ()))
        if _flaky(was) or _flaky(now):
            found.flaky.append(rule)
        elif now & FAILED and not was & FAILED:
            found.failing.append(rule)
        elif was & FAILED and now and now <= PASSED:
            found.fixed.append(rule)
        elif was & PASSED and now <= SKIPPED:
            found.skipped.append(rule)
    cases = _failed_cases(database, [*old, *new])
    found.cases = {rule: cases.get(rule, []) for rule in [*found.failing, *found.flaky]}
    return found
