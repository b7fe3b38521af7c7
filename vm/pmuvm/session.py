# SPDX-License-Identifier: Apache-2.0
"""Runs cases one after the other over as many boots as that takes; a crash costs one case."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from pmuvm import guest, qemu
from pmuvm.channel import Message
from pmuvm.errors import PmuvmError
from pmuvm.suite import Case


@dataclasses.dataclass(frozen=True)
class Plan:
    """What every boot of a session has in common."""

    machine: qemu.Machine
    module: str | None
    """File in /modules that is loaded first, or None."""
    parameters: tuple[str, ...]
    slowness: float
    boot_s: float = guest.BOOT_S


class Session:
    """A guest that is there when a case needs it. As a context manager it leaves none behind."""

    def __init__(
        self, plan: Plan, log: pathlib.Path | None, record: Callable[[Message], None]
    ) -> None:
        self._plan = plan
        self._log = log
        self._record = record
        self._stack = contextlib.ExitStack()
        self._guest: guest.Guest | None = None
        self.boots = 0

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.drop()

    def run(self, case: Case) -> Message:
        """Run one case; its result is recorded and returned. The guest's death is a result too."""
        vm = self._ready()
        begun = time.monotonic()
        try:
            result = vm.case(case.id, case.deadline_s(self._plan.slowness))
        except guest.GuestLost as lost:
            self.drop()
            result = {
                "t": "result",
                "id": case.id,
                "result": lost.verdict,
                "duration_s": round(time.monotonic() - begun, 3),
                "message": f"guest lost: {lost.cause}",
                "rules": list(case.rules),
            }
        self._record(result)
        return result

    def finish(self) -> None:
        """Unload, ask for the kernel's complaints, power off; record what came of it."""
        if self._guest is None:
            return
        vm = self._guest
        try:
            if self._plan.module is not None:
                self._record(vm.unload(pathlib.Path(self._plan.module).stem))
            self._record(vm.kmsg())
            vm.bye()
        except guest.GuestLost as lost:
            self._record({"t": "kmsg", "reports": [f"guest lost at the end: {lost.cause}"]})
        self.drop()

    def _ready(self) -> guest.Guest:
        """The running guest, or a new one: booted, its module loaded."""
        if self._guest is None:
            self.boots += 1
            vm = self._stack.enter_context(guest.Guest(self._plan.machine, self._log))
            booted = False
            try:
                vm.boot(self._plan.boot_s)
                booted = True
                if self._plan.module is not None:
                    vm.load(self._plan.module, self._plan.parameters)
            except guest.ModuleRefused as refused:
                self.drop()
                raise PmuvmError(f"module {self._plan.module} does not load: {refused}") from None
            except guest.GuestLost as lost:
                self.drop()
                what = f"no guest comes up on {self._plan.machine.kernel}"
                if booted:
                    what = f"the guest does not survive the loading of {self._plan.module}"
                raise PmuvmError(f"{what}: {lost.cause}", details=lost.tail) from None
            self._guest = vm
        return self._guest

    def drop(self) -> None:
        """Power off at once: the next case gets a guest that no other has used."""
        self._guest = None
        self._stack.close()


def run_all(
    session: Session,
    cases: Sequence[Case],
    done: Callable[[Message], None],
    isolate: bool = False,
) -> None:
    """Run `cases` in their order; `done` hears each result. `isolate`: a guest for each case."""
    for case in cases:
        done(session.run(case))
        if isolate:
            session.finish()
    session.finish()
