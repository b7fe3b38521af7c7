# SPDX-License-Identifier: Apache-2.0
"""What differs between the architectures of guests: one frozen dataclass each."""

from __future__ import annotations

import dataclasses

from pmuvm.errors import PmuvmError


@dataclasses.dataclass(frozen=True)
class Arch:
    """One guest architecture, under the name that Debian gives it."""

    name: str
    machine: str
    """As `uname -m` prints it."""
    kbuild: str
    """As the kernel's Makefile takes it in ARCH=."""
    qemu: str
    qemu_machine: str
    cpu: dict[str, str]
    """CPU model by accelerator."""
    console: str
    channel: str


AMD64 = Arch(
    name="amd64",
    machine="x86_64",
    kbuild="x86",
    qemu="qemu-system-x86_64",
    qemu_machine="pc",
    # The PMU of a KVM host must not show: the driver under test is to be the only one.
    cpu={"tcg": "max", "tcg-multi": "max", "kvm": "max,pmu=off"},
    console="ttyS0",
    channel="ttyS1",
)

ARCHES = {arch.name: arch for arch in (AMD64,)}


def find(name: str) -> Arch:
    """The architecture called `name`."""
    if name not in ARCHES:
        raise PmuvmError(f"unknown ARCH '{name}'; known: {', '.join(sorted(ARCHES))}")
    return ARCHES[name]
