# SPDX-License-Identifier: Apache-2.0
"""Plans the trials of regressions, one for each series and architecture, and joins their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from ci.mutation.counting import Counting
from ci.mutation.killers import Killers
from ci.mutation.trial import Goal, Trial
from ci.regression import passes, recipes, report, verdict
from ci.regression.on_kernel import GUESTS, OnKernel, Request
from ci.regression.verdict import NOT_RUN, Verdict
from ci.remember import records
from faults.regression_file import Regression
from faults.verdicts import CAUGHT
from vm import arch as arches
from vm.arch import Arch

TYPICAL_S = 60
"""Duration of a trial that has never run on this machine."""
Planned = tuple[Regression, str, Arch]
"""A trial: regression, series, architecture."""


class CountingRegressions(Counting):
    """Counts the trials of regressions."""

    alive_word = "not caught"


class Judge:
    """Runs the trials of a request."""

    def __init__(self, request: Request, known: Killers, out: TextIO) -> None:
        """`out` gets a line for each trial."""
        self._request = request
        self._known = known
        self._planned: list[Planned] = [
            (one, series, on)
            for series in request.series
            for one in request.regressions
            for on in recipes.arches_of(one.targets)
            if series in one.kernels
        ]
        units = [passes.unit_of(*each) for each in self._planned]
        expected = {unit: records.duration(unit, TYPICAL_S) for unit in units}
        self._counting = CountingRegressions(expected, GUESTS, out)
        self._found: dict[tuple[str, str], list[Verdict]] = {}
        """The results on architectures, by file and series."""
        self.trials: list[Trial] = []
        """All trials on targets, for the records of the cases that caught."""
        self.faults: list[str] = []
        """The cases that the clean kernels fail. They decide nothing."""

    def run(self) -> list[Verdict]:
        """The results in the order of the regressions, by series. target_bench.Unclean or UserError if a clean kernel
        cannot be built or booted."""
        with self._counting:
            for series in self._request.series:
                for on in arches.ARCHES.values():
                    own = [one for one, *rest in self._planned if rest == [series, on]]
                    self._judge_kernel(series, on, own)
        return [verdict.joined(found) for found in self._found.values()]

    def _judge_kernel(self, series: str, on: Arch, regressions: Sequence[Regression]) -> None:
        todo = []
        why = recipes.missing(on)
        for one in regressions:
            unit = passes.unit_of(one, series, on)
            before = None if self._request.fresh else self._recorded(one, series, on)
            found = self._found.setdefault((str(one.path), series), [])
            if self._request.goal is not Goal.ALL and any(done.result == CAUGHT for done in found):
                self._counting.remove(unit)
            elif before is not None:
                self._counting.end(unit, before.result == CAUGHT, 0, None)
                found.append(before)
            elif why:
                self._counting.remove(unit)
                found.append(Verdict(one, series, NOT_RUN, detail=why))
            else:
                todo.append(one)
        if not todo:
            return
        self._counting.print_line(f"building the kernel {recipes.kernel_name(series, on)}")

        def record(done: Verdict, files: dict[str, str]) -> None:
            # Without the other cases, a catch is a result, but a miss is none.
            if done.result == CAUGHT or not self._request.own_only:
                passes.record(done, on, self._request.goal, files)
            unit = passes.unit_of(done.regression, series, on)
            good = done.result == CAUGHT
            self._counting.end(unit, good, done.duration_s, report.line(done))

        place = OnKernel(self._request, series, on, self._known, record)
        for done in place.judge(todo):
            self._found[(str(done.regression.path), series)].append(done)
        self.trials += place.trials
        self.faults += place.faults

    def _recorded(self, one: Regression, series: str, on: Arch) -> Verdict | None:
        return passes.recorded(one, series, on, self._request.goal)
