# SPDX-License-Identifier: Apache-2.0
"""Runs one program in a separate guest."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence

from pmubase.errors import UserError

from . import guest, image, kernel, module, suite
from .machine_options import MachineOptions, foreign_arch


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A module that the guest loads first."""

    path: pathlib.Path
    parameters: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Host:
    """A kernel and the machine that it runs on."""

    kernel: kernel.Kernel
    machine: MachineOptions = MachineOptions()

    def table(self) -> str:
        """The keys for [vm] of a target file, except those with default values."""
        keys = {"arch": foreign_arch(self.kernel), "kernel": self._kind()}
        own = "".join(f'{key} = "{value}"\n' for key, value in keys.items() if value)
        return own + self.machine.table()

    def _kind(self) -> str | None:
        """The kind of the built kernel; None for debug kernels, since any kernel can be built with more checks."""
        built = kernel.built_known().get(self.kernel.name)
        return None if built is None or built.needs.debug else built.kind


def run(
    host: Host,
    modules: Sequence[Loaded],
    programs: Sequence[str],
    argv: Sequence[str],
    timeout_s: int,
) -> guest.Done:
    """Runs `argv` in a guest that also has `programs` of this machine."""
    found = host.kernel
    guest_files = module.guest_files((loaded.path for loaded in modules), found)
    files = {f"modules/{name}": path for name, path in guest_files.items()}
    for name in programs:
        files.update(image.with_program(name))
    packed = image.build(
        image.Contents(
            agent=suite.agent(found.arch),
            target=suite.find_target("refpmu").merged_file(),
            files=files,
            arch=found.arch,
        )
    )
    machine = host.machine.configure(found, packed)
    try:
        with guest.Guest(machine) as vm:
            vm.boot()
            for name, loaded in zip(guest_files, modules, strict=True):
                vm.load(name, list(loaded.parameters))
            return vm.exec(list(argv), timeout_s)
    except guest.ModuleRefused as refused:
        raise UserError(f"a module does not load: {refused}") from refused
    except guest.GuestLost as lost:
        raise UserError(f"guest lost: {lost.cause}", details=lost.tail) from lost
