# SPDX-License-Identifier: Apache-2.0
"""The kernels in which bugs are re-introduced: one recipe for each architecture."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from pmubase.errors import UserError
from vm import arch, kernel, stock, suite
from vm.arch import Arch
from vm.kernel import Recipe

KINDS = {arch.AMD64.name: "msr", arch.ARM64.name: "arm64"}
"""The last part of a kernel's name. The image of the kind `msr` has the model behind the registers of the drivers for
x86; that of `arm64` runs on the PMU that QEMU emulates."""
ARM64_OPTIONS = Path(__file__).parent / "arm64.config"
NOT_ON_ARM64 = ("CONFIG_ACPI=", "CONFIG_IA32_EMULATION=")
"""Options of all built kernels for x86 that do not exist on arm64, or that need other ones there."""


def series() -> tuple[str, ...]:
    """The series of kernels that can be built with a regression."""
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
            return f"no program {program}: make regressions ARCH={on.name} installs it"
    try:
        suite.agent(on)
    except UserError as error:
        return str(error)
    return ""
