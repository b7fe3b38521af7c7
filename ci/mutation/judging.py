# SPDX-License-Identifier: Apache-2.0
"""Plans the trials of mutants and runs them: which observers on which kernels, the cheapest first."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TextIO

from ci.mutation import bench, on_host, passes, trial
from ci.mutation.bench import DRIVER, PARALLEL, Bench
from ci.mutation.killers import Killers
from ci.mutation.kunit import Kunit
from ci.mutation.progress import Planned, Progress
from ci.mutation.trial import Goal, Trial
from faults import mutant_file
from faults.mutant_file import Mutant
from pmubase import store
from vm import kernel, suite


@dataclass(frozen=True)
class Request:
    """A run: the mutants, the observers, and when a trial ends."""

    mutants: tuple[Mutant, ...]
    kernels: tuple[str, ...]
    observers: tuple[str, ...]
    """Only these may judge a mutant."""
    goal: Goal
    fresh: bool
    """Whether recorded kills are ignored."""
    own_only: bool
    """Whether only the cases of the mutant's rules run."""
    out: Path


@dataclass(frozen=True)
class Judged:
    """The trials, the errors of the unmutated driver, and the rules of each case that could run."""

    trials: list[Trial]
    faults: list[str]
    rules_of: dict[str, tuple[str, ...]]


def plan(mutant: Mutant, kernels: Sequence[str], observers: Sequence[str]) -> list[Planned]:
    """The trials of a mutant in their order: by observer, the cheapest first, and by kernel. It is empty if the mutant
    is for other kernels or observers."""
    wanted = [name for name in kernels if mutant.wants(name)]
    found = []
    for observer in mutant.observers if wanted else ():
        if observer in observers:
            names = [on_host.KERNEL] if observer in mutant_file.ON_HOST else wanted
            found += [(mutant, name, observer) for name in names]
    return found


def is_decided(mutant: Mutant, name: str, done: Sequence[Trial], goal: Goal) -> bool:
    """Whether a trial on the kernel `name` can be left out, since one of several observers was enough."""
    if not mutant.any_of or goal is Goal.ALL:
        return False
    before = [each for each in done if each.kernel in (name, on_host.KERNEL) and each.killed]
    if goal is Goal.RULES:
        failed = {rule for each in before for rule, _ in each.failed_rules}
        return bool(before) and failed >= set(mutant.rules)
    return bool(before)


class Judge:
    """Runs the trials of a request."""

    def __init__(self, request: Request, known: Killers, out: TextIO) -> None:
        """`out` gets a line for each trial."""
        self._request = request
        self._known = known
        plans = [plan(mutant, request.kernels, request.observers) for mutant in request.mutants]
        self._plans = [each for each in plans if each]
        planned = [one for each in self._plans for one in each]
        self._progress = Progress(planned, PARALLEL, out)
        self._host = on_host.Host(store.ROOT, request.out / "workshop-host")
        self._host_lock = threading.Lock()
        self._benches: dict[tuple[str, str], Bench] = {}
        self._kunits = {
            name: Kunit(name, DRIVER, request.out, self._progress.print_line)
            for _, name, observer in planned
            if observer == mutant_file.KUNIT
        }

    def run(self) -> Judged:
        """Runs all trials. bench.Unclean or UserError if the unmutated driver cannot run."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._progress)
            self._open_benches(stack)
            # Mutants that are built into a kernel share a build tree. They start first, so that the others fill the time
            # in which one of them waits for it.
            in_order = sorted(
                self._plans, key=lambda each: all(o != mutant_file.KUNIT for _, _, o in each)
            )
            jobs = [partial(self._try_all, each) for each in in_order]
            trials = [done for found in _in_parallel(jobs) for done in found]
            faults = self._faults()
        order = {mutant.id: number for number, mutant in enumerate(self._request.mutants)}
        trials.sort(key=lambda done: order[done.mutant.id])
        rules_of = {case.id: case.rules for each in self._benches.values() for case in each.cases}
        return Judged(trials, faults, rules_of)

    def _open_benches(self, stack: contextlib.ExitStack) -> None:
        clean: dict[str, Path] = {}
        for mutant, name, observer in (one for each in self._plans for one in each):
            key = (name, mutant.target)
            if observer != mutant_file.SUITE or key in self._benches:
                continue
            found = kernel.find(name)
            if name not in clean:
                clean[name] = bench.build(found, None, self._request.out)
            target = suite.find_target(mutant.target)
            opened = Bench(found, target, clean[name], self._request.out)
            self._benches[key] = stack.enter_context(opened)

    def _try_all(self, planned: Sequence[Planned]) -> list[Trial]:
        """Runs the trials of one mutant."""
        trials: list[Trial] = []
        for mutant, name, observer in planned:
            if is_decided(mutant, name, trials, self._request.goal):
                self._progress.skip((mutant, name, observer))
                continue
            trials.append(self._try(mutant, name, observer))
        return trials

    def _try(self, mutant: Mutant, name: str, observer: str) -> Trial:
        request = self._request
        cases: Sequence[suite.Case] = ()
        if observer == mutant_file.SUITE:
            cases = self._benches[(name, mutant.target)].cases
            mutant = trial.with_remarks(mutant, cases)
        if not request.fresh:
            before = passes.recorded_kill(mutant, name, observer, cases, request.goal)
            if before is not None:
                self._progress.done(before, fresh=False)
                return before
        begun = time.monotonic()
        done = self._run(mutant, name, observer)
        done = replace(done, duration_s=round(time.monotonic() - begun, 2))
        passes.record_kill(done, cases, request.goal)
        self._progress.done(done, fresh=True)
        return done

    def _run(self, mutant: Mutant, name: str, observer: str) -> Trial:
        goal = self._request.goal
        if observer == mutant_file.UNIT:
            with self._host_lock:
                return self._host.unit(mutant, goal is Goal.ALL)
        if observer == mutant_file.FUZZ:
            with self._host_lock:
                return self._host.fuzz(mutant)
        if observer == mutant_file.KUNIT:
            return self._kunits[name].judge(mutant, self._known, goal)
        on = self._benches[(name, mutant.target)]
        return bench.try_mutant(on, mutant, self._known, goal, self._request.own_only)

    def _faults(self) -> list[str]:
        """The errors of the unmutated driver, as far as trials depended on it."""
        found = self._host.faults()
        for kunit in self._kunits.values():
            found += kunit.faults()
        for each in self._benches.values():
            found += [f"{name} on {each.kernel.name}: {how}" for name, how in each.clean.faults()]
        return found


def _in_parallel(jobs: Sequence[Callable[[], list[Trial]]]) -> list[list[Trial]]:
    """The results of the jobs, in their order. PARALLEL jobs run at the same time."""
    with ThreadPoolExecutor(max_workers=PARALLEL) as pool:
        futures = [pool.submit(job) for job in jobs]
        try:
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)
