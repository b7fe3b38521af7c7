# SPDX-License-Identifier: Apache-2.0
"""Runs cases one after the other, over as many boots as needed. A crash affects one case."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import pathlib
import tempfile
import time
from collections.abc import Callable
from types import TracebackType

from pmubase.errors import UserError

from . import guest, leaks, qemu
from .channel import Message
from .suite import Case


STATE = "state"
"""File with the guest's state after its boot, in the session's own folder."""


LIE = "/tmp/lie.toml"
"""File in a guest with the lie that a case receives."""
UNDEFINED = ("BROKEN", "TIMEOUT")
"""Results after which the state of a modelled device is not known."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """The data that all boots of a session share."""

    machine: qemu.Machine
    module: str | None
    """File in /modules with the PMU's driver, or None. If the machine passes a file to the guest, it is that file."""
    parameters: tuple[str, ...]
    slowness: float
    boot_s: float = guest.BOOT_S
    debug: bool = False
    """kernel.Needs.debug: ask for memory leaks at the end of each boot, and boot again after a report."""
    fallback: Callable[[str], Plan] | None = None
    """Returns another plan if no guest starts from the machine's state. Its argument is the cause."""
    console_text: pathlib.Path | None = None
    """A file with the console text until the machine's state was saved."""
    first: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Files in /modules to load before the driver, which needs them, and their parameters."""
    bindings: tuple[tuple[str, str], ...] = ()
    """Devices and their drivers, as for guest.Guest.bind()."""
    modelled: bool = False
    """The PMU is a modelled device. After a case that may leave it in any state, the guest is a new one."""


class Session:
    """Starts a guest when a case needs one. As a context manager it ends with its guest."""

    def __init__(
        self,
        plan: Plan,
        log: pathlib.Path | None,
        record: Callable[[Message], None],
        alone: bool = False,
    ) -> None:
        """`alone`: each case has a separate guest, which starts from the state after one boot."""
        self._alone = alone
        self._plan = plan
        self._log = log
        self._record = record
        self._stack = contextlib.ExitStack()
        self._guest: guest.Guest | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._told: tuple[guest.Guest | None, str] = (None, "")
        """The lie that a guest has in its file."""
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
        self.power_off_now()
        if self._folder is not None:
            self._folder.cleanup()

    def run(self, case: Case, lie: str = "", longest_s: int | None = None) -> Message:
        """Runs one case, records its result and returns it. The guest's death is also a result.

        `lie`: the TOML text of a lie that the case receives. `longest_s`: a limit of its deadline.
        """
        vm = self._ready()
        begun = time.monotonic()
        deadline_s = case.deadline_s(self._plan.slowness)
        deadline_s = deadline_s if longest_s is None else min(deadline_s, longest_s)
        try:
            if lie and (vm, lie) != self._told:
                vm.put(LIE, lie)
                self._told = (vm, lie)
            result = vm.case(case.id, deadline_s, lie=LIE if lie else "")
        except guest.GuestLost as lost:
            self.power_off_now()
            result = {
                "t": "result",
                "id": case.id,
                "result": lost.verdict,
                "duration_s": round(time.monotonic() - begun, 3),
                "message": f"guest lost: {lost.cause}",
                "guest_lost": True,
                "rules": list(case.rules),
            }
        else:
            self._begun[result.get("pid", 0)] = case
        self._record(result)
        if self._alone or (self._plan.debug and result["result"] == "CRASH"):
            self.finish()
        elif self._plan.modelled and (result["result"] in UNDEFINED or result.get("stuck", False)):
            self.power_off_now()
        return result

    def save(self, file: pathlib.Path) -> None:
        """Writes the guest's state after its boot to `file`. The guest is gone then."""
        self._ready().save(file)
        self.power_off_now()

    def finish(self) -> None:
        """Unloads the module, reads the kernel's complaints, powers off, and records the results."""
        if self._guest is None:
            return
        vm = self._guest
        try:
            # The first scan is before the unload, while the module's functions have names. The second one finds leaks
            # of the unload.
            before = self._leaks(vm)
            if self._plan.module is not None:
                self._unload(vm, pathlib.Path(self._plan.module).stem)
            for address, leak in self._leaks(vm).items():
                self._assign_leak(before.get(address, leak))
            complaints = vm.kmsg()
            if self._plan.debug:
                reports = [
                    report for report in complaints["reports"] if leaks.COUNTED not in report
                ]
                complaints = {**complaints, "reports": reports}
            self._record(complaints)
            vm.bye()
        except guest.GuestLost as lost:
            self._record({"t": "kmsg", "reports": [f"guest lost at the end: {lost.cause}"]})
        self.power_off_now()

    def _unload(self, vm: guest.Guest, name: str) -> None:
        """Unloads the module. One without an exit function stays, which is no failure."""
        answer = vm.unload(name)
        permanent = rf"^{name} .*\[permanent\]"
        if answer["ok"] or vm.exec(["grep", "-q", permanent, "/proc/modules"]).status != 0:
            self._record(answer)

    def _leaks(self, vm: guest.Guest) -> dict[str, leaks.Leak]:
        """The memory leaks that kmemleak finds now, by address; empty if the kernel cannot scan."""
        if not self._plan.debug:
            return {}
        deadline_s = math.ceil(leaks.SCAN_S * self._plan.slowness)
        done = vm.exec(["leaks"], deadline_s)
        if done.status != 0:
            cause = done.stderr.strip() or f"status {done.status}"
            self._record({"t": "kmsg", "reports": [f"no scan for memory leaks: {cause}"]})
        return {leak.address: leak for leak in leaks.parse(done.stdout)}

    def _assign_leak(self, leak: leaks.Leak) -> None:
        """The case whose process allocated the memory fails. A leak without a case is a report of the kernel."""
        case = leaks.owner_of(leak, self._begun)
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
        """The running guest, or a new one: booted, with its module loaded."""
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
                vm.resume(self._console_text())
            booted = True
            if self._plan.module is not None and self._plan.machine.handed is not None:
                vm.store_passed_file(self._plan.module)
            ready = True
            for name, parameters in self._plan.first:
                vm.load(name, parameters)
            if self._plan.module is not None:
                vm.load(self._plan.module, self._plan.parameters)
            for bound, name in self._plan.bindings:
                vm.bind(bound, name)
        except (UserError, OSError, guest.ModuleRefused, guest.GuestLost) as error:
            self.power_off_now()
            if self._plan.fallback is None or ready:
                raise self._failure(error, booted) from None
            self._plan = self._plan.fallback(str(error))
            return self._booted()
        return vm

    def _console_text(self) -> bytes:
        """The console text of a restored guest until its state was saved. An error to read it does not stop the run."""
        with contextlib.suppress(OSError):
            return b"" if self._plan.console_text is None else self._plan.console_text.read_bytes()
        return b""

    def _failure(self, error: Exception, booted: bool) -> UserError:
        """One line about an error at the start of a guest."""
        if isinstance(error, UserError):
            return error
        if isinstance(error, guest.ModuleRefused):
            return UserError(f"module {self._plan.module} does not load: {error}")
        if isinstance(error, guest.GuestLost):
            what = f"no guest boots on {self._plan.machine.kernel}"
            if booted:
                what = f"the guest died while it loaded {self._plan.module}"
            return UserError(f"{what}: {error.cause}", details=error.tail)
        return UserError(f"no guest starts from {self._plan.machine.state}: {error}")

    def _resumed(self) -> guest.Guest:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="pmuvm-")
            self._booted().save(pathlib.Path(self._folder.name) / STATE)
            self.power_off_now()
        state = pathlib.Path(self._folder.name) / STATE
        machine = dataclasses.replace(self._plan.machine, state=state)
        vm = self._stack.enter_context(guest.Guest(machine, self._log))
        vm.resume()
        return vm

    def power_off_now(self) -> None:
        """Powers off at once. The next case gets a new guest."""
        self._guest = None
        self._begun.clear()
        self._stack.close()
