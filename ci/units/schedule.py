# SPDX-License-Identifier: Apache-2.0
"""Runs units concurrently, as many as cores and memory allow. The unit with the longest chain behind it starts first."""

from __future__ import annotations

import dataclasses
import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ci.units.unit import Outcome, Unit

SPARE_MB = 1500
"""Memory reserved for the rest of the machine."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """The cores and memory that units share."""

    cores: int
    memory_mb: int

    @classmethod
    def here(cls) -> Machine:
        """This machine: the cores that this process may use, and the memory that is free now."""
        words = Path("/proc/meminfo").read_text(encoding="ascii").split()
        free = int(words[words.index("MemAvailable:") + 1]) // 1024
        return cls(len(os.sched_getaffinity(0)), max(free - SPARE_MB, 1))


Order = Callable[[Sequence[Unit], Mapping[str, float]], dict[str, float]]
"""Computes the priority of each unit by name. The highest priority starts first."""


class Schedule:
    """The waiting, running and finished units."""

    def __init__(
        self,
        units: Sequence[Unit],
        run: Callable[[Unit], Outcome],
        expected: Mapping[str, float],
        machine: Machine,
        order: Order | None = None,
    ) -> None:
        """`run` is called in a separate thread. `expected`: seconds by the name of a unit.

        `order`: priorities of the units. By default the unit with the longest chain behind it starts first.
        """
        self._run = run
        self._machine = machine
        self._waiting = {unit.name: unit for unit in units}
        self._running: dict[str, Unit] = {}
        self._done: set[str] = set()
        self._urgency = (order or urgency)(units, expected)
        self._ended: queue.Queue[tuple[Unit, Outcome | BaseException]] = queue.Queue()

    def outcomes(self) -> Iterator[Outcome]:
        """Yields the outcome of each unit when it ends. A unit whose build failed never starts."""
        while self._waiting or self._running:
            self._start()
            if not self._running:
                return  # A build failed that the remaining units need.
            unit, outcome = self._ended.get()
            del self._running[unit.name]
            if isinstance(outcome, BaseException):
                raise outcome
            if not (unit.build and outcome.failed):
                self._done.add(unit.name)
            yield outcome

    @property
    def running(self) -> list[str]:
        """The names of the units that run now, the longest first."""
        return list(self._running)

    def _start(self) -> None:
        """Starts units in the order of their priority, while cores and memory are free. A smaller unit may overtake a
        larger one."""
        for name in sorted(self._waiting, key=lambda each: -self._urgency[each]):
            unit = self._waiting[name]
            if set(unit.needs) <= self._done and self._fits(unit):
                del self._waiting[name]
                self._running[name] = unit
                threading.Thread(target=self._one, args=(unit,), name=name, daemon=True).start()

    def _one(self, unit: Unit) -> None:
        try:
            outcome: Outcome | BaseException = self._run(unit)
        except BaseException as error:  # The waiting thread raises the exception.
            outcome = error
        self._ended.put((unit, outcome))

    def _fits(self, unit: Unit) -> bool:
        """Whether cores and memory are free for the unit. A unit that is too large for the machine runs alone."""
        if unit.lock and unit.lock in {each.lock for each in self._running.values()}:
            return False
        if not self._running:
            return True
        cores = sum(each.cores for each in self._running.values())
        memory = sum(each.memory_mb for each in self._running.values())
        return (
            cores + min(unit.cores, self._machine.cores) <= self._machine.cores
            and memory + unit.memory_mb <= self._machine.memory_mb
        )


def urgency(units: Sequence[Unit], expected: Mapping[str, float]) -> dict[str, float]:
    """Seconds from the start of a unit to the end of the longest chain of units that wait for it."""
    followers: dict[str, list[Unit]] = {}
    for unit in units:
        for name in unit.needs:
            followers.setdefault(name, []).append(unit)
    found: dict[str, float] = {}

    def of(unit: Unit) -> float:
        if unit.name not in found:
            after = [of(each) for each in followers.get(unit.name, ())]
            found[unit.name] = expected[unit.name] + max(after, default=0.0)
        return found[unit.name]

    for unit in units:
        of(unit)
    return found


def quickest(units: Sequence[Unit], expected: Mapping[str, float]) -> dict[str, float]:
    """The shortest unit first. A build has the priority of the shortest unit that needs it."""
    found = {unit.name: -expected[unit.name] for unit in units if not unit.build}
    for build in reversed([unit for unit in units if unit.build]):
        waiting = [found[u.name] for u in units if build.name in u.needs and u.name in found]
        found[build.name] = max(waiting, default=0.0)
    return found
