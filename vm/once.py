# SPDX-License-Identifier: Apache-2.0
"""Runs one program in a separate guest, or drafts the target file of a PMU there."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Sequence

from . import arch, guest, image, kernel, module, qemu, runs, store, suite
from .errors import PmuvmError

PROBE_S = 300


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A module that the guest loads first."""

    path: pathlib.Path
    parameters: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Host:
    """The guest's machine, with the same keys as in [vm] of a target file."""

    kernel: kernel.Kernel
    cpu: str | None = None
    icount: int | None = None
    cmdline: str = ""
    smp: int = 2

    def table(self) -> str:
        """The keys for [vm] of a target file, except those with default values."""
        foreign = self.kernel.arch != arch.AMD64
        keys: dict[str, str | int | None] = {
            "arch": self.kernel.arch.name if foreign else None,
            "kernel": self._kind(),
            "cpu": self.cpu,
            "icount": self.icount,
            "cmdline": self.cmdline,
            "smp": self.smp if self.smp != Host.smp else None,
        }
        # These values have no quotes or backslashes, since Linux and QEMU do not accept them, so JSON strings are valid
        # TOML.
        return "".join(f"{key} = {json.dumps(word)}\n" for key, word in keys.items() if word)

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
            target=suite.TARGETS / "refpmu.toml",
            files=files,
            arch=found.arch,
        )
    )
    machine = qemu.Machine(
        found.arch,
        found.image,
        packed,
        cpus=host.smp,
        memory_mb=max(qemu.Machine.memory_mb, found.needs.memory_mb),
        accel=runs.accelerator(None, host.icount, host.smp, found),
        icount=host.icount,
        cpu=host.cpu,
        cmdline=" ".join(f"{found.needs.parameters} {host.cmdline}".split()),
    )
    try:
        with guest.Guest(machine) as vm:
            vm.boot()
            for name, loaded in zip(guest_files, modules, strict=True):
                vm.load(name, list(loaded.parameters))
            return vm.exec(list(argv), timeout_s)
    except guest.ModuleRefused as refused:
        raise PmuvmError(f"a module does not load: {refused}") from refused
    except guest.GuestLost as lost:
        raise PmuvmError(f"guest lost: {lost.cause}", details=lost.tail) from lost


def draft(host: Host, pmu: str, modules: Sequence[Loaded], out: pathlib.Path) -> None:
    """Runs `pmuconf probe` on the PMU in a guest, and writes the draft to the file `out`.

    The draft also has the guest's machine, the module and its parameters.
    """
    done = run(host, modules, (), ["pmuconf", "probe", pmu], PROBE_S)
    if done.status != 0:
        raise PmuvmError(done.stderr.strip() or f"pmuconf probe {pmu}: status {done.status}")
    table = host.table()
    if modules:
        first = modules[0]
        table += f'module = "{module.name_of(first.path)}"\n'
        if first.parameters:
            table += f'parameters = "{" ".join(first.parameters)}"\n'
    text = done.stdout + (f"\n[vm]\n{table}" if table else "")
    with store.writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        store.write(out, text.encode())
