# SPDX-License-Identifier: Apache-2.0
"""A PMU as the checks see it, the findings that they return, and their registry."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from .facts import Fact
from .program import CALLBACKS, Pmu, Program, Step

BREACH, SUSPECT, CLEAN, CANNOT_TELL = "BREACH", "SUSPECT", "CLEAN", "CANNOT_TELL"
VERDICTS = (BREACH, SUSPECT, CANNOT_TELL, CLEAN)
"""From the worst to the best."""
WRITERS = "perf_event_overflow|perf_aux_output_begin|perf_output_sample"


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """A verdict of a check on a line."""

    file: Path
    line: int
    check: str
    verdict: str
    message: str


class View:
    """A PMU of a module."""

    def __init__(self, program: Program, pmu: Pmu) -> None:
        self.program = program
        self.pmu = pmu

    @cached_property
    def init(self) -> list[Step]:
        """The walk through event_init."""
        return self.program.callback(self.pmu, "event_init")

    @cached_property
    def init_end(self) -> Fact:
        """The last fact of event_init itself, or the place of the PMU."""
        own = [step.fact for step in self.init if step.depth == 0]
        return own[-1] if own else self.pmu.place

    @cached_property
    def init_start(self) -> Fact:
        own = [step.fact for step in self.init if step.depth == 0]
        return own[0] if own else self.pmu.place

    @property
    def is_uncore(self) -> bool:
        """Whether the PMU counts for the whole system, or for a part of it that has several CPUs."""
        return (
            "perf_invalid_context" in self.pmu.value("task_ctx_nr") or "scope" in self.pmu.members
        )

    @cached_property
    def samples(self) -> bool:
        """Whether the PMU can write samples or a trace."""
        if "setup_aux" in self.pmu.members:
            return True
        writers = {call.function for call in self.program.calls(WRITERS)}
        own = self._reached(self.pmu)
        others = set().union(*(self._reached(pmu) for pmu in self.program.pmus))
        # Only another PMU of the module writes what its callbacks reach. An interrupt may write for any PMU.
        return bool(writers - (others - own))

    def _reached(self, pmu: Pmu) -> set[str]:
        """The functions that the callbacks of a PMU reach."""
        return self.program.reached(*(pmu.value(name).lstrip("&") for name in CALLBACKS))

    @cached_property
    def add(self) -> list[Step]:
        """The walk through add."""
        return self.program.callback(self.pmu, "add")

    @cached_property
    def capabilities(self) -> str:
        """The flags of the PMU. A variable is replaced by the expressions that are assigned to it."""
        flags = self.pmu.value("capabilities")
        for fact in self.program.facts:
            if fact.kind == "set" and re.search(r"(?:^|->|\.)capabilities$", fact.words[0]):
                flags += f"|{fact.words[-1]}"
        return flags

    def conditions(self, steps: Iterable[Step]) -> Iterator[Step]:
        """The conditions, returned expressions and assigned expressions of a walk that may decide something."""
        return (step for step in steps if step.fact.kind in ("if", "return", "loop"))

    def decides(self, steps: Iterable[Step], pattern: str) -> Step | None:
        """The first condition of a walk that has a pattern."""
        wanted = re.compile(pattern)
        for step in steps:
            if step.fact.kind == "if" and wanted.search(step.fact.words[0]):
                return step
            if step.fact.kind == "return" and wanted.search(step.fact.words[0]):
                return step
        return None

    def switches(self, steps: Iterable[Step], member: str) -> bool:
        """Whether a walk reads a member of attr for a switch: no other fact of the function is on its line."""
        return any(
            step.fact.kind == "attr"
            and re.match(member, step.fact.words[0])
            and not any(
                other.line == step.fact.line and other.kind != "attr"
                for other in self.program.functions[step.fact.function]
            )
            for step in steps
        )

    def mentions(self, steps: Iterable[Step], pattern: str) -> bool:
        """Whether any fact of a walk has a pattern."""
        wanted = re.compile(pattern)
        return any(wanted.search(word) for step in steps for word in step.fact.words)


Check = Callable[[View], Iterator[tuple[str, Fact, str]]]
CHECKS: dict[str, Check] = {}


def check(name: str) -> Callable[[Check], Check]:
    """Registers a check. It yields a verdict, the fact with its place, and a sentence."""

    def register(function: Check) -> Check:
        CHECKS[name] = function
        return function

    return register
