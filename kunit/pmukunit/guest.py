# SPDX-License-Identifier: GPL-2.0-only
"""Boots a kernel whose suites run by themselves, once, and returns what its console said."""

import time
from dataclasses import dataclass
from pathlib import Path

from pmuvm import arch, qemu

# A triple fault ends the guest: the small configuration has no ACPI to power off with.
COMMAND_LINE = "console=ttyS0 reboot=t oops=panic panic=-1 kunit_shutdown=reboot"


@dataclass(frozen=True)
class Boot:
    """One boot: its console, how long it took, and why it ended early ("" if it did not)."""

    console: bytes
    duration_s: float
    cut: str


def boot(kernel: Path, glob: str, deadline_s: float, log: Path) -> Boot:
    """Boots @kernel with the suites that @glob (of kunit.filter_glob, "" for all) selects."""
    line = COMMAND_LINE + (f" kunit.filter_glob={glob}" if glob else "")
    machine = qemu.Machine(arch=arch.AMD64, kernel=kernel, initrd=None, cmdline=line)
    started = time.monotonic()
    end = qemu.run_to_end(machine, deadline_s, log)
    cut = "" if end.exited else f"the guest was not done after {deadline_s:.0f} s"
    # Before the first line of the kernel, QEMU's own words say more than the silence does.
    if not cut and not end.console:
        cut = f"QEMU: {end.complaint or 'the guest said nothing'}"
    return Boot(end.console, time.monotonic() - started, cut)
