# SPDX-License-Identifier: Apache-2.0
"""Tries regressions: builds a kernel with each, and runs cases on it. One kernel is built while guests run others."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from ci.mutation.counting import Counting
from ci.mutation.killers import Killers
from ci.mutation.patch import SUITE, PatchError
from ci.mutation.trial import Goal, Trial
from ci.regression import passes, report, verdict, workshop
from ci.regression.bench import Bench
from ci.regression.patches import Regression
from ci.regression.verdict import BROKEN, NOT_RUN, Verdict
from ci.regression.workshop import Built, Workshop
from ci.units import records
from vm import arch, suite
from vm.errors import PmuvmError

GUESTS = 2
"""The number of guests at the same time, while a further kernel is built."""
TYPICAL_S = 60
"""Duration of a trial that has never run on this machine."""


@dataclass(frozen=True)
class Request:
    """A run: the regressions, the series of kernels, and when a trial ends."""

    regressions: tuple[Regression, ...]
    series: tuple[str, ...]
    goal: Goal
    fresh: bool
    """Whether recorded results are ignored."""
    own_only: bool
    """Whether only cases of the named rules run."""
    out: Path
    first: dict[tuple[str, str], str]
    """The case that caught a regression on a series, as the project's file has it. It is tried first."""


class CountingRegressions(Counting):
    """Counts the trials of regressions."""

    alive_word = "with a problem"


