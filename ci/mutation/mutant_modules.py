# SPDX-License-Identifier: Apache-2.0
"""Builds variants of the driver's module for tests: mutants, and one that probes cannot attach to. Builds are cached."""

from __future__ import annotations

import pathlib
import subprocess

from ci.mutation import workshop
from faults import mutant_file
from faults.mutant_file import Mutant
from pmubase import store
from vm import module
from vm.kernel import Kernel

DRIVER = store.ROOT / "driver"
OUT = store.ROOT / "build" / "broken"
OBJCOPY_S = 60
PLACES = "__mcount_loc"
"""The section that lists the call sites of ftrace, which a probe of a function needs."""


def mutant_module(name: str, found: Kernel) -> pathlib.Path:
    """The module of a mutant in driver/mutants."""
    known = {each.id: each for each in mutant_file.collect(DRIVER / "mutants")[0]}
    return _built(known[name], found)


def faulty_module(path: pathlib.Path, found: Kernel) -> pathlib.Path:
    """The module with the patch of a seeded fault, which has the header of a mutant."""
    return _built(mutant_file.read(path), found)


def _built(mutant: Mutant, found: Kernel) -> pathlib.Path:
    """The module of a mutant. Files that mutants share are compiled once."""
    folder = OUT / found.release
    product, stamp = folder / mutant.id / "refpmu.ko", folder / mutant.id / "key"
    with store.locked(folder / ".lock"):
        copy = workshop.restore(DRIVER, folder / "shop")
        sources = [
            path.read_bytes()
            for path in sorted(copy.rglob("*"))
            if path.suffix in (".c", ".h", ".S", "") and path.is_file()
            if (DRIVER / path.relative_to(copy)).is_file()
        ]
        key = store.digest([str(found.build).encode(), mutant.path.read_bytes(), *sources])
        if not (product.is_file() and stamp.is_file() and stamp.read_text("ascii") == key):
            workshop.build(mutant, found, DRIVER, folder / "shop", product)
            store.write(stamp, key.encode())
    return product


def module_without_probes(found: Kernel, folder: pathlib.Path) -> pathlib.Path:
    """The unmodified module, except that the kernel can put no kprobe on its functions."""
    built = module.build(found, DRIVER, module.default_out(found))
    product = folder / built.name
    words = ["objcopy", f"--remove-section={PLACES}", f"--remove-section=.rela{PLACES}"]
    subprocess.run([*words, str(built), str(product)], check=True, timeout=OBJCOPY_S)
    return product
