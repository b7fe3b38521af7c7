# SPDX-License-Identifier: Apache-2.0
"""Generates BTF for a kernel without it, as docs/watch.md describes."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

from pmubase import store
from vm import kbuild
from vm.kernel import Kernel

TYPES = store.ROOT / "tools/watch/types"
TIMEOUT_S = 300


def of(kernel: Kernel, folder: pathlib.Path) -> pathlib.Path:
    """Generates a file of BTF in the new folder `folder`, for a kernel that modules can be built for."""
    shutil.copytree(TYPES, folder)
    made = kbuild.external(kernel, folder, (), TIMEOUT_S, "the build of the types")
    assert made.returncode == 0, made.stdout
    btf = folder / "types.btf"
    argv = ["pahole", f"--btf_encode_detached={btf}", str(folder / "types.o")]
    subprocess.run(argv, check=True, timeout=TIMEOUT_S)
    return btf
