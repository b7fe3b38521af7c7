# SPDX-License-Identifier: Apache-2.0
"""Drafts the target file of a PMU in a guest, which may be the machine of another target."""

from __future__ import annotations

import dataclasses
import json
import pathlib

from pmubase import store
from pmubase.errors import UserError

from . import arch, device, kernel, module, once, runs, suite
from .machine_options import MachineOptions

PROBE_S = 300


@dataclasses.dataclass(frozen=True)
class Request:
    """A PMU, and the options of the guest that has it. None: not given."""

    pmu: str
    """Its name in sysfs."""
    kernel: str
    arch: str
    like: str | None = None
    """The target whose machine the guest is. Without it, the suite's target with the name of the PMU, if there is one."""
    module: pathlib.Path | None = None
    parameters: str | None = None
    machine: MachineOptions = MachineOptions()
    """Options that override those of the target."""

    def target(self) -> suite.Target | None:
        """The target whose machine the guest is."""
        if self.like is not None:
            return suite.find_target(self.like, variable="LIKE")
        named = "/" not in self.pmu and (suite.TARGETS / f"{self.pmu}.toml").is_file()
        return suite.find_target(self.pmu) if named else None

    def name(self) -> str:
        """The draft's name. The same PMU has drafts of different names on the machines of different targets."""
        target = self.target()
        return self.pmu if target is None else target.name


def write(request: Request, out: pathlib.Path) -> None:
    """Runs `pmuconf probe` on the PMU in a guest, and writes the draft to the file `out`.

    The draft also has the guest's machine, the module and its parameters.
    """
    target = request.target()
    host = _host(request, target)
    modules = _modules(request, target, host.kernel)
    argv = ["pmuconf", "probe", request.pmu, "--name", request.name()]
    if target is not None and target.slowness != 1:
        argv += ["--slowness", str(target.slowness)]
    deadline_s = round(PROBE_S * max(1.0, target.slowness if target else 1.0))
    devices = host.machine.device or ()
    words = device.msr_parameters(devices)
    before = [once.Loaded(file, words) for file in runs.msr_module(host.kernel, devices)]
    done = once.run(host, [*before, *modules], (), argv, deadline_s)
    if done.status != 0:
        raise UserError(done.stderr.strip() or f"pmuconf probe {request.pmu}: status {done.status}")
    table = host.table()
    if modules:
        first, last = modules[0], modules[-1]
        table += f'module = "{module.name_of(last.path)}"\n'
        if first.parameters:
            table += f'parameters = "{" ".join(first.parameters)}"\n'
        if request.module is None and target is not None and target.driver:
            table += f"driver = {json.dumps(target.driver)}\n"
    text = done.stdout + (f"\n[vm]\n{table}" if table else "")
    with store.writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        store.write(out, text.encode())


def _host(request: Request, target: suite.Target | None) -> once.Host:
    """The kernel and the machine. UserError if the target is for another architecture."""
    of = arch.find(request.arch)
    if target is None:
        return once.Host(
            kernel.find(request.kernel, of), _counted(request.machine, request.machine)
        )
    runs.check_arch(target, request.arch)
    found = kernel.find(runs.kernel_of(request.kernel, target), of)
    return once.Host(found, _counted(request.machine.over(target.machine), request.machine))


def _counted(machine: MachineOptions, given: MachineOptions) -> MachineOptions:
    """One CPU with -icount, unless a number is given: QEMU counts the instructions of all CPUs in each of them."""
    one = machine.icount is not None and given.cpus is None
    return dataclasses.replace(machine, cpus=1) if one else machine


def _modules(
    request: Request, target: suite.Target | None, found: kernel.Kernel
) -> list[once.Loaded]:
    """The given module, or the target's, with the given parameters, or the target's."""
    if request.module is not None:
        if not request.module.is_file():
            raise UserError(f"no module {request.module}")
        files: tuple[pathlib.Path, ...] = (request.module,)
    else:
        # The PMUs of the project's modules have names that begin with that of the module. Another module only causes
        # events.
        loads = target is not None and bool(
            target.driver or request.pmu.startswith(target.module or "/")
        )
        files = runs.modules_of(found, target) if target is not None and loads else ()
    given = request.parameters
    words = tuple(given.split()) if given is not None else target.parameters if target else ()
    return [once.Loaded(file, words) for file in files]
