# SPDX-License-Identifier: Apache-2.0
"""Judges mutants by the cases of the suite, in guests that receive the module of each mutant."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from ci.mutation import patch, trial, workshop
from ci.mutation.killers import Killers
from ci.mutation.patch import Mutant
from ci.mutation.trial import Clean, Goal, Trial
from vm import kernel, module, session, store, suite
from vm.channel import Message
from vm.errors import PmuvmError
from vm.guest import GuestLost
from vm.runs import boot_without_module, pass_module, plan

DRIVER = store.ROOT / "driver"
PARALLEL = 2


class Unclean(Exception):
    """The unmutated driver cannot be judged, so no mutant can be judged either."""


class Bench:
    """One target on one kernel: its cases, and guests that receive a module."""

    def __init__(self, found: kernel.Kernel, target: suite.Target, clean: Path, out: Path) -> None:
        """`clean` is the unmutated driver's module. `out`: folder of the logs."""
        self.kernel = found
        self.out = out
        self.cases = tuple(suite.cases(target, suite.Selection()))
        self.clean = Clean(self._run_clean)
        self._target = target
        self._module = clean
        self._stack = contextlib.ExitStack()
        self._lock = threading.Lock()
        self._behind: list[session.Plan | None] = []
        self._guests: session.Session | None = None
        self._messages: list[Message] = []

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def open(self, built: Path, log: Path, messages: list[Message]) -> session.Session:
        """Guests that load the module `built`. Their messages are added to `messages`."""
        with self._lock:
            if not self._behind:
                folder = self._stack.enter_context(store.scratch(self.out))
                with _convert_to_unclean("no guest"):
                    self._behind.append(boot_without_module(self._target, self.kernel, folder))
        behind = self._behind[0]
        if behind is None:
            return session.Session(plan(self._target, self.kernel, built), log, messages.append)
        return session.Session(pass_module(behind, built), log, messages.append)

    def end(self, guests: session.Session, messages: list[Message]) -> list[str]:
        """The kernel's complaints after the last case. A debug kernel also looks for memory leaks."""
        before = len(messages)
        guests.finish()
        return trial.complaints(messages[before:])

    def is_clean_for(self, complaint: str) -> bool:
        """Whether the clean driver passes the case of a complaint. A complaint without a case stands for any case."""
        known = {case.id: case for case in self.cases}
        return self.clean.fits(known.get(complaint, self.cases[0]))

    def _run_clean(self, case: suite.Case) -> str:
        with _convert_to_unclean("the clean driver"):
            first = self._guests is None
            if self._guests is None:
                log = self.out / f"clean-{self._target.name}-{self.kernel.name}.log"
                guests = self.open(self._module, log, self._messages)
                self._guests = self._stack.enter_context(guests)
            result = run_case(self._guests, case)
            # Messages about the module's load and unload are the same for all cases, so one check is enough.
            ends = first or self.kernel.needs.debug
            return "CRASH" if ends and self.end(self._guests, self._messages) else result


@contextlib.contextmanager
def _convert_to_unclean(whom: str) -> Iterator[None]:
    try:
        yield
    except PmuvmError as error:
        raise Unclean(f"{whom}: {error}") from error


WORKSHOPS: queue.Queue[int] = queue.Queue()
for _number in range(PARALLEL):
    WORKSHOPS.put(_number)


def build(found: kernel.Kernel, mutant: Mutant | None, out: Path) -> Path:
    """Builds the module of the mutant, or of the driver, below `out`. PatchError or PmuvmError if that fails."""
    folder = out / ("clean" if mutant is None else mutant.path.stem)
    product = folder / found.release / f"{module.NAME}.ko"
    number = WORKSHOPS.get()
    try:
        shop = out / f"workshop-{number}-{found.release}"
        return workshop.build(mutant, found, DRIVER, shop, product)
    finally:
        WORKSHOPS.put(number)


def run_case(guests: session.Session, case: suite.Case) -> str:
    """The result of a case. The cause of a BROKEN result may also break later cases, so they get another guest."""
    result = str(guests.run(case)["result"])
    if result == "BROKEN":
        guests.power_off_now()
    return result


def try_mutant(bench: Bench, mutant: Mutant, known: Killers, goal: Goal, own_only: bool) -> Trial:
    """Builds the mutant, loads it in a guest, runs the cases of its rules, and then all others, unless `own_only`."""
    name = bench.kernel.name
    try:
        built = build(bench.kernel, mutant, bench.out)
    except patch.PatchError as error:
        return trial.broken(mutant, name, str(error))
    except PmuvmError as error:
        last = next((line for line in error.details.splitlines() if "error" in line), "")
        return trial.broken(mutant, name, f"{error}: {last.strip()}".rstrip(": "))
    own = known.first(mutant, trial.cases_of_rules(mutant, bench.cases))
    others = [] if own_only else [case for case in bench.cases if case not in own]
    log = bench.out / mutant.path.stem / f"console-{name}.log"
    messages: list[Message] = []
    try:
        with bench.open(built, log, messages) as guests:

            def run_until(cases: Sequence[suite.Case]) -> Trial:
                run = partial(run_case, guests)
                done = trial.run_until(goal, mutant, name, cases, run, bench.clean.passes)
                if done.killed:
                    return done
                return trial.at_the_end(
                    done, [*filter(bench.is_clean_for, bench.end(guests, messages))]
                )

            done = run_until(own)
            return done.continued_by(run_until(others)) if others and not done.killed else done
    except PmuvmError as error:
        lost = error.__context__
        if not isinstance(lost, GuestLost):
            return trial.broken(mutant, name, str(error))
        # The guest died while it loaded the mutant, so no case can run.
        result = "KILLED" if lost.verdict in mutant.kill else lost.verdict
        killers = ("(load)",) if result == "KILLED" else ()
        detail = f"at load: {lost.cause}"
        return Trial(mutant, name, result, killed_by=killers, detail=detail, searched=True)
