# SPDX-License-Identifier: Apache-2.0
"""Kernel C: warnings of W=1 and sparse on each stock kernel, and checkpatch --strict."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError
from vm import kbuild, packages, source
from vm import kernel as kernels

KERNEL_FOLDERS = (
    "driver/core_pmu",
    "driver/uncore",
    "driver/trace",
    "driver/port",
    "driver/compat",
    "driver/core",
    "driver/model",
    "driver/msr",
    "driver/swinc",
    "driver/devmsr",
    "driver/include",
    "kunit",
    "tools/watch/types",
    "docs/tutorial",
)
MODULES = ("driver", "tools/watch/types", "docs/tutorial")
# The pure code also compiles in userspace: fixed-width types from stdint.h, and no kernel macros.
# FILE_PATH_CHANGES is about patches; the SPDX line of the uapi header names an exception.
SCRIPTS = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
IGNORED = "FILE_PATH_CHANGES,SPDX_LICENSE_TAG,MACRO_ARG_REUSE,PREFER_KERNEL_TYPES"


def build(root: Path, line: str) -> list[str]:
    """The warnings of gcc (W=1) and sparse (C=2) about the modules on kernel `line`."""
    try:
        kernel = kernels.find(line)
    except UserError as error:
        return [str(error)]
    return [text for folder in MODULES for text in _build(root, folder, kernel)]


def _build(root: Path, folder: str, kernel: kernels.Kernel) -> list[str]:
    work = root / "build" / "lint" / f"kernel-{kernel.name}" / folder
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(root / folder, work)
    done = subprocess.run(
        [
            "make",
            "-j2",
            "-C",
            str(kernel.build),
            f"M={work}",
            *kbuild.WORDS,
            "W=1",
            "C=2",
            "KCFLAGS=-Werror",
        ]
        + ["CONFIG_DEBUG_INFO_BTF_MODULES="],
        env={k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    output = (done.stdout + done.stderr).splitlines()
    found = [text for text in output if "warning:" in text or "error:" in text]
    return found or ([] if done.returncode == 0 else output[-20:])


def checkpatch_script() -> Path:
    """Extracts checkpatch.pl and its word lists from the kernel's source package."""
    cache = store.cache() / "kunit"
    package = source.ensure("6.12", cache)
    folder = store.cache() / "checkpatch" / package.stem
    with store.locked(folder.parent / ".lock"), store.writing(folder.parent):
        if not folder.is_dir():
            with store.new_folder(folder) as scratch:
                (scratch / "deb").mkdir()
                packages.unpack(package, scratch / "deb")
                (tarball,) = (scratch / "deb").glob("usr/src/linux-source-*.tar.xz")
                names = [f"*/scripts/{name}" for name in SCRIPTS]
                command = ["tar", "-xJf", str(tarball), "--strip-components=2", "--wildcards"]
                packages.run([*command, *names], f"unpack {tarball.name}", scratch)
                shutil.rmtree(scratch / "deb")
    return folder / "checkpatch.pl"


def checkpatch(root: Path, files: list[Path]) -> list[str]:
    """The findings of checkpatch --strict, from the kernel's own source, in the kernel C."""
    components = tuple(root / component for component in KERNEL_FOLDERS)
    sources = [
        str(file.relative_to(root))
        for file in files
        if file.suffix in {".c", ".h"}
        and (
            file.parent == root / "driver"
            or any(component in file.parents for component in components)
        )
    ]
    try:
        script = checkpatch_script()
    except UserError as error:
        return [str(error)]
    done = subprocess.run(
        ["perl", str(script), "--no-tree", "--strict", "--terse", "--no-summary"]
        + ["--quiet", "--max-line-length=100", "--ignore", IGNORED, "-f", *sources],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stdout + done.stderr).splitlines()
