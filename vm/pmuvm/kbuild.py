# SPDX-License-Identifier: Apache-2.0
"""The kernel's make, from outside of whatever make runs us."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from pmuvm.errors import PmuvmError


def make(words: Sequence[str], timeout_s: float, what: str) -> subprocess.CompletedProcess[str]:
    """Runs make with these words; both outputs in one. PmuvmError if it does not end: `what`."""
    # The flags and job server of an outer make are not for the kernel's.
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
        raise PmuvmError("no program 'make' on this machine") from None
    except subprocess.TimeoutExpired:
        raise PmuvmError(f"{what} did not end within {timeout_s} s") from None
