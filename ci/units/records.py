# SPDX-License-Identifier: Apache-2.0
"""Records the passes of units in the cache: their inputs and tests. A failure is never recorded.

A record is a file passes/UNIT/KEY.json of the cache. KEY is the digest of the unit's inputs. An unreadable record
counts as missing, so correctness does not depend on the cache.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ci.units import inputs
from ci.units.inputs import Inputs
from pmubase import store

KEPT = 12
"""Maximum number of records of a unit. With several, reverting a change makes an earlier record valid again."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One test of a unit."""

    id: str
    result: str
    """As in results.json: PASS, SKIP, WAIVED; all others are failures."""
    rules: tuple[str, ...] = ()
    message: str = ""

    @property
    def good(self) -> bool:
        """Whether the result is not a failure."""
        return self.result in ("PASS", "SKIP", "WAIVED")


@dataclasses.dataclass(frozen=True)
class Record:
    """A pass."""

    unit: str
    inputs: dict[str, str]
    cases: tuple[Case, ...]
    took_s: float
    details: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Data that only the unit itself reads."""

    @property
    def key(self) -> str:
        """The digest of all inputs."""
        return inputs.key(self.inputs)


def folder() -> Path:
    """The folder of all records."""
    return store.cache() / "passes"


def _place(unit: str) -> Path:
    return folder() / unit.replace("/", "+")


def read(unit: str) -> list[Record]:
    """The records of a unit, the latest first."""
    found = []
    with contextlib.suppress(OSError):
        paths = [(path.stat().st_mtime, path) for path in _place(unit).glob("*.json")]
        for _, path in sorted(paths, reverse=True):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                found.append(_parse(path.read_text(encoding="utf-8")))
    return [record for record in found if record.unit == unit]


def passed(unit: str, now: Inputs, stated: Iterable[str] = ()) -> Record | None:
    """The record with exactly the `stated` inputs (by name and content) whose inputs have not changed since."""
    wanted = set(stated)
    for record in read(unit):
        if wanted <= record.inputs.keys() and not now.changed(record.inputs):
            with contextlib.suppress(OSError):
                os.utime(_place(unit) / f"{record.key}.json")
            return record
    return None


def write(record: Record) -> None:
    """Writes a record, and removes the oldest ones of the unit."""
    if not all(case.good for case in record.cases):
        raise ValueError(f"{record.unit}: a failure is never recorded")
    place = _place(record.unit)
    text = json.dumps(dataclasses.asdict(record), separators=(",", ":"))
    store.write(place / f"{record.key}.json", text.encode())
    paths = []
    for path in place.glob("*.json"):
        with contextlib.suppress(OSError):
            paths.append((path.stat().st_mtime, path))
    for _, path in sorted(paths, reverse=True)[KEPT:]:
        path.unlink(missing_ok=True)


def remove(record: Record) -> None:
    """Removes a record, since a later run with the same inputs had another result."""
    (_place(record.unit) / f"{record.key}.json").unlink(missing_ok=True)


def differences(before: Sequence[Case], now: Sequence[Case]) -> list[str]:
    """One line for each test whose results differ between two runs with the same inputs."""
    old, new = ({case.id: case.result for case in cases} for cases in (before, now))
    return [
        f"{name}: {old.get(name, 'absent')} before, {new.get(name, 'absent')} now"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]


def duration(unit: str, default_s: float) -> float:
    """Last duration of the unit in seconds."""
    path = _place(unit) / "took"
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return default_s


def note_duration(unit: str, took_s: float) -> None:
    """Records the duration of a unit, whether it passed or not."""
    store.write(_place(unit) / "took", f"{took_s:.2f}\n".encode())


def now_s() -> float:
    """The clock for durations."""
    return time.monotonic()


def _parse(text: str) -> Record:
    document = json.loads(text)
    cases = tuple(
        Case(str(c["id"]), str(c["result"]), tuple(c["rules"]), str(c["message"]))
        for c in document["cases"]
    )
    return Record(
        str(document["unit"]),
        {str(name): str(digest) for name, digest in document["inputs"].items()},
        cases,
        float(document["took_s"]),
        dict(document["details"]),
    )
