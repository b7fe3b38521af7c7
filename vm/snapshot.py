# SPDX-License-Identifier: Apache-2.0
"""Snapshots of booted guests in the cache. A run with a snapshot does not boot."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import shutil
import zlib

from pmubase import store
from pmubase.errors import UserError

from . import accel, guest, qemu, session

KEPT_DAYS = 7.0
KEPT_BYTES = 2 << 30
PART_DAYS = 1.0
"""An incomplete file of this age has no writer any more."""
REFUSED = "refused"
"""Marks a machine that QEMU cannot save or restore."""


def key(machine: qemu.Machine) -> str:
    """A digest of all that affects a guest's state after its boot. The name of its image is a digest of the content."""
    assert machine.initrd is not None
    found = shutil.which(machine.arch.qemu)
    emulator = pathlib.Path(found).resolve() if found else pathlib.Path(machine.arch.qemu)
    version = ""
    with contextlib.suppress(OSError):
        version = f"{emulator.stat().st_size} {emulator.stat().st_mtime_ns}"
    off = dataclasses.replace(machine, state=None, handed=None)
    plugin = b"" if machine.plugin is None else machine.plugin.read_bytes()
    words = [*qemu.argv(off, 0, 0, 0), guest.command_line(off), str(emulator), version]
    # The guest has calibrated its clock with the host's, which may differ after a reboot of the host.
    words.append(accel.BOOT_ID.read_text("ascii"))
    try:
        return store.digest(
            [machine.kernel.read_bytes(), plugin, *(word.encode() for word in words)]
        )
    except OSError as error:
        raise UserError(f"cannot read {machine.kernel}: {error.strerror}") from error


def find(of: str) -> pathlib.Path | None:
    """The snapshot with a key, if it exists and is intact. A damaged one is removed."""
    for path in _folder().glob(f"{of}-*.state"):
        try:
            if path.stem.rpartition("-")[2] == checksum(path):
                os.utime(path)
                return path
        except OSError:
            continue  # Another process may remove it at the same time.
        remove(path)
    return None


def remove(path: pathlib.Path) -> None:
    """Removes a snapshot, so that no run starts from it."""
    for file in (path, console(path)):
        with contextlib.suppress(OSError):
            file.unlink()


def console(path: pathlib.Path) -> pathlib.Path:
    """The file with the console text of a snapshot's guest."""
    return path.with_suffix(".log")


def wanted(of: str) -> bool:
    """Whether an earlier run asked for this snapshot. A guest that runs only once is not worth saving."""
    mark = _folder() / f"{of}.seen"
    if mark.is_file():
        return mark.read_text("ascii") != REFUSED
    store.write(mark, b"")
    store.prune(mark.parent, "*.seen", KEPT_DAYS, KEPT_BYTES)
    return False


def refuse(of: str) -> None:
    """Marks the snapshot, so that no run makes it again."""
    store.write(_folder() / f"{of}.seen", REFUSED.encode())


def make(of: str, plan: session.Plan) -> pathlib.Path | None:
    """Boots a guest of `plan`, which loads no module, and saves it. None if that fails, or if another process is making
    the same snapshot."""
    folder = _folder()
    part = folder / f".{of}.part"
    with store.locked_now(folder / f".{of}.lock") as held:
        if not held:
            return None
        log = part.with_suffix(".part.log")
        try:
            with session.Session(plan, log, lambda _: None) as guests:
                guests.save(part)
            path = folder / f"{of}-{checksum(part)}.state"
            with store.writing(folder):
                os.replace(log, console(path))
                os.replace(part, path)
        except UserError:
            refuse(of)
            return None
        finally:
            for file in (part, log):
                file.unlink(missing_ok=True)
    for pattern, days in (("*.state", KEPT_DAYS), ("*.log", KEPT_DAYS), (".*.part*", PART_DAYS)):
        store.prune(folder, pattern, days, KEPT_BYTES)
    return path


def _folder() -> pathlib.Path:
    return store.cache() / "states"


def checksum(path: pathlib.Path) -> str:
    """A checksum against accidents: a full disk, a truncated file."""
    total = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            total = zlib.crc32(block, total)
    return f"{total:08x}"
