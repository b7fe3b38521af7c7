# SPDX-License-Identifier: Apache-2.0
"""The differences between the architectures of guests, one frozen dataclass for each."""

from __future__ import annotations

import dataclasses
import platform

from .errors import PmuvmError


@dataclasses.dataclass(frozen=True)
class Arch:
    """One guest architecture, under the name that Debian gives it."""

    name: str
    machine: str
    """As `uname -m` prints it."""
    kbuild: str
    """As the kernel's Makefile takes it in ARCH=."""
    compiler: str
    """The prefix of the names of the distribution's cross compilers."""
    qemu: str
    qemu_package: str
    qemu_machine: str
    cpu: dict[str, str]
    """CPU model by accelerator."""
    console: str
    channel: str
    channel_port: tuple[str, ...]
    """The arguments that connect the chardev `channel` to the second serial port."""
    icount_smp: bool
    """Whether more than one CPU comes up with a clock that counts instructions (`-icount`)."""


AMD64 = Arch(
    name="amd64",
    machine="x86_64",
    kbuild="x86",
    compiler="x86_64-linux-gnu-",
    qemu="qemu-system-x86_64",
    qemu_package="qemu-system-x86",
    qemu_machine="pc",
    # The guest must not see the PMU of a KVM host: the driver under test must have the only one.
    cpu={"tcg": "max", "tcg-multi": "max", "kvm": "max,pmu=off"},
    console="ttyS0",
    channel="ttyS1",
    channel_port=("-serial", "chardev:channel"),
    icount_smp=False,
)

ARM64 = Arch(
    name="arm64",
    machine="aarch64",
    kbuild="arm64",
    compiler="aarch64-linux-gnu-",
    qemu="qemu-system-aarch64",
    qemu_package="qemu-system-arm",
    qemu_machine="virt,gic-version=3",
    # `max` signs pointers, which takes an emulator most of its time. It has no PMU, for the same reason as above.
    cpu={"tcg": "cortex-a57,pmu=off", "tcg-multi": "cortex-a57,pmu=off", "kvm": "host,pmu=off"},
    console="ttyAMA0",
    channel="ttyS0",
    channel_port=("-device", "pci-serial,chardev=channel"),
    icount_smp=True,
)

ARCHES = {arch.name: arch for arch in (AMD64, ARM64)}


def find(name: str) -> Arch:
    """The architecture called `name`."""
    if name not in ARCHES:
        raise PmuvmError(f"unknown ARCH '{name}'; known: {', '.join(sorted(ARCHES))}")
    return ARCHES[name]


def host() -> Arch:
    """The architecture of this machine."""
    for arch in ARCHES.values():
        if arch.machine == platform.machine():
            return arch
    raise PmuvmError(f"no guest can be prepared on a machine of type {platform.machine()}")


def foreign(arch: Arch) -> bool:
    """Whether programs of this architecture do not run on this machine."""
    return arch.machine != platform.machine()
