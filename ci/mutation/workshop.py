# SPDX-License-Identifier: Apache-2.0
"""A folder in which mutants are built one after the other: what they share is compiled once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pmuvm import module
from pmuvm.kernel import Kernel

from mutation import patch
from mutation.patch import Mutant


def restore(driver: Path, folder: Path) -> Path:
    """`folder`/driver is as `driver` is; what is as it was keeps its age, and what was made of it."""
    copy = folder / "driver"
    copy.mkdir(parents=True, exist_ok=True)
    for name in module.SOURCES:
        for path in sorted((copy / name).rglob("*.[chS]")):
            ours = driver / path.relative_to(copy)
            if not ours.exists() and not path.name.endswith(".mod.c"):
                path.unlink()
    module.copy_sources(driver, copy)
    return copy


def build(mutant: Mutant | None, kernel: Kernel, driver: Path, folder: Path, product: Path) -> Path:
    """The mutant's module, as `product`, or the driver's; PatchError or PmuvmError if there is none."""
    product.unlink(missing_ok=True)
    copy = restore(driver, folder)
    if mutant is not None:
        patch.apply(mutant, folder)
    made = copy / f"{module.NAME}.ko"
    made.unlink(missing_ok=True)
    try:
        module.make(kernel, copy)
    except BaseException:
        shutil.rmtree(folder)  # half a build is nothing to go on with
        raise
    product.parent.mkdir(parents=True, exist_ok=True)
    os.replace(made, product)
    return product
