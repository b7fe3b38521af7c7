# SPDX-License-Identifier: Apache-2.0
"""Selects the accelerator: KVM if a tiny guest boots on it, else TCG."""

from __future__ import annotations

import json
import os
import pathlib

from pmubase import store
from pmubase.errors import UserError

from . import PACKAGE, arch, image, qemu
from .kernel import Kernel

PROBE_S = 5.0
MARK = b"pmuvm: this guest runs"
PROBE_INIT = PACKAGE / "initrd" / "probe"
DEVICE = pathlib.Path("/dev/kvm")
BOOT_ID = pathlib.Path("/proc/sys/kernel/random/boot_id")


def choose(kernel: Kernel, *, emulated: bool = False) -> str:
    """A key of qemu.ACCELS. KVM is not used if `emulated`. The result of the probe is cached until the host reboots."""
    forced = os.environ.get("PMUCONF_ACCEL", "")
    if forced:
        if forced not in qemu.ACCELS:
            known = ", ".join(qemu.ACCELS)
            raise UserError(f"unknown PMUCONF_ACCEL '{forced}'; known: {known}")
        return forced
    if emulated or arch.foreign(kernel.arch) or not os.access(DEVICE, os.R_OK | os.W_OK):
        return "tcg"
    answers = store.cache() / "accel.json"
    key = f"{BOOT_ID.read_text('ascii').strip()} {kernel.release}"
    with store.locked(store.cache() / ".accel.lock"):
        try:
            known_key, answer = json.loads(answers.read_text("ascii"))
        except (OSError, ValueError):
            known_key, answer = "", ""
        if known_key != key or answer not in qemu.ACCELS:
            answer = "kvm" if probe(kernel, deadline_s=PROBE_S) else "tcg"
            store.write(answers, json.dumps([key, answer]).encode())
    return str(answer)


def probe(kernel: Kernel, accel: str = "kvm", *, deadline_s: float) -> bool:
    """Whether a tiny guest prints its message before the deadline."""
    packed = image.build(image.Contents(init=PROBE_INIT, arch=kernel.arch))
    console = kernel.arch.console
    machine = qemu.Machine(
        arch=kernel.arch,
        kernel=kernel.image,
        initrd=packed,
        accel=accel,
        cmdline=f"console={console} rdinit=/init panic=-1 quiet {kernel.arch.parameters}".strip(),
    )
    return MARK in qemu.run_to_end(machine, deadline_s).console
