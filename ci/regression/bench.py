# SPDX-License-Identifier: Apache-2.0
"""Runs the cases of one target on kernels with a regression."""

from __future__ import annotations

import threading
from pathlib import Path

from ci.mutation import target_bench
from ci.mutation.target_bench import TargetBench
from ci.regression.workshop import Built
from pmubase.errors import UserError
from vm import runs, session, suite
from vm.channel import Message


class Bench(TargetBench[Built]):
    """One target on the kernels of one series: each guest boots a kernel with its own bug."""

    def __init__(self, target: suite.Target, clean: Built, out: Path) -> None:
        """`clean`: the kernel without a regression."""
        super().__init__(clean.kernel.name, target, clean, out)
        self.stop = threading.Event()
        """After this event, no further case runs."""

    def open(self, built: Built, log: Path, messages: list[Message]) -> session.Session:
        """Guests that boot a kernel, and load the target's module if it has one."""
        given = None if self.target.module is None else built.modules[self.target.module]
        return session.Session(runs.plan(self.target, built.kernel, given), log, messages.append)

    def run_case(self, guests: session.Session, case: suite.Case) -> str:
        """The result of a case. A failure must repeat itself: guests run while another kernel is built, so a single
        failure may be due to the load of this machine."""
        if self.stop.is_set():
            raise UserError("interrupted")
        result = target_bench.run_case(guests, case)
        return target_bench.run_case(guests, case) if result == "FAIL" else result
