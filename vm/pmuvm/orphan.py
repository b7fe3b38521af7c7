# SPDX-License-Identifier: Apache-2.0
"""No guest is left behind by a runner that is killed and cannot clean up."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def dies_with_parent() -> Callable[[], None]:
    """What a child does before it becomes a program: SIGKILL comes when its parent's thread ends."""
    parent = os.getpid()

    def bind() -> None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        # A parent that has ended before that sends nothing any more.
        if os.getppid() != parent:
            os._exit(1)

    return bind
