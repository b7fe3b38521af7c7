# SPDX-License-Identifier: Apache-2.0
"""Kills a guest when its runner is killed."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def dies_with_parent() -> Callable[[], None]:
    """A hook for a child before exec: the kernel sends it SIGKILL when its parent's thread ends."""
    parent = os.getpid()

    def bind() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # If the parent has already ended, the signal never comes.
        if os.getppid() != parent:
            os._exit(1)

    return bind
