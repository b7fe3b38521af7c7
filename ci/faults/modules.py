# SPDX-License-Identifier: Apache-2.0
"""Builds variants of the driver's module: with a fault, or such that probes cannot attach to it.

Builds follow each other in one folder, so that unchanged files are compiled once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from faults import fault as fault_file
from faults import patch
from faults.fault import Fault
from pmubase import store
from vm import module
from vm.kernel import Kernel

DRIVER = store.ROOT / "driver"
OUT = store.ROOT / "build" / "broken"
OBJCOPY_S = 60
PLACES = "__mcount_loc"
"""The section that lists the call sites of ftrace, which a probe of a function needs."""


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


def build(fault: Fault | None, kernel: Kernel, driver: Path, folder: Path, product: Path) -> Path:
    """Builds the module with a fault, or without one, as `product`. UserError if that fails."""
    product.unlink(missing_ok=True)
    copy = restore(driver, folder)
    if fault is not None:
        patch.apply(fault, folder)
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


def faulty_module(name: str, found: Kernel) -> Path:
    """The module with the fault `name`, for tests. Builds are cached."""
    fault = fault_file.find(name)
    folder = OUT / found.release
    product, stamp = folder / fault.name / "refpmu.ko", folder / fault.name / "key"
    with store.locked(folder / ".lock"):
        copy = restore(DRIVER, folder / "shop")
        sources = [
            path.read_bytes()
            for path in sorted(copy.rglob("*"))
            if path.suffix in (".c", ".h", ".S", "") and path.is_file()
            if (DRIVER / path.relative_to(copy)).is_file()
        ]
        key = store.digest([str(found.build).encode(), fault.path.read_bytes(), *sources])
        if not (product.is_file() and stamp.is_file() and stamp.read_text("ascii") == key):
            build(fault, found, DRIVER, folder / "shop", product)
            store.write(stamp, key.encode())
    return product


def module_without_probes(found: Kernel, folder: Path) -> Path:
    """The unmodified module, except that the kernel can put no kprobe on its functions."""
    built = module.build(found, DRIVER, module.default_out(found))
    product = folder / built.name
    words = ["objcopy", f"--remove-section={PLACES}", f"--remove-section=.rela{PLACES}"]
    subprocess.run([*words, str(built), str(product)], check=True, timeout=OBJCOPY_S)
    return product
