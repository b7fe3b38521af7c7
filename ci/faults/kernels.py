# SPDX-License-Identifier: Apache-2.0
"""Builds kernels with a fault, one after the other in one tree of the cache, so that unchanged files are compiled once.
The tree has no other use."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faults import patch
from faults.fault import Fault
from pmubase import store
from pmubase.errors import UserError
from vm import arch, kernel, module, stock, suite, tree
from vm.arch import Arch
from vm.kernel import Kernel, Recipe

USE = "regressions"
"""The name of the tree in the cache."""
DRIVER = store.ROOT / "driver"
KINDS = {arch.AMD64.name: "msr", arch.ARM64.name: "arm64"}
"""The last part of a kernel's name. The image of the kind `msr` has the model behind the registers of the drivers for
x86; that of `arm64` runs on the PMU that QEMU emulates."""
ARM64_OPTIONS = Path(__file__).parent / "arm64.config"
NOT_ON_ARM64 = ("CONFIG_ACPI=", "CONFIG_IA32_EMULATION=")
"""Options of all built kernels for x86 that do not exist on arm64, or that need other ones there."""


def series() -> tuple[str, ...]:
    """The series of kernels that can be built with a fault."""
    return kernel.recipe(KINDS[arch.AMD64.name]).series


def recipe(on: Arch) -> Recipe:
    """The recipe of the kernels for an architecture."""
    kind = KINDS[on.name]
    if on == arch.AMD64:
        return kernel.recipe(kind)
    common = (stock.KERNELS / "config").read_text(encoding="utf-8").splitlines(keepends=True)
    lines = [f'CONFIG_LOCALVERSION="-{kind}"\n']
    lines += [line for line in common if not line.startswith(NOT_ON_ARM64)]
    options = "".join(lines) + ARM64_OPTIONS.read_text(encoding="utf-8")
    return Recipe(kind, series(), options, (), (), kernel.Needs())


def kernel_name(of: str, on: Arch) -> str:
    """The name of the kernel of a series on an architecture."""
    return f"{of}-{KINDS[on.name]}"


def place(name: str) -> tuple[str, Arch]:
    """The series and the architecture of a kernel by its name."""
    of, _, kind = name.partition("-")
    return of, next(on for on in (arch.AMD64, arch.ARM64) if KINDS[on.name] == kind)


def arches_of(targets: Iterable[str]) -> list[Arch]:
    """The architectures of targets, that of this machine first. A target for any architecture runs on amd64."""
    names = {suite.find_target(name).arch or arch.AMD64.name for name in targets}
    return [on for on in (arch.AMD64, arch.ARM64) if on.name in names]


def targets_on(targets: Iterable[str], on: Arch) -> list[str]:
    """The targets that run on an architecture."""
    return [name for name in targets if arches_of([name]) == [on]]


def missing(on: Arch) -> str:
    """The reason why no kernel for an architecture can be built and booted here; "" if there is none."""
    if not arch.foreign(on):
        return ""
    for program in (f"{on.compiler}gcc", on.qemu):
        if shutil.which(program) is None:
            return f"no program {program}: make faults ARCH={on.name} installs it"
    try:
        suite.agent(on)
    except UserError as error:
        return str(error)
    return ""


@dataclass(frozen=True)
class Built:
    """A kernel with or without a fault, and the modules for it, by name."""

    kernel: Kernel
    modules: Mapping[str, Path]


class Workshop:
    """The tree of one series and architecture, in which kernels are built."""

    def __init__(self, name: str, out: Path) -> None:
        """`name`: of the kernel. `out`: folder of images, modules and logs."""
        self._series, self._on = place(name)
        self._out = out
        self._name = name
        self._how = recipe(self._on)

    def build(
        self, fault: Fault | None, modules: Sequence[str], clean: Built | None = None
    ) -> Built:
        """Builds the kernel with a fault, or without one. `modules`: the names of the modules to build for it. The
        modules of `clean` serve if the fault changes no header.

        UserError if the patch does not apply, or the kernel or a module does not build.
        """
        label = "clean" if fault is None else fault.name
        folder = self._out / label
        with store.writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        log = folder / f"build-{self._name}.log"
        how = self._how
        with tree.opened(self._series, how.options, tree.cache(), log, USE, self._on) as opened:
            patch.restore(opened.path)
            tree.update_sources(opened.path / tree.OVERLAY, tree.overlay(DRIVER, how.overlay))
            opened.configure(how.options)
            nothing = contextlib.nullcontext()
            with nothing if fault is None else patch.applied(fault, opened.path):
                opened.make(*how.make, opened.image_target, "modules")
                image = folder / f"{opened.image_target}-{self._name}"
                with store.writing(folder):
                    shutil.copyfile(opened.image, image)
                release = kernel.image_release(image, self._on)
                found = Kernel(self._name, release, self._on, image, opened.path, how.needs)
                if clean is not None and not (fault and _changes_headers(fault)):
                    return Built(found, clean.modules)
                return Built(found, self._modules(found, modules, label))

    def _modules(self, found: Kernel, names: Sequence[str], label: str) -> dict[str, Path]:
        """Builds modules while the tree is in the state of `found`. Objects of another state are not reused."""
        folder = self._out / label / f"modules-{self._name}"
        shutil.rmtree(folder, ignore_errors=True)
        return {name: module.build(found, DRIVER, folder, name) for name in names}


def _changes_headers(fault: Fault) -> bool:
    """Whether a module must be built with it, since it changes a header that modules may include."""
    return any("include/" in name for name in fault.files)


def remove_image(built: Built) -> None:
    """Removes an image that no guest needs any more."""
    with contextlib.suppress(OSError):
        os.unlink(built.kernel.image)
