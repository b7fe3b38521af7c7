# SPDX-License-Identifier: GPL-2.0-only
"""Boots a kernel that runs its suites by itself, once, and returns the console output."""

import contextlib
import fcntl
import os
import selectors
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pmubase import store
from pmubase.errors import UserError
from vm import image, kernel, leaks, orphan, qemu
from vm.arch import AMD64

# reboot=t ends the guest by a triple fault, without a shutdown.
# no_timer_check: on a busy host the emulated timer may miss the few ticks of the kernel's check.
# There the kernel may also measure its TSC ten times too slow, and report RCU stalls too early.
COMMAND_LINE = (
    "console=ttyS0 reboot=t oops=panic panic=-1 no_timer_check"
    " rcupdate.rcu_cpu_stall_timeout=300"
)

# The kernel polls its console, and drops a character if the device stays busy. The device is busy
# while its reader's buffer is full. A socket buffers only some hundred single characters, so it
# would lose text on a loaded host. A pipe of this size can buffer the whole console output.
PIPE_BYTES = 1 << 20

CONSOLE_LIMIT = 8 << 20
END_DEADLINE_S = 30
INIT = store.ROOT / "vm" / "initrd" / "init-kunit"


@dataclass(frozen=True)
class Machine:
    """The guest of a kernel, and its kernel parameters."""

    memory_mb: int = 512
    parameters: tuple[str, ...] = ("kunit_shutdown=reboot",)
    """Additional kernel parameters."""
    initrd: Path | None = None
    slowness: float = 1.0


PLAIN = Machine()


def debug(needs: kernel.Needs) -> Machine:
    """Returns a machine whose init scans for memory leaks after the suites and ends the guest."""
    packed = image.build(image.Contents(init=INIT, files=leaks.FILES))
    words = ("rdinit=/init", *needs.parameters.split())
    return Machine(needs.memory_mb, words, packed, needs.slowness)


@dataclass(frozen=True)
class Boot:
    """Result of a boot: console output, duration, and why it ended early ("" if it did not)."""

    console: bytes
    duration_s: float
    cut: str


def boot(built: Path, glob: str, deadline_s: float, log: Path, machine: Machine = PLAIN) -> Boot:
    """Boots @built with the suites that @glob (of kunit.filter_glob, "" for all) selects."""
    started = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = _start(built, machine, glob, errors)
        assert process.stdout is not None
        with process.stdout as pipe:
            try:
                console, cut = _listen(pipe, started + deadline_s)
                if not cut:
                    process.wait(END_DEADLINE_S)
            except subprocess.TimeoutExpired:
                cut = "QEMU closed the console and did not end"
            finally:
                process.kill()
                process.wait()
        errors.seek(0)
        complaint = " ".join(errors.read(4096).decode("utf-8", "replace").split())
    store.write(log, console)
    if not cut and process.returncode != 0:
        cut = f"QEMU ended with status {process.returncode}: {complaint}"
    return Boot(console, time.monotonic() - started, cut)


def _start(built: Path, machine: Machine, glob: str, errors: IO[bytes]) -> subprocess.Popen[bytes]:
    words = [COMMAND_LINE, *([f"kunit.filter_glob={glob}"] if glob else []), *machine.parameters]
    argv = [
        *(AMD64.qemu, "-machine", AMD64.qemu_machine),
        *("-accel", qemu.ACCELS["tcg"], "-cpu", AMD64.cpu["tcg"], "-smp", "2"),
        *("-m", str(machine.memory_mb)),
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none", "-nic", "none", "-serial", "stdio"),
        *("-kernel", str(built)),
        *(("-initrd", str(machine.initrd)) if machine.initrd else ()),
        *("-append", " ".join(words)),
    ]
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            bufsize=0,
            preexec_fn=orphan.dies_with_parent(),
        )
    except FileNotFoundError:
        raise UserError(f"no program '{AMD64.qemu}' on this machine") from None
    assert process.stdout is not None
    # Not allowed on every host; a smaller pipe is enough while this process reads it.
    with contextlib.suppress(OSError):
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return process


def _listen(pipe: IO[bytes], until: float) -> tuple[bytes, str]:
    """Returns the console output, and the reason if it is incomplete, else ""."""
    console = bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            if not selector.select(left):
                continue
            piece = os.read(pipe.fileno(), 65536)
            if not piece:
                return bytes(console), ""
            console += piece
            if len(console) > CONSOLE_LIMIT:
                return bytes(console), f"the guest flooded its console: {CONSOLE_LIMIT} bytes"
    return bytes(console), "the guest was not done at its deadline"
