# SPDX-License-Identifier: Apache-2.0
"""One program in a guest of its own; and with it, the draft of a target file for a PMU in there."""

from __future__ import annotations

import dataclasses
import pathlib
from collections.abc import Sequence

from pmuvm import accel, guest, image, kernel, qemu, store, suite
from pmuvm.errors import PmuvmError

PROBE_S = 300


@dataclasses.dataclass(frozen=True)
class Loaded:
    """A module that the guest loads first."""

    path: pathlib.Path
    parameters: tuple[str, ...] = ()


def run(
    found: kernel.Kernel,
    modules: Sequence[Loaded],
    programs: Sequence[str],
    argv: Sequence[str],
    timeout_s: int,
) -> guest.Done:
    """What came of `argv` in a guest that has `programs` of the host, too."""
    files: dict[str, pathlib.Path] = {}
    for name in programs:
        files.update(image.with_program(name))
    packed = image.build(
        image.Contents(
            agent=suite.agent(found.arch),
            target=suite.TARGETS / "refpmu.toml",
            modules=tuple(module.path for module in modules),
            files=files,
            arch=found.arch,
        )
    )
    machine = qemu.Machine(found.arch, found.image, packed, accel=accel.choose(found))
    try:
        with guest.Guest(machine) as vm:
            vm.boot()
            for module in modules:
                vm.load(module.path.name, list(module.parameters))
            return vm.exec(list(argv), timeout_s)
    except guest.ModuleRefused as refused:
        raise PmuvmError(f"a module does not load: {refused}") from refused
    except guest.GuestLost as lost:
        raise PmuvmError(f"guest lost: {lost.cause}", details=lost.tail) from lost


def draft(found: kernel.Kernel, pmu: str, modules: Sequence[Loaded], out: pathlib.Path) -> None:
    """Have `pmuconf probe` look at the PMU in a guest; what it drafts becomes the file `out`.

    The draft says how the guest was made: its module, and the parameters of that.
    """
    done = run(found, modules, (), ["pmuconf", "probe", pmu], PROBE_S)
    if done.status != 0:
        raise PmuvmError(done.stderr.strip() or f"pmuconf probe {pmu}: status {done.status}")
    text = done.stdout
    if modules:
        first = modules[0]
        text += f'\n[vm]\nmodule = "{first.path.stem}"\n'
        if first.parameters:
            text += f'parameters = "{" ".join(first.parameters)}"\n'
    with store.writing(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        store.write(out, text.encode())
