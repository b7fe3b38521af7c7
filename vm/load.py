# SPDX-License-Identifier: Apache-2.0
"""A guest in use: other tasks run at the same time as the cases."""

from __future__ import annotations

import pathlib

from pmubase.errors import UserError

from . import PACKAGE, arch, image

SCRIPT = PACKAGE / "initrd" / "load"
PROGRAM = "stress-ng"
SLOWNESS = 4.0
"""Factor for the deadlines of the cases."""


def files(of: arch.Arch) -> dict[str, pathlib.Path]:
    """The files (for image.Contents.files) of a guest in use. UserError if this machine's stress-ng does not run
    there."""
    if arch.foreign(of):
        raise UserError(f"--load needs the architecture of this machine, not {of.name}")
    return {**image.with_program(PROGRAM), "bin/load": SCRIPT}
