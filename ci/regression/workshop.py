# SPDX-License-Identifier: Apache-2.0
"""Builds kernels with a regression, one after the other in one tree, so that unchanged files are compiled once.

The tree has no other use. While it is patched, it has copies of the original files in the folder SAVED. A build starts
with these, so a killed run leaves no patch behind.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci.regression import recipes
from faults import mutant_file
from faults.mutant_file import PatchError
from faults.regression_file import Regression
from pmubase import store
from vm import kernel, module, tree
from vm.arch import Arch
from vm.kernel import Kernel

USE = "regressions"
SAVED = ".pmuconf-originals"
DRIVER = store.ROOT / "driver"


@dataclass(frozen=True)
class Built:
    """A kernel with or without a regression, and the modules for it, by name."""

    kernel: Kernel
    modules: Mapping[str, Path]


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
def patched(folder: Path, regression: Regression) -> Iterator[None]:
    """The tree in `folder` with a regression. PatchError if the patch does not apply."""
    with store.new_folder(folder / SAVED) as copies:
        for name in regression.files:
            if not (folder / name).is_file():
                raise PatchError(f"{regression.path}: does not apply: the kernel has no {name}")
            (copies / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, copies / name)
    try:
        mutant_file.apply_file(regression.path, folder)
        yield
    finally:
        restore(folder)


class Workshop:
    """The tree of one series and architecture, in which kernels are built."""

    def __init__(self, series: str, on: Arch, out: Path) -> None:
        """`out`: folder of images, modules and logs."""
        self._series = series
        self._out = out
        self._on = on
        self._name = recipes.kernel_name(series, on)
        self._how = recipes.recipe(on)

    def build(
        self, regression: Regression | None, modules: Sequence[str], clean: Built | None = None
    ) -> Built:
        """Builds the kernel with a regression, or without one. `modules`: the names of the modules to build for it.
        The modules of `clean` serve if the regression changes no header.

        PatchError if the patch does not apply, UserError if the kernel or a module does not build.
        """
        label = "clean" if regression is None else regression.path.stem
        folder = self._out / label
        with store.writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        log = folder / f"build-{self._name}.log"
        how = self._how
        with tree.opened(self._series, how.options, tree.cache(), log, USE, self._on) as opened:
            restore(opened.path)
            tree.update_sources(opened.path / tree.OVERLAY, tree.overlay(DRIVER, how.overlay))
            opened.configure(how.options)
            on = (
                contextlib.nullcontext() if regression is None else patched(opened.path, regression)
            )
            with on:
                opened.make(*how.make, opened.image_target, "modules")
                image = folder / f"{opened.image_target}-{self._name}"
                with store.writing(folder):
                    shutil.copyfile(opened.image, image)
                found = Kernel(
                    self._name,
                    kernel.image_release(image, self._on),
                    self._on,
                    image,
                    opened.path,
                    how.needs,
                )
                if clean is not None and regression is not None and not regression.changes_headers:
                    return Built(found, clean.modules)
                return Built(found, self._modules(found, modules, label))

    def _modules(self, found: Kernel, names: Sequence[str], label: str) -> dict[str, Path]:
        """Builds modules while the tree is in the state of `found`. Objects of another state are not reused."""
        folder = self._out / label / f"modules-{self._name}"
        shutil.rmtree(folder, ignore_errors=True)
        return {name: module.build(found, DRIVER, folder, name) for name in names}


def remove_image(built: Built) -> None:
    """Removes an image that no guest needs any more."""
    with contextlib.suppress(OSError):
        os.unlink(built.kernel.image)