class Judge:
    """Runs the trials of a request."""

    def __init__(self, request: Request, known: Killers, out: TextIO) -> None:
        """`out` gets a line for each trial."""
        self._request = request
        self._known = known
        self._planned = [
            (one, series)
            for series in request.series
            for one in request.regressions
            if series in one.kernels
        ]
        units = [passes.unit_of(*each) for each in self._planned]
        expected = {unit: records.duration(unit, TYPICAL_S) for unit in units}
        self._counting = CountingRegressions(expected, GUESTS, out)
        self._lock = threading.Lock()
        self.trials: list[Trial] = []
        """All trials on targets, for the records of the cases that caught."""
        self.faults: list[str] = []
        """The cases that the clean kernel fails. They decide nothing."""

    def run(self) -> list[Verdict]:
        """The results in the order of the regressions. target_bench.Unclean or PmuvmError if the clean kernel cannot
        be built or booted."""
        found: dict[tuple[str, str], Verdict] = {}
        with self._counting:
            todo = []
            for one, series in self._planned:
                before = self._without_a_trial(one, series)
                if before is None:
                    todo.append((one, series))
                else:
                    found[(str(one.path), series)] = before
                    self._counting.end(passes.unit_of(one, series), not before.problem, 0, None)
            for series in self._request.series:
                own = [one for one, name in todo if name == series]
                if own:
                    for done in self._judge_series(series, own):
                        found[(str(done.regression.path), series)] = done
        return [found[(str(one.path), series)] for one, series in self._planned]

    def _without_a_trial(self, one: Regression, series: str) -> Verdict | None:
        """The result of a regression that need not run, or cannot."""
        if not targets_of(one):
            names = ", ".join(one.targets)
            why = f"no built kernel for the architecture of {names}"
            return Verdict(one, series, NOT_RUN, detail=why)
        return None if self._request.fresh else passes.recorded(one, series, self._request.goal)

    def _judge_series(self, series: str, regressions: Sequence[Regression]) -> list[Verdict]:
        request = self._request
        shop = Workshop(series, request.out)
        names = list(dict.fromkeys(name for one in regressions for name in targets_of(one)))
        targets = {name: suite.find_target(name) for name in names}
        self._counting.print_line(f"building the kernel {workshop.kernel_name(series)}")
        clean = shop.build(None, _modules(targets.values()))
        with ExitStack() as stack:
            benches = {
                name: Bench(series, target, clean, request.out) for name, target in targets.items()
            }
            for bench in benches.values():
                stack.push(bench.__exit__)
            jobs = self._built(shop, regressions, targets, clean)
            done = self._in_guests(series, jobs, benches)
            self.faults += [
                f"{name} on {series}: {case} is {how}"
                for name, bench in benches.items()
                for case, how in bench.clean.faults()
            ]
        return done

    def _built(
        self,
        shop: Workshop,
        regressions: Sequence[Regression],
        targets: dict[str, suite.Target],
        clean: Built,
    ) -> Iterator[tuple[Regression, Built | str, float]]:
        """Builds each regression: the kernel or the error, and the seconds."""
        for one in regressions:
            begun = time.monotonic()
            try:
                own = [targets[name] for name in targets_of(one)]
                built: Built | str = shop.build(one, _modules(own), clean)
            except (PatchError, PmuvmError) as error:
                built = str(error)
            yield one, built, time.monotonic() - begun

    def _in_guests(
        self,
        series: str,
        jobs: Iterator[tuple[Regression, Built | str, float]],
        benches: dict[str, Bench],
    ) -> list[Verdict]:
        """Tries each kernel after its build, while the next one is built."""
        futures: list[Future[Verdict]] = []
        free = threading.Semaphore(GUESTS)
        with ThreadPoolExecutor(max_workers=GUESTS) as pool:
            try:
                for one, built, build_s in jobs:
                    for future in futures:
                        if future.done():
                            future.result()  # An unclean original ends the run.
                    free.acquire()
                    job = pool.submit(self._try, one, series, built, build_s, benches)
                    job.add_done_callback(lambda _: free.release())
                    futures.append(job)
                return [future.result() for future in futures]
            finally:
                for bench in benches.values():
                    bench.stop.set()
                pool.shutdown(cancel_futures=True)

    def _try(
        self,
        one: Regression,
        series: str,
        built: Built | str,
        build_s: float,
        benches: dict[str, Bench],
    ) -> Verdict:
        begun = time.monotonic()
        if isinstance(built, str):
            done = Verdict(one, series, BROKEN, detail=built)
        else:
            with _image(built):
                trials = self._trials(one, series, built, benches)
            cases = [case for bench in benches.values() for case in bench.cases]
            done = verdict.decide(one, series, trials, {case.id: case.rules for case in cases})
            with self._lock:
                self.trials += trials
        took_s = round(build_s + time.monotonic() - begun, 1)
        done = replace(done, build_s=round(build_s, 1), duration_s=took_s)
        if not self._request.own_only:
            files = {case.id: case.file for bench in benches.values() for case in bench.cases}
            passes.record(done, self._request.goal, files)
        unit = passes.unit_of(one, series)
        self._counting.end(unit, not done.problem, took_s, report.line(done))
        return done

    def _trials(
        self, one: Regression, series: str, built: Built, benches: dict[str, Bench]
    ) -> list[Trial]:
        """Runs the cases of the named rules on each target, then all other cases on each target, until the goal is
        reached."""
        goal = self._request.goal
        trials: list[Trial] = []
        left = set(one.rules)
        for own in (True,) if self._request.own_only else (True, False):
            for name in targets_of(one):
                caught = any(done.killed for done in trials)
                if caught and goal is not Goal.ALL and not (own and goal is Goal.RULES and left):
                    return trials
                bench = benches[name]
                mutant = one.on(name)
                if goal is Goal.RULES:
                    mutant = replace(mutant, rules=tuple(r for r in one.rules if r in left))
                first = self._known.last(mutant, SUITE) or self._request.first.get((one.id, series))
                cases = select(mutant.rules, first or "", bench.cases, own)
                if not cases:
                    continue
                log = self._request.out / one.path.stem / f"console-{series}-{name}.log"
                done = bench.judge(built, mutant, goal, (cases,), log)
                trials.append(done)
                left -= {rule for rule, _ in done.failed_rules}
                if done.result == "BROKEN" or not done.ran:
                    return trials  # The kernel does not boot, or the run was interrupted.
        return trials


def targets_of(one: Regression) -> list[str]:
    """The targets of a regression whose guests a built kernel can run."""
    known = (arch.AMD64.name, None)
    return [name for name in one.targets if suite.find_target(name).arch in known]


def select(
    rules: Sequence[str], first: str, cases: Sequence[suite.Case], own: bool
) -> list[suite.Case]:
    """The cases to run. `own`: those of the rules and the case `first`, which is tried first; else all others."""
    is_own = {case.id: bool(set(case.rules) & set(rules)) or case.id == first for case in cases}
    return sorted((case for case in cases if is_own[case.id] == own), key=lambda c: c.id != first)


def _modules(targets: Iterable[suite.Target]) -> list[str]:
    """The modules that targets need, each once."""
    names = [target.module for target in targets]
    return list(dict.fromkeys(name for name in names if name is not None))


@contextmanager
def _image(built: Built) -> Iterator[None]:
    """Removes the image of a kernel at the end."""
    try:
        yield
    finally:
        workshop.remove_image(built)
