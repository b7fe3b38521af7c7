# SPDX-License-Identifier: Apache-2.0
"""Continues an interrupted nightly run: records its passed units, and assigns units to shards."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Sequence

from ci.units import records
from ci.units.inputs import Inputs
from ci.units.unit import Outcome, Unit
from pmubase import store


class Night:
    """The units that passed since the nightly run began, with the digest of their inputs. Stored on disk."""

    def __init__(self, again: bool = False) -> None:
        """`again`: begin a new nightly run, even if the last one is incomplete."""
        self._path = store.cache() / "nightly.json"
        self._lock = threading.Lock()
        self._done: dict[str, str] = {}
        if not again:
            with contextlib.suppress(OSError, ValueError, AttributeError):
                done = json.loads(self._path.read_text(encoding="utf-8"))["done"]
                self._done = {str(name): str(key) for name, key in done.items()}

    def finished(self, unit: Unit, now: Inputs) -> Outcome | None:
        """The recorded pass of this nightly run, if no input of the unit has changed since."""
        key = self._done.get(unit.name)
        if key is None:
            return None
        record = records.passed(unit.name, now, unit.stated())
        if record is None or record.key != key:
            return None
        return Outcome(unit, record.cases, record.took_s, cached=True)

    def record_pass(self, outcome: Outcome, now: Inputs) -> None:
        """Records a pass."""
        record = records.passed(outcome.unit.name, now, outcome.unit.stated())
        if record is None or outcome.failed:
            return
        with self._lock:
            self._done[outcome.unit.name] = record.key
            store.write(self._path, json.dumps({"done": self._done}, indent=1).encode())

    def end_if_whole(self, units: Sequence[Unit]) -> bool:
        """Removes the record if each of `units` has passed, so that the next nightly run starts from the beginning."""
        whole = {unit.name for unit in units if not unit.build} <= self._done.keys()
        if whole:
            self._path.unlink(missing_ok=True)
        return whole


def shard(units: Sequence[Unit], number: int, count: int) -> list[Unit]:
    """Shard `number` (from 1) of `count`, with the builds that it needs. All shards take about the same time.

    The units' default durations decide, so that each machine makes the same shards.
    """
    loads = [0.0] * count
    mine: list[Unit] = []
    tests = [unit for unit in units if not unit.build]
    for unit in sorted(tests, key=lambda each: (-each.default_s, each.name)):
        least = loads.index(min(loads))
        loads[least] += unit.default_s * unit.cores
        if least == number - 1:
            mine.append(unit)
    return add_builds(mine, units)


def add_builds(chosen: Sequence[Unit], units: Sequence[Unit]) -> list[Unit]:
    """The chosen units and all builds that they need, in the order of `units`."""
    known = {unit.name: unit for unit in units}
    wanted = {unit.name for unit in chosen}
    todo = list(chosen)
    while todo:
        for name in todo.pop().needs:
            if name not in wanted:
                wanted.add(name)
                todo.append(known[name])
    return [unit for unit in units if unit.name in wanted]
