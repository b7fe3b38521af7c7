# SPDX-License-Identifier: Apache-2.0
"""Builds mutants one after the other in one folder, so that unchanged files are compiled once."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from faults import mutant_file
from faults.mutant_file import Mutant
from vm import module
from vm.kernel import Kernel


def restore(driver: Path, folder: Path) -> Path:
    """Makes `folder`/driver a copy of `driver`. An unchanged file keeps its time and its object file."""
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
    """Builds the module of a mutant, or of the driver, as `product`. PatchError or UserError if that fails."""
    product.unlink(missing_ok=True)
    copy = restore(driver, folder)
    if mutant is not None:
        mutant_file.apply(mutant, folder)
    made = copy / f"{module.NAME}.ko"
    made.unlink(missing_ok=True)
    try:
        module.make(kernel, copy)
    except BaseException:
        shutil.rmtree(folder)  # An incomplete build must not be reused.
        raise
    product.parent.mkdir(parents=True, exist_ok=True)
    os.replace(made, product)
    return product
