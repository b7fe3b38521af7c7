# SPDX-License-Identifier: Apache-2.0
"""Parses the memory leaks that kmemleak reports, and assigns them to processes."""

from __future__ import annotations

import bisect
import dataclasses
import pathlib
import re
from collections.abc import Mapping
from typing import TypeVar

from . import PACKAGE

SCRIPT = PACKAGE / "initrd" / "leaks"
"""Scans for leaks in a guest and prints them. Status 0 if the scan worked."""
FILES: Mapping[str, pathlib.Path] = {"bin/leaks": SCRIPT}
"""The script's path in an image."""
DONE = "pmuvm-leaks-scanned"
"""The line on the guest's console after a successful scan."""
# Two scans of all memory, and the 5 s that an object must be old. The guest's clock measures the time. It runs fifteen
# times too fast if a busy host disturbed the clock's calibration.
SCAN_S = 120

_OBJECT = re.compile(r"unreferenced object (0x[0-9a-f]+) \(size (\d+)\):")
_OWNER = re.compile(r'comm "(.*)", pid (\d+), jiffies')
_FRAME = re.compile(r"(?:\[<[^>]+>\] )?([A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[\w+\])?")
# Allocation functions are not informative: the first other functions are those that requested the memory.
_ALLOCATORS = re.compile(r"_*(k[mzcv]+alloc|kmem_cache_|slab_|alloc_pages|kmemleak_|vmalloc|kstr)")
# Allocations before the first thread, and so before any driver. ACPI leaks some of its own there on 6.1.
START = "start_kernel"
# The message of a scan in the kernel log. The listing has the details and the owners.
COUNTED = "new suspected memory leaks"
KERNEL_THREADS = ("kthread", "worker_thread", "smpboot_thread_fn")
FRAMES_SHOWN = 5

Owner = TypeVar("Owner")


@dataclasses.dataclass(frozen=True)
class Leak:
    """An object that was allocated and can no longer be reached."""

    address: str
    size: int
    comm: str
    pid: int
    """The thread that allocated it; 0 in an interrupt."""
    frames: tuple[str, ...]
    """The call chain, the innermost function first, without functions of an unloaded module."""

    def __str__(self) -> str:
        asked = [frame for frame in self.frames if not _ALLOCATORS.match(frame)]
        way = ", ".join(asked[:FRAMES_SHOWN]) or "functions that are unloaded"
        return f'kmemleak: {self.size} bytes leaked by "{self.comm}" ({self.pid}) in {way}'


def parse(text: str) -> list[Leak]:
    """The leaks in a listing of kmemleak, or in a console with one, except those of START."""
    found: list[Leak] = []
    for line in text.splitlines():
        if match := _OBJECT.search(line):
            found.append(Leak(match[1], int(match[2]), "", 0, ()))
        elif not found:
            continue
        elif match := _OWNER.search(line):
            found[-1] = dataclasses.replace(found[-1], comm=match[1], pid=int(match[2]))
        elif match := _FRAME.fullmatch(line.strip()):
            frames = (*found[-1].frames, match[1])
            found[-1] = dataclasses.replace(found[-1], frames=frames)
    return [leak for leak in found if START not in leak.frames]


def owner_of(leak: Leak, begun: Mapping[int, Owner]) -> Owner | None:
    """The owner of a leak. `begun` has the owners, which ran one after the other, by the first pid of each.

    None for memory of a kernel thread or an interrupt, and for leaks that are older than all owners. Later processes
    have larger pids: the guest's init sets a limit that no run reaches.
    """
    pids = sorted(pid for pid in begun if pid)
    at = bisect.bisect_right(pids, leak.pid)
    of_kernel = leak.pid == 0 or any(frame in KERNEL_THREADS for frame in leak.frames)
    return begun[pids[at - 1]] if at and not of_kernel else None
