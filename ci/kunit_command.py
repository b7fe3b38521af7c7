# SPDX-License-Identifier: Apache-2.0
"""Runs kunit.pmukunit for the programs of ci/ that need a kernel with the driver built in."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from pmubase import store
from pmubase.errors import UserError


def run(words: Sequence[str], limit_s: float, late: str) -> tuple[int, str]:
    """Returns the status and the last line of stderr. UserError(`late`) at the time limit."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "kunit.pmukunit", *words],
            cwd=store.ROOT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{late} after {limit_s:.0f} s") from error
    errors = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
    return done.returncode, errors[-1]
