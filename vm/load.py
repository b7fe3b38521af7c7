# SPDX-License-Identifier: Apache-2.0
"""A guest in use: other tasks run at the same time as the cases."""

from __future__ import annotations

import pathlib

from . import arch, image, store
from .errors import PmuvmError

SCRIPT = store.PACKAGE / "initrd" / "load"
PROGRAM = "stress-ng"
SLOWNESS = 4.0
"""Factor for the deadlines of the cases."""


def files(of: arch.Arch) -> dict[str, pathlib.Path]:
    """The files (for image.Contents.files) of a guest in use. PmuvmError if this machine's stress-ng does not run
    there."""
    if arch.foreign(of):
        raise PmuvmError(f"--load needs the architecture of this machine, not {of.name}")
    return {**image.with_program(PROGRAM), "bin/load": SCRIPT}
