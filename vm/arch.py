# SPDX-License-Identifier: Apache-2.0
"""The architectures of guests. Each is one file of vm/arches, and one frozen dataclass here."""

from __future__ import annotations

import dataclasses
import pathlib
import platform
from collections.abc import Mapping

from pmubase.errors import UserError

from . import arch_file

FOLDER = pathlib.Path(__file__).resolve().parent / "arches"


@dataclasses.dataclass(frozen=True)
class KernelPackages:
    """The packages of one stock kernel. A `*` stands for a part of the version."""

    image: str
    headers: str | None
    """None if the archive has the image only: then no module can be built for this kernel."""


@dataclasses.dataclass(frozen=True)
class Arch:
    """One guest architecture, under the name that Debian gives it."""

    name: str
    machine: str
    """As `uname -m` prints it."""
    triple: str
    """As the distribution's compilers and folders of libraries name it."""
    kbuild: str
    """As the kernel's Makefile takes it in ARCH=."""
    loader: str
    """The file name of the C library's loader of shared libraries."""
    qemu: str
    qemu_package: str
    qemu_machine: str
    cpu: Mapping[str, str]
    """CPU model by accelerator."""
    icount_smp: bool
    """Whether more than one CPU comes up with a clock that counts instructions (`-icount`)."""
    icount: int | None
    """The clock of an emulated guest, as `qemu.Machine.icount`, unless another is given."""
    parameters: str
    """Words for the command line of each kernel."""
    no_pmu: str
    """Words that keep the kernel's driver for the PMU of the CPU models in `cpu` from registering it."""
    slowness: float
    """The factor for the deadlines of cases and of the boot."""
    console: str
    channel: str
    channel_port: tuple[str, ...]
    """The arguments that connect the chardev `channel` to the second serial port."""
    image: str
    """The kernel image in a kernel tree. Its file name is its target of make."""
    image_format: str
    image_magic: bytes
    """The four bytes at offset 0x38 of an image of the format `Image`."""
    host_packages: tuple[str, ...]
    """The packages that the host needs for these guests."""
    suite: str | None
    """The release of the distribution that has the packages for guests; None for that of the host."""
    libraries: tuple[str, ...]
    """Libraries that the static libraries of that release need, and those of the host's release do not."""
    kernels: Mapping[str, KernelPackages]
    """The packages of the stock kernels, by their names in vm/kernels."""

    @property
    def compiler(self) -> str:
        """The prefix of the names of the distribution's cross compilers."""
        return f"{self.triple}-"


def read(path: pathlib.Path) -> Arch:
    """The architecture that a file describes. UserError if the file is malformed."""
    table = arch_file.read(path)
    processor, emulator, serial = table["processor"], table["emulator"], table["serial"]
    image, distribution = table["image"], table["distribution"]
    return Arch(
        name=path.stem,
        **processor,
        qemu=emulator["program"],
        qemu_package=emulator["package"],
        qemu_machine=emulator["machine"],
        cpu=emulator["cpu"],
        icount_smp=emulator["icount_smp"],
        icount=emulator.get("icount"),
        parameters=emulator.get("parameters", ""),
        no_pmu=emulator.get("no_pmu", ""),
        slowness=float(emulator.get("slowness", 1)),
        console=serial["console"],
        channel=serial["channel"],
        channel_port=tuple(serial["channel_port"]),
        image=image["file"],
        image_format=image["format"],
        image_magic=image.get("magic", "").encode("ascii"),
        host_packages=tuple(distribution["host_packages"]),
        suite=distribution.get("suite"),
        libraries=tuple(distribution.get("libraries", ())),
        kernels={
            name: KernelPackages(names["image"], names.get("headers"))
            for name, names in table["packages"].items()
        },
    )


ARCHES = {path.stem: read(path) for path in sorted(FOLDER.glob("*.toml"))}
"""All architectures by name."""
AMD64 = ARCHES["amd64"]
"""The default of all commands."""
ARM64 = ARCHES["arm64"]


def find(name: str) -> Arch:
    """The architecture called `name`."""
    if name not in ARCHES:
        raise UserError(f"unknown ARCH '{name}'; known: {', '.join(sorted(ARCHES))}")
    return ARCHES[name]


def host() -> Arch:
    """The architecture of this machine."""
    for arch in ARCHES.values():
        if arch.machine == platform.machine():
            return arch
    raise UserError(f"no guest can be prepared on a machine of type {platform.machine()}")


def foreign(arch: Arch) -> bool:
    """Whether programs of this architecture do not run on this machine."""
    return arch.machine != platform.machine()
