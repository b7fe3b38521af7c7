# SPDX-License-Identifier: Apache-2.0
"""Reads what kmemleak says of memory that nothing points to any more, and whose it was."""

from __future__ import annotations

import bisect
import dataclasses
import pathlib
import re
from collections.abc import Mapping
from typing import TypeVar

from pmuvm import store

SCRIPT = store.ROOT / "vm" / "guest" / "leaks"
"""Scans in a guest, and prints what it found; status 0 if it could."""
FILES: Mapping[str, pathlib.Path] = {"bin/leaks": SCRIPT}
"""The script's place, for an image."""
DONE = "pmuvm-leaks-scanned"
"""What the guest says on its console when the script could."""
# Two scans of all memory, and the 5 s that an object must be old. By the guest's clock, which runs
# fifteen times too fast where a busy host kept the guest from measuring it well.
SCAN_S = 120

_OBJECT = re.compile(r"unreferenced object (0x[0-9a-f]+) \(size (\d+)\):")
_OWNER = re.compile(r'comm "(.*)", pid (\d+), jiffies')
_FRAME = re.compile(r"(?:\[<[^>]+>\] )?([A-Za-z_][\w.]*)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[\w+\])?")
# Where memory comes from says nothing: the first that do are those who asked for it.
_ALLOCATORS = re.compile(r"_*(k[mzcv]+alloc|kmem_cache_|slab_|alloc_pages|kmemleak_|vmalloc|kstr)")
# Before there are threads, and so before any driver: ACPI loses some of its own there on 6.1.
START = "start_kernel"
# What a scan says in the kernel log. The list says which they are, and whose.
COUNTED = "new suspected memory leaks"
KERNEL_THREADS = ("kthread", "worker_thread", "smpboot_thread_fn")
FRAMES_SHOWN = 5

Owner = TypeVar("Owner")


@dataclasses.dataclass(frozen=True)
class Leak:
    """An object that was allocated, and is lost."""

    address: str
    size: int
    comm: str
    pid: int
    """The thread that allocated it; 0 in an interrupt."""
    frames: tuple[str, ...]
    """The functions that led there, the innermost first; not those of an unloaded module."""

    def __str__(self) -> str:
        asked = [frame for frame in self.frames if not _ALLOCATORS.match(frame)]
        way = ", ".join(asked[:FRAMES_SHOWN]) or "functions that are gone"
        return f'kmemleak: {self.size} bytes lost by "{self.comm}" ({self.pid}) in {way}'


def parse(text: str) -> list[Leak]:
    """The leaks of a listing of kmemleak, or of a console with one, but for those of START."""
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


def whose(leak: Leak, begun: Mapping[int, Owner]) -> Owner | None:
    """Who allocated it, of those that ran one after the other, each by the pid it began with.

    None for memory of a thread of the kernel or of an interrupt, and for what is older than all.
    Later processes have larger pids: the guest's init sets a limit that no run comes to.
    """
    pids = sorted(pid for pid in begun if pid)
    at = bisect.bisect_right(pids, leak.pid)
    of_kernel = leak.pid == 0 or any(frame in KERNEL_THREADS for frame in leak.frames)
    return begun[pids[at - 1]] if at and not of_kernel else None
