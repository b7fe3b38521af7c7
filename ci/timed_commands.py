# SPDX-License-Identifier: Apache-2.0
"""Runs commands with a deadline. They also end when the program that started them asks for it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OVERDUE = 124
ENDED = 125


class Commands:
    """Commands that run concurrently. A thread waits for each of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._ended = False

    def run(
        self,
        command: Sequence[str],
        log: Path,
        deadline: float,
        environment: Mapping[str, str] | None = None,
        shown: Sequence[str] = (),
    ) -> int:
        """Runs one command in its own process group and appends its output to `log`.

        `environment` is added to the environment of this process. `shown` replaces `command` in the log.

        At the deadline the process group is killed, and the status is OVERDUE. After end() the status is ENDED, and the
        command does not start.
        """
        with log.open("ab") as out:
            out.write(f"$ {' '.join(shown or command)}\n".encode())
            out.flush()
            with self._lock:
                if self._ended:
                    return ENDED
                child = subprocess.Popen(
                    command,
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **(environment or {})},
                    start_new_session=True,
                )
                self._groups.add(child.pid)
            try:
                return child.wait(timeout=max(deadline - time.monotonic(), 1))
            except subprocess.TimeoutExpired:
                out.write(b"ended: over its budget\n")
                return OVERDUE
            finally:
                with self._lock:
                    self._groups.discard(child.pid)
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()

    def end(self) -> None:
        """Kills the running commands. No other command starts afterwards."""
        with self._lock:
            self._ended = True
            for group in self._groups:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
