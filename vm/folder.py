# SPDX-License-Identifier: Apache-2.0
"""Builds the modules of any folder with a Kbuild file against a kernel's headers."""

from __future__ import annotations

import os
import pathlib
import shutil

from pmubase import store
from pmubase.errors import UserError

from . import kbuild
from .kernel import Kernel

TIMEOUT_S = 600
LOG_LINES = 15
PRODUCTS = ("*.ko", "*.o", "*.cmd", "*.mod", "*.mod.c", "modules.order", "Module.symvers")
"""Files of an earlier build in the folder itself."""
WORDS = (
    # Type information of a module would need pahole.
    "CONFIG_DEBUG_INFO_BTF_MODULES=",
    "modules",
)


def default_out(kernel: Kernel, source: pathlib.Path) -> pathlib.Path:
    """The folder of the modules of `source` in the checkout."""
    return store.ROOT / "build" / "modules" / kernel.release / source.resolve().name


def build(kernel: Kernel, source: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
    """Builds all modules of `source` in a new copy of it, and returns them in the order of their names, in `out`.

    UserError, with the end of the log, if the build fails or makes no module; `out` then has no module.
    """
    if kernel.build is None:
        raise UserError(f"no headers for kernel {kernel.name}: build the modules in its tree")
    if not (source / "Kbuild").is_file() and not (source / "Makefile").is_file():
        raise UserError(f"{source} has no file Kbuild or Makefile")
    if any(c.isspace() for c in f"{out.resolve()}{kernel.build}"):
        raise UserError(f"the kernel's build system accepts no path with a space: {out.resolve()}")
    if out.resolve().is_relative_to(source.resolve()):
        raise UserError(f"{out} is in {source}, which would be copied into itself")
    copy = out / ".copy"
    with store.locked(out.parent / f".{out.name}.lock"), store.writing(out):
        for product in out.glob("*.ko"):
            product.unlink()
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*PRODUCTS))
        words = (f"-j{os.cpu_count() or 1}", *WORDS)
        done = kbuild.external(kernel, copy, words, TIMEOUT_S, f"the build of {source}")
        found = sorted(copy.rglob("*.ko"))
        if done.returncode != 0 or not found:
            why = "could not build" if done.returncode != 0 else "no module comes from"
            raise UserError(
                f"{why} {source} for {kernel.release}",
                details="\n".join(done.stdout.splitlines()[-LOG_LINES:]),
            )
        return [file.replace(out / file.name) for file in found]
