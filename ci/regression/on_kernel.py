# SPDX-License-Identifier: Apache-2.0
"""Tries regressions on the kernels of one series and architecture. One kernel is built while guests run others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ci.mutation.killers import Killers
from ci.mutation.trial import Goal, Trial
from ci.regression import recipes, verdict, workshop
from ci.regression.bench import Bench
from ci.regression.verdict import BROKEN, Verdict
from ci.regression.workshop import Built, Workshop
from faults.mutant_file import SUITE, PatchError
from faults.regression_file import Regression
from pmubase.errors import UserError
from vm import suite
from vm.arch import Arch

GUESTS = 2
"""The number of guests at the same time, while a further kernel is built."""


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


class OnKernel:
    """The tree, the clean kernel and the targets of one series and architecture."""

    def __init__(
        self,
        request: Request,
        series: str,
        on: Arch,
        known: Killers,
        done: Callable[[Verdict, dict[str, str]], None],
    ) -> None:
        """`done` receives each result, and the source of each case."""
        self._request = request
        self._series = series
        self._on = on
        self._known = known
        self._done = done
        self._shop = Workshop(series, on, request.out)
        self._benches: dict[str, Bench] = {}
        self._lock = threading.Lock()
        self.trials: list[Trial] = []
        """All trials on targets."""
        self.faults: list[str] = []
        """The cases that the clean kernel fails. They decide nothing."""

    def judge(self, regressions: Sequence[Regression]) -> list[Verdict]:
        """The results in the order of the regressions. target_bench.Unclean or UserError if the clean kernel cannot
        be built or booted."""
        names = dict.fromkeys(name for one in regressions for name in self._targets_of(one))
        targets = [suite.find_target(name) for name in names]
        clean = self._shop.build(None, _modules(targets))
        with ExitStack() as stack:
            for target in targets:
                bench = Bench(target, clean, self._request.out)
                self._benches[target.name] = bench
                stack.push(bench.__exit__)
            done = self._in_guests(self._built(regressions, clean))
            name = recipes.kernel_name(self._series, self._on)
            for target_name, bench in self._benches.items():
                self.faults += [
                    f"{target_name} on {name}: {case} is {how}"
                    for case, how in bench.clean.faults()
                ]
        return done

    def _targets_of(self, one: Regression) -> list[str]:
        return recipes.targets_on(one.targets, self._on)

    def _built(
        self, regressions: Sequence[Regression], clean: Built
    ) -> Iterator[tuple[Regression, Built | str, float]]:
        """Builds each regression: the kernel or the error, and the seconds."""
        for one in regressions:
            begun = time.monotonic()
            try:
                targets = [self._benches[name].target for name in self._targets_of(one)]
                built: Built | str = self._shop.build(one, _modules(targets), clean)
            except (PatchError, UserError) as error:
                built = str(error)
            yield one, built, time.monotonic() - begun

    def _in_guests(self, jobs: Iterator[tuple[Regression, Built | str, float]]) -> list[Verdict]:
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
                    job = pool.submit(self._try, one, built, build_s)
                    job.add_done_callback(lambda _: free.release())
                    futures.append(job)
                return [future.result() for future in futures]
            finally:
                for bench in self._benches.values():
                    bench.stop.set()
                pool.shutdown(cancel_futures=True)

    def _try(self, one: Regression, built: Built | str, build_s: float) -> Verdict:
        begun = time.monotonic()
        cases = {case.id: case for bench in self._benches.values() for case in bench.cases}
        if isinstance(built, str):
            done = Verdict(one, self._series, BROKEN, detail=built)
        else:
            with _image(built):
                trials = self._trials(one, built)
            rules_of = {name: case.rules for name, case in cases.items()}
            done = verdict.decide(one, self._series, trials, rules_of)
            with self._lock:
                self.trials += trials
        took_s = round(build_s + time.monotonic() - begun, 1)
        done = replace(done, build_s=round(build_s, 1), duration_s=took_s)
        self._done(done, {name: case.file for name, case in cases.items()})
        return done

    def _trials(self, one: Regression, built: Built) -> list[Trial]:
        """Runs the cases of the named rules on each target, then all other cases on each target, until the goal is
        reached."""
        goal = self._request.goal
        trials: list[Trial] = []
        left = set(one.rules)
        for own in (True,) if self._request.own_only else (True, False):
            for name in self._targets_of(one):
                caught = any(done.killed for done in trials)
                if caught and goal is not Goal.ALL and not (own and goal is Goal.RULES and left):
                    return trials
                mutant = one.on(name)
                if goal is Goal.RULES:
                    mutant = replace(mutant, rules=tuple(r for r in one.rules if r in left))
                stored = self._request.first.get((one.id, self._series), "")
                first = self._known.last(mutant, SUITE) or stored
                bench = self._benches[name]
                cases = select(mutant.rules, first, bench.cases, own)
                if not cases:
                    continue
                log = self._request.out / one.path.stem / f"console-{bench.name}-{name}.log"
                done = bench.judge(built, mutant, goal, (cases,), log)
                trials.append(done)
                left -= {rule for rule, _ in done.failed_rules}
                if done.result == "BROKEN" or not done.ran:
                    return trials  # The kernel does not boot, or the run was interrupted.
        return trials


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
