# SPDX-License-Identifier: Apache-2.0
"""A board for tests: a shell of this machine behind a serial port, which is a pseudo-terminal."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import subprocess
import threading
import tty
from collections.abc import Iterator
from pathlib import Path

STUBS = ("dmesg",)
"""labgrid changes the log level of the console. A test must not change that of this machine."""


@contextlib.contextmanager
def board(folder: Path, prompt: str) -> Iterator[str]:
    """The path of the serial port of a board whose shell has the prompt `prompt`."""
    for name in STUBS:
        stub = folder / name
        stub.write_text("#!/bin/sh\n", encoding="utf-8")
        stub.chmod(0o755)
    settings = folder / "bashrc"
    settings.write_text(f"PS1='{prompt}'\n", encoding="utf-8")
    near, port = pty.openpty()
    tty.setraw(port)
    far, terminal = pty.openpty()
    stop, stopper = os.pipe()
    environment = {"TERM": "dumb", "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder)}
    shell = subprocess.Popen(
        ["bash", "--noprofile", "--rcfile", str(settings), "-i"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=folder,
        env=environment,
        start_new_session=True,
    )
    wire = threading.Thread(target=_relay, args=(near, far, stop))
    wire.start()
    try:
        yield os.ttyname(port)
    finally:
        os.close(stopper)
        wire.join()
        shell.kill()
        shell.wait()
        for descriptor in (near, port, far, terminal, stop):
            os.close(descriptor)


def _relay(near: int, far: int, stop: int) -> None:
    other = {near: far, far: near}
    while True:
        ready, _, _ = select.select([near, far, stop], [], [])
        if stop in ready:
            return
        for descriptor in ready:
            os.write(other[descriptor], os.read(descriptor, 4096))
