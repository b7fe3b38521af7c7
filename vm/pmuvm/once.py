# SPDX-License-Identifier: Apache-2.0
"""One program in a guest of its own; and with it, the draft of a target file for a PMU in there."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Sequence

from pmuvm import arch, guest, image, kernel, module, qemu, runs, store, suite
from pmuvm.errors import PmuvmError

PROBE_S = 300


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A module that the guest loads first."""

    path: pathlib.Path
    parameters: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Host:
    """The machine that a guest is to find: what the keys of the same names in [vm] say."""

    kernel: kernel.Kernel
    cpu: str | None = None
    icount: int | None = None
    cmdline: str = ""
    smp: int = 2

    def table(self) -> str:
        """Its keys of a target file, but for those that every guest has anyway."""
        foreign = self.kernel.arch != arch.AMD64
        keys: dict[str, str | int | None] = {
            "arch": self.kernel.arch.name if foreign else None,
            "kernel": self._kind(),
            "cpu": self.cpu,
            "icount": self.icount,
            "cmdline": self.cmdline,
            "smp": self.smp if self.smp != Host.smp else None,
        }
        # What is quoted has neither quotes nor backslashes: Linux and QEMU have no use for them.
        return "".join(f"{key} = {json.dumps(word)}\n" for key, word in keys.items() if word)

    def _kind(self) -> str | None:
        """Of the built kernels that have the PMU; any kernel can be made to tell more of itself."""
        built = kernel.built_known().get(self.kernel.name)
        return None if built is None or built.needs.debug else built.kind


def run(
    host: Host,
    modules: Sequence[Loaded],
    programs: Sequence[str],
    argv: Sequence[str],
    timeout_s: int,
) -> guest.Done:
    """What came of `argv` in a guest that has `programs` of this machine, too."""
    found = host.kernel
    placed = module.placed((loaded.path for loaded in modules), found)
    files = {f"modules/{name}": path for name, path in placed.items()}
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
            for name, loaded in zip(placed, modules, strict=True):
                vm.load(name, list(loaded.parameters))
            return vm.exec(list(argv), timeout_s)
    except guest.ModuleRefused as refused:
        raise PmuvmError(f"a module does not load: {refused}") from refused
    except guest.GuestLost as lost:
        raise PmuvmError(f"guest lost: {lost.cause}", details=lost.tail) from lost


def draft(host: Host, pmu: str, modules: Sequence[Loaded], out: pathlib.Path) -> None:
    """Have `pmuconf probe` look at the PMU in a guest; what it drafts becomes the file `out`.

    The draft says how the guest was made: its processor, its module and the parameters of that, …
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
