# SPDX-License-Identifier: Apache-2.0
"""Runs the kernel's make, without the variables of the make that may run this program."""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
from collections.abc import Sequence

from pmubase import store
from pmubase.errors import UserError

from . import arch
from .kernel import Kernel

# The compiler is this machine's, not the one that built the kernel. Old compilers lack that compiler's option.
WORDS = ("CC=$(CROSS_COMPILE)gcc", "CONFIG_CC_HAS_MIN_FUNCTION_ALIGNMENT=")


def make(words: Sequence[str], timeout_s: float, what: str) -> subprocess.CompletedProcess[str]:
    """Runs make with these words and returns both outputs as one. UserError at the deadline: `what` did not end."""
    # The flags and job server of an outer make are not valid for the kernel's make.
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    try:
        return subprocess.run(
            ["make", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout_s,
            env={**clean, "LC_ALL": "C"},
            check=False,
        )
    except FileNotFoundError:
        raise UserError("no program 'make' on this machine") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{what} did not end within {timeout_s} s") from None


def external(
    kernel: Kernel, folder: pathlib.Path, words: Sequence[str], timeout_s: float, what: str
) -> subprocess.CompletedProcess[str]:
    """Builds the modules in `folder` against a kernel that modules can be built for."""
    assert kernel.build is not None
    place = [
        *("-C", str(kernel.build)),
        f"M={folder.resolve()}",
        f"ARCH={kernel.arch.kbuild}",
        *([f"CROSS_COMPILE={kernel.arch.compiler}"] if arch.foreign(kernel.arch) else []),
        *WORDS,
    ]
    with store.locked(kernel.lock) if kernel.lock else contextlib.nullcontext():
        return make([*place, *words], timeout_s, what)
