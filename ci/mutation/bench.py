# SPDX-License-Identifier: Apache-2.0
"""Judges mutants by the cases of the suite, in guests that receive the module of each mutant."""

from __future__ import annotations

import queue
import threading
from pathlib import Path

from ci.mutation import trial, workshop
from ci.mutation.killers import Killers
from ci.mutation.target_bench import TargetBench, Unclean, convert_to_unclean
from ci.mutation.trial import Goal, Trial
from faults import mutant_file
from faults.mutant_file import Mutant
from pmubase import store
from pmubase.errors import UserError
from vm import kernel, module, session, suite
from vm.channel import Message
from vm.runs import boot_without_module, pass_module, plan

__all__ = ["Bench", "Unclean", "build", "try_mutant"]

DRIVER = store.ROOT / "driver"
PARALLEL = 2


class Bench(TargetBench[Path]):
    """One target on one kernel: its cases, and guests that receive a module."""

    def __init__(self, found: kernel.Kernel, target: suite.Target, clean: Path, out: Path) -> None:
        """`clean` is the unmutated driver's module. `out`: folder of the logs."""
        super().__init__(found.name, target, clean, out, found.needs.debug)
        self.kernel = found
        self._lock = threading.Lock()
        self._behind: list[session.Plan | None] = []

    def __enter__(self) -> Bench:
        return self

    def open(self, built: Path, log: Path, messages: list[Message]) -> session.Session:
        """Guests that load the module `built`. Their messages are added to `messages`."""
        with self._lock:
            if not self._behind:
                folder = self.stack.enter_context(store.scratch(self.out))
                with convert_to_unclean("no guest"):
                    self._behind.append(boot_without_module(self.target, self.kernel, folder))
        behind = self._behind[0]
        if behind is None:
            return session.Session(plan(self.target, self.kernel, built), log, messages.append)
        return session.Session(pass_module(behind, built), log, messages.append)


WORKSHOPS: queue.Queue[int] = queue.Queue()
for _number in range(PARALLEL):
    WORKSHOPS.put(_number)


def build(found: kernel.Kernel, mutant: Mutant | None, out: Path) -> Path:
    """Builds the module of the mutant, or of the driver, below `out`. PatchError or UserError if that fails."""
    folder = out / ("clean" if mutant is None else mutant.path.stem)
    product = folder / found.release / f"{module.NAME}.ko"
    number = WORKSHOPS.get()
    try:
        shop = out / f"workshop-{number}-{found.release}"
        return workshop.build(mutant, found, DRIVER, shop, product)
    finally:
        WORKSHOPS.put(number)


def try_mutant(bench: Bench, mutant: Mutant, known: Killers, goal: Goal, own_only: bool) -> Trial:
    """Builds the mutant, loads it in a guest, runs the cases of its rules, and then all others, unless `own_only`."""
    name = bench.kernel.name
    try:
        built = build(bench.kernel, mutant, bench.out)
    except mutant_file.PatchError as error:
        return trial.broken(mutant, name, str(error))
    except UserError as error:
        last = next((line for line in error.details.splitlines() if "error" in line), "")
        return trial.broken(mutant, name, f"{error}: {last.strip()}".rstrip(": "))
    own = known.first(mutant, trial.cases_of_rules(mutant, bench.cases))
    others = [] if own_only else [case for case in bench.cases if case not in own]
    log = bench.out / mutant.path.stem / f"console-{name}.log"
    return bench.judge(built, mutant, goal, (own, others), log)
