# SPDX-License-Identifier: Apache-2.0
"""Shows how far a run of the mutants is, and how long it may still take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from ci.mutation import report
from ci.mutation.counting import Counting
from ci.mutation.passes import unit_of
from ci.mutation.trial import Trial
from ci.remember import records
from faults.mutant_file import FUZZ, KUNIT, SUITE, UNIT, Mutant

TYPICAL_S: Mapping[str, float] = {UNIT: 10, FUZZ: 10, KUNIT: 60, SUITE: 10}
"""Duration of a trial that has never run on this machine, by observer."""
Planned = tuple[Mutant, str, str]
"""A trial that may run: mutant, kernel, observer."""


class Progress(Counting):
    """Counts the trials of mutants."""

    def __init__(self, planned: Sequence[Planned], parallel: int, out: TextIO) -> None:
        """`parallel`: the number of trials that run at the same time."""
        super().__init__({unit_of(*each): _expected(*each) for each in planned}, parallel, out)

    def __enter__(self) -> Progress:
        super().__enter__()
        return self

    def done(self, trial: Trial, fresh: bool) -> None:
        """Counts a trial that has ended. A `fresh` one ran now; others were recorded before."""
        unit = unit_of(trial.mutant, trial.kernel, trial.observer)
        self.end(unit, trial.killed, trial.duration_s, report.line(trial) if fresh else None)

    def skip(self, planned: Planned) -> None:
        """Removes a trial that need not run, since another observer killed the mutant."""
        self.remove(unit_of(*planned))


def _expected(mutant: Mutant, kernel: str, observer: str) -> float:
    return records.duration(unit_of(mutant, kernel, observer), TYPICAL_S[observer])
