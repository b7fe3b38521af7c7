# SPDX-License-Identifier: Apache-2.0
"""Runs cases one after the other over as many boots as that takes; a crash costs one case."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import pathlib
import tempfile
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from pmuvm import guest, leaks, qemu
from pmuvm.channel import Message
from pmuvm.errors import PmuvmError
from pmuvm.suite import Case


STATE = "state"
"""File of the guest's state behind its boot, in a folder of the session's own."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What every boot of a session has in common."""

    machine: qemu.Machine
    module: str | None
    """File in /modules that is loaded first, or None; it is what the machine was handed, if it was."""
    parameters: tuple[str, ...]
    slowness: float
    boot_s: float = guest.BOOT_S
    debug: bool = False
    """kernel.Needs.debug: lost memory is asked for at the end of each boot; a report ends one."""
    otherwise: Callable[[str], Plan] | None = None
    """The plan to go on with if no guest goes on from the machine's state; it is told why."""
    said: pathlib.Path | None = None
    """A file of what was on the console until the machine's state was saved."""


class Session:
    """A guest that is there when a case needs it. As a context manager it leaves none behind."""

    def __init__(
        self,
        plan: Plan,
        log: pathlib.Path | None,
        record: Callable[[Message], None],
        alone: bool = False,
    ) -> None:
        """`alone`: no two cases meet in a guest. Each goes on from the state behind one boot."""
        self._alone = alone
        self._plan = plan
        self._log = log
        self._record = record
        self._stack = contextlib.ExitStack()
        self._guest: guest.Guest | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._begun: dict[int, Case] = {}
        """The cases of this boot by the pid of the process that ran them."""
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
        if self._folder is not None:
            self._folder.cleanup()

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
        else:
            self._begun[result.get("pid", 0)] = case
        self._record(result)
        if self._alone or (self._plan.debug and result["result"] == "CRASH"):
            self.finish()
        return result

    def save(self, file: pathlib.Path) -> None:
        """Write the guest's state as it is behind its boot to `file`; the guest is gone then."""
        self._ready().save(file)
        self.drop()

    def finish(self) -> None:
        """Unload, ask for the kernel's complaints, power off; record what came of it."""
        if self._guest is None:
            return
        vm = self._guest
        try:
            # While the module is there its functions have names; its last leaks are made by unloading.
            before = self._lost(vm)
            if self._plan.module is not None:
                self._record(vm.unload(pathlib.Path(self._plan.module).stem))
            for address, leak in self._lost(vm).items():
                self._blame(before.get(address, leak))
            said = vm.kmsg()
            if self._plan.debug:
                told = [report for report in said["reports"] if leaks.COUNTED not in report]
                said = {**said, "reports": told}
            self._record(said)
            vm.bye()
        except guest.GuestLost as lost:
            self._record({"t": "kmsg", "reports": [f"guest lost at the end: {lost.cause}"]})
        self.drop()

    def _lost(self, vm: guest.Guest) -> dict[str, leaks.Leak]:
        """What kmemleak finds now, by address; nothing where it is not asked."""
        if not self._plan.debug:
            return {}
        deadline_s = math.ceil(leaks.SCAN_S * self._plan.slowness)
        done = vm.exec(["leaks"], deadline_s)
        if done.status != 0:
            said = done.stderr.strip() or f"status {done.status}"
            self._record({"t": "kmsg", "reports": [f"no scan for lost memory: {said}"]})
        return {leak.address: leak for leak in leaks.parse(done.stdout)}

    def _blame(self, leak: leaks.Leak) -> None:
        """The case whose process allocated it fails; a leak of no case is a report of the kernel."""
        case = leaks.whose(leak, self._begun)
        if case is None:
            self._record({"t": "kmsg", "reports": [str(leak)]})
            return
        self._record(
            {
                "t": "result",
                "id": case.id,
                "result": "CRASH",
                "duration_s": 0.0,
                "message": str(leak),
                "rules": list(case.rules),
            }
        )

    def _ready(self) -> guest.Guest:
        """The running guest, or a new one: booted, its module loaded."""
        if self._guest is None and self._alone:
            self._guest = self._resumed()
        elif self._guest is None:
            self._guest = self._booted()
        return self._guest

    def _booted(self) -> guest.Guest:
        self.boots += 1
        vm = self._stack.enter_context(guest.Guest(self._plan.machine, self._log))
        booted = ready = False
        try:
            if self._plan.machine.state is None:
                vm.boot(self._plan.boot_s)
            else:
                vm.resume(self._said())
            booted = True
            if self._plan.module is not None and self._plan.machine.handed is not None:
                vm.take(self._plan.module)
            ready = True
            if self._plan.module is not None:
                vm.load(self._plan.module, self._plan.parameters)
        except (PmuvmError, OSError, guest.ModuleRefused, guest.GuestLost) as error:
            self.drop()
            if self._plan.otherwise is None or ready:
                raise self._failure(error, booted) from None
            self._plan = self._plan.otherwise(str(error))
            return self._booted()
        return vm

    def _said(self) -> bytes:
        """Of a guest that goes on: its console until then. It is not worth a run if it is gone."""
        with contextlib.suppress(OSError):
            return b"" if self._plan.said is None else self._plan.said.read_bytes()
        return b""

    def _failure(self, error: Exception, booted: bool) -> PmuvmError:
        """An error of a guest's beginning in one line."""
        if isinstance(error, PmuvmError):
            return error
        if isinstance(error, guest.ModuleRefused):
            return PmuvmError(f"module {self._plan.module} does not load: {error}")
        if isinstance(error, guest.GuestLost):
            what = f"no guest comes up on {self._plan.machine.kernel}"
            if booted:
                what = f"the guest does not survive the loading of {self._plan.module}"
            return PmuvmError(f"{what}: {error.cause}", details=error.tail)
        return PmuvmError(f"no guest goes on from {self._plan.machine.state}: {error}")

    def _resumed(self) -> guest.Guest:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="pmuvm-")
            self._booted().save(pathlib.Path(self._folder.name) / STATE)
            self.drop()
        state = pathlib.Path(self._folder.name) / STATE
        machine = dataclasses.replace(self._plan.machine, state=state)
        vm = self._stack.enter_context(guest.Guest(machine, self._log))
        vm.resume()
        return vm

    def drop(self) -> None:
        """Power off at once: the next case gets a guest that no other has used."""
        self._guest = None
        self._begun.clear()
        self._stack.close()


def run_all(session: Session, cases: Sequence[Case], done: Callable[[Message], None]) -> None:
    """Run `cases` in their order; `done` hears each result."""
    for case in cases:
        done(session.run(case))
    session.finish()
