# SPDX-License-Identifier: Apache-2.0
"""Records passes in the cache, with their inputs. A failure is never recorded.

A record is a file passes/NAME/KEY.json of the cache. KEY is the digest of the inputs. An unreadable record counts as
missing, so correctness does not depend on the cache.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ci.remember.inputs import Inputs
from pmubase import store

KEPT = 12
"""Maximum number of records of a name. With several, reverting a change makes an earlier record valid again."""
SINCE = "PMUCONF_SINCE"
"""Environment variable: passes before this time do not count."""


@dataclasses.dataclass(frozen=True)
class Record:
    """A pass."""

    unit: str
    inputs: dict[str, str]
    took_s: float
    details: dict[str, Any] = dataclasses.field(default_factory=dict)
    """Data that only the command itself reads."""
    when: float = dataclasses.field(default_factory=time.time)

    @property
    def key(self) -> str:
        """The digest of all inputs."""
        return store.digest([json.dumps(self.inputs, sort_keys=True).encode()])


def folder(unit: str = "") -> Path:
    """The folder of the records of a name, or of all."""
    return store.cache() / "passes" / unit.replace("/", "+")


def read(unit: str) -> list[Record]:
    """The records of a name, the latest first."""
    found = []
    for path in _by_age(unit):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found.append(Record(**json.loads(path.read_text(encoding="utf-8"))))
    return [record for record in found if record.unit == unit]


def passed(unit: str, now: Inputs, stated: Iterable[str] = ()) -> Record | None:
    """The record whose inputs have not changed since. It has the `stated` inputs, too."""
    wanted = set(stated)
    since = float(os.environ.get(SINCE) or 0)
    for record in read(unit):
        if record.when < since or not wanted <= record.inputs.keys() or now.changed(record.inputs):
            continue
        with contextlib.suppress(OSError):
            os.utime(folder(unit) / f"{record.key}.json")
        return record
    return None


def write(record: Record) -> None:
    """Writes a record, and removes the oldest ones of its name."""
    text = json.dumps(dataclasses.asdict(record), separators=(",", ":"))
    store.write(folder(record.unit) / f"{record.key}.json", text.encode())
    for path in _by_age(record.unit)[KEPT:]:
        path.unlink(missing_ok=True)


def duration(unit: str, default_s: float) -> float:
    """The last duration in seconds."""
    try:
        return float((folder(unit) / "took").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return default_s


def note_duration(unit: str, took_s: float) -> None:
    """Records a duration, also of a failure."""
    store.write(folder(unit) / "took", f"{took_s:.2f}\n".encode())


def _by_age(unit: str) -> list[Path]:
    paths = []
    for path in folder(unit).glob("*.json"):
        with contextlib.suppress(OSError):  # Another process may remove it at the same time.
            paths.append((path.stat().st_mtime, path))
    return [path for _, path in sorted(paths, reverse=True)]
