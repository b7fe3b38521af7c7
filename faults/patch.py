# SPDX-License-Identifier: Apache-2.0
"""Applies the patch of a fault to a copy of the sources, and takes it back."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from faults.fault import Fault
from pmubase import store
from pmubase.errors import UserError

LIMIT_S = 60
SAVED = ".pmuconf-originals"
"""Folder in a patched copy with the original files, so that a killed run leaves no patch behind."""


def apply(fault: Fault, folder: Path) -> None:
    """Applies the patch in `folder`, without fuzz. UserError if it does not apply."""
    command = ["patch", "-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch", "-r", "-"]
    try:
        done = subprocess.run(
            [*command, "-d", str(folder), "-i", str(fault.path.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{fault.path}: program 'patch': {error}") from error
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "FAILED" in line or "can't" in line]
        why = (lines or done.stdout.splitlines() or ["no reason given"])[0].strip()
        raise UserError(f"{fault.path}: does not apply: {why}")


def restore(folder: Path) -> None:
    """Writes the original files back, if a patch was applied. They are then newer than their object files."""
    saved = folder / SAVED
    if not saved.is_dir():
        return
    for path in sorted(saved.rglob("*")):
        if path.is_file():
            store.write(folder / path.relative_to(saved), path.read_bytes())
    shutil.rmtree(saved)


@contextlib.contextmanager
def applied(fault: Fault, folder: Path) -> Iterator[None]:
    """The copy in `folder` has the patch while the context is entered. UserError if the patch does not apply."""
    with store.new_folder(folder / SAVED) as copies:
        for name in fault.files:
            if not (folder / name).is_file():
                raise UserError(f"{fault.path}: does not apply: there is no {name}")
            (copies / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, copies / name)
    try:
        apply(fault, folder)
        yield
    finally:
        restore(folder)
