# SPDX-License-Identifier: Apache-2.0
"""Plans the trials of faults and runs them: which observers on which kernels, the cheapest first."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TextIO

from ci.faults import kernels, passes, report, strategies, trial
from ci.faults.bench import Unclean
from ci.faults.catchers import Catchers
from ci.faults.progress import Progress
from ci.faults.strategies import PARALLEL, Request, strategy_of
from ci.faults.trial import HOST, Goal, Planned, Trial
from ci.verified_rules import applies
from faults.fault import ANSWER, DEVICE, KERNEL, KUNIT, ON_HOST, Fault
from pmubase.errors import UserError
from vm import stock

DEFAULT_KERNEL = "6.12"


@dataclass(frozen=True)
class Judged:
    """The trials, the errors of the clean originals, and the cases that these fail where it decides nothing."""

    trials: list[Trial]
    problems: list[str]
    notes: list[str]


def plan(
    fault: Fault,
    asked: Sequence[str],
    observers: Sequence[str],
    ranges: Mapping[str, str],
) -> list[Planned]:
    """The trials of a fault in their order: by observer, the cheapest first, and by kernel. It is empty if the fault is
    for other kernels or observers.

    `asked`: the kernels; the default one without one. `ranges`: the kernels of each rule, such as ">=6.1".
    """
    names = [name for name in asked or (DEFAULT_KERNEL,) if fault.wants(name)]
    if fault.breaks == KERNEL:
        names = [
            kernels.kernel_name(name, on)
            for name in names
            if name in kernels.series()
            for on in kernels.arches_of(fault.targets)
        ]
    elif fault.breaks == ANSWER:
        names = [name for name in names if _rules(fault, name, ranges)]
        newest = stock.series()[-1]
        if not asked and not names and fault.wants(newest) and _rules(fault, newest, ranges):
            names = [newest]
    elif fault.breaks == DEVICE and not asked:
        names = names or list(fault.kernels[:1])
    found = []
    for observer in fault.observers:
        if observer in observers:
            places = ([HOST] if names or not asked else []) if observer in ON_HOST else names
            found += [
                Planned(fault, name, observer, _rules(fault, name, ranges)) for name in places
            ]
    return found


def _rules(fault: Fault, name: str, ranges: Mapping[str, str]) -> tuple[str, ...]:
    """The rules that a fault must fail on a kernel: of an answer, only those that apply there."""
    if fault.breaks != ANSWER:
        return fault.rules
    return tuple(rule for rule in fault.rules if applies(ranges[rule], name))


def is_decided(planned: Planned, done: Sequence[Trial], goal: Goal) -> bool:
    """Whether a trial can be left out: another observer, or another architecture, was enough."""
    fault = planned.fault
    if not (fault.any_of or fault.breaks == KERNEL) or goal is Goal.ALL:
        return False
    same = (report.side(planned.kernel), HOST)
    before = [each for each in done if each.caught and report.side(each.kernel) in same]
    if goal is Goal.RULES:
        failed = {rule for each in before for rule, _ in each.failed_rules}
        return bool(before) and failed >= set(fault.rules)
    return bool(before)


class Judge:
    """Runs the trials of a request."""

    def __init__(
        self, plans: Sequence[Sequence[Planned]], goal: Goal, fresh: bool, own: bool, out: Path
    ) -> None:
        """`fresh`: recorded results are ignored. `own`: only the cases of the faults' rules run."""
        self._plans = plans
        self._goal = goal
        self._fresh = fresh
        self._own = own
        self._out = out
        self._catchers = Catchers.read()

    def run(self, out: TextIO) -> Judged:
        """Runs all trials; `out` gets a line for each. Unclean or UserError if an original cannot run."""
        stop = threading.Event()
        progress = Progress([one for each in self._plans for one in each], PARALLEL, out)
        planned = tuple(one for each in self._plans for one in each if not missing(one))
        request = Request(
            planned, self._goal, self._own, self._out, self._catchers, progress.print_line, stop
        )
        # Faults that are built into a kernel share a build tree. They start first, so that the others fill the time in
        # which one of them waits for it.
        in_order = sorted(self._plans, key=lambda each: not any(map(_builds_kernel, each)))
        with progress, strategies.opened(request) as known:
            with ThreadPoolExecutor(max_workers=PARALLEL) as pool:
                jobs = [
                    pool.submit(partial(self._try_all, each, known, progress)) for each in in_order
                ]
                try:
                    trials = [done for job in jobs for done in job.result()]
                finally:
                    stop.set()
                    pool.shutdown(cancel_futures=True)
            problems = [line for each in known.values() for line in each.problems()]
            notes = [line for each in known.values() for line in each.notes()]
        self._catchers.write(trials)
        order = {one.fault.name: n for n, each in enumerate(self._plans) for one in each}
        return Judged(sorted(trials, key=lambda t: order[t.fault.name]), problems, notes)

    def _try_all(
        self,
        plans: Sequence[Planned],
        known: Mapping[type[strategies.Strategy], strategies.Strategy],
        progress: Progress,
    ) -> list[Trial]:
        """Runs the trials of one fault."""
        trials: list[Trial] = []
        for planned in plans:
            if missing(planned) or is_decided(planned, trials, self._goal):
                progress.remove(planned)
                continue
            before = None if self._fresh else passes.recorded(planned, self._goal)
            if before is None:
                trials.append(self._try(planned, known[strategy_of(planned)]))
            else:
                trials.append(before)
            progress.end(planned, trials[-1])
        return trials

    def _try(self, planned: Planned, strategy: strategies.Strategy) -> Trial:
        begun = time.monotonic()
        try:
            done = strategy.judge(planned)
        except Unclean:
            raise
        except UserError as error:
            last = next((line for line in error.details.splitlines() if "error" in line), "")
            done = trial.broken(planned, f"{error}: {last.strip()}".rstrip(": "))
        done = replace(done, took_s=round(time.monotonic() - begun, 1))
        if not self._own or done.caught:
            cases = {case.id: case for case in strategy.cases(planned)}
            passes.record(done, planned, self._goal, cases)
        return done


def missing(planned: Planned) -> str:
    """The reason why this machine cannot run a trial; "" if it can."""
    fault = planned.fault
    if fault.breaks == DEVICE:
        return next(filter(None, map(kernels.missing, kernels.arches_of(fault.targets))), "")
    if fault.breaks != KERNEL:
        return ""
    return kernels.missing(kernels.place(planned.kernel)[1])


def _builds_kernel(planned: Planned) -> bool:
    return planned.observer == KUNIT or planned.fault.breaks == KERNEL
