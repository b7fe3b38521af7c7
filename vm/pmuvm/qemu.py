# SPDX-License-Identifier: Apache-2.0
"""The QEMU process: its arguments, its two serial ports, its end. Knows nothing of Linux."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import io
import os
import pathlib
import selectors
import signal
import socket
import subprocess
import tempfile
import time
from types import TracebackType
from typing import IO

from pmuvm import orphan
from pmuvm.arch import Arch
from pmuvm.errors import PmuvmError
from pmuvm.monitor import Monitor

# One thread for all CPUs: with one each, a guest now and then runs stale code while its kernel patches
# text (perf does so with the first event), and dies of an int3. It costs nothing on two cores.
ACCELS = {"tcg": "tcg,thread=single", "tcg-multi": "tcg,thread=multi", "kvm": "kvm"}
KILL_TIMEOUT_S = 10
# The kernel polls its console and gives a character up when the device stays busy, as it is while
# the far end is full: a socket, which holds some hundred of single characters, would lose text.
CONSOLE_PIPE_BYTES = 1 << 20
CONSOLE_LIMIT = 8 << 20
"""Bytes of console that are kept; a guest that floods it must not fill the host."""

HANDED_AS = "opt/pmuvm/handed"
HANDED = f"/sys/firmware/qemu_fw_cfg/by_name/{HANDED_AS}/raw"
"""Where Linux shows the file that a machine was handed; it reads a byte at a time, so a small one."""

Port = socket.socket | io.FileIO
"""The host's end of a serial port: the channel goes both ways, the console is only read."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """One virtual machine, off."""

    arch: Arch
    kernel: pathlib.Path
    initrd: pathlib.Path | None
    cpus: int = 2
    memory_mb: int = 512
    accel: str = "tcg"
    cmdline: str = ""
    cpu: str | None = None
    """A processor of QEMU's, instead of the accelerator's usual one."""
    state: pathlib.Path | None = None
    """What `Qemu.save` wrote of the same machine: `restore` goes on from there."""
    handed: pathlib.Path | None = None
    """A file of the host that the guest may read as HANDED once it has the module for that."""
    ram: pathlib.Path | None = None
    """A file to have the guest's memory in: who comes after the guest's death finds it as it was."""
    icount: int | None = None
    """If given, time is what is executed: an instruction takes 2^icount ns, whatever the host does.
    Emulated, and for one CPU where the architecture has no `icount_smp`."""


def argv(
    machine: Machine,
    console_fd: int,
    channel_fd: int,
    monitor_fd: int,
) -> list[str]:
    """The command line: no network, no disk, no host folder; all that it speaks to are open files."""
    arch = machine.arch
    initrd = [] if machine.initrd is None else ["-initrd", str(machine.initrd)]
    incoming = [] if machine.state is None else ["-incoming", "defer", "-S"]
    handed = [] if machine.handed is None else ["-fw_cfg", _handing(machine.handed)]
    kind = arch.qemu_machine if machine.ram is None else f"{arch.qemu_machine},memory-backend=ram"
    return [
        arch.qemu,
        *("-machine", kind),
        *([] if machine.ram is None else ["-object", _ram(machine.ram, machine.memory_mb)]),
        *("-accel", ACCELS[machine.accel]),
        *([] if machine.icount is None else ["-icount", f"shift={machine.icount},sleep=off"]),
        *("-cpu", machine.cpu or arch.cpu[machine.accel]),
        *("-smp", str(machine.cpus)),
        *("-m", str(machine.memory_mb)),
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none", "-nic", "none"),
        *("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"),
        *("-add-fd", f"fd={console_fd},set=1"),
        *("-chardev", "file,id=console,path=/dev/fdset/1,append=on"),
        *("-chardev", f"socket,id=channel,fd={channel_fd}"),
        *("-serial", "chardev:console", *arch.channel_port),
        *("-chardev", f"socket,id=monitor,fd={monitor_fd}"),
        *("-mon", "chardev=monitor,mode=control"),
        *("-kernel", str(machine.kernel)),
        *initrd,
        *("-append", machine.cmdline),
        *handed,
        *incoming,
    ]


def _ram(file: pathlib.Path, size_mb: int) -> str:
    path = str(file).replace(",", ",,")
    return f"memory-backend-file,id=ram,size={size_mb}M,share=on,mem-path={path}"


def _handing(file: pathlib.Path) -> str:
    path = str(file).replace(",", ",,")
    return f"name={HANDED_AS},file={path}"


class Qemu:
    """A running machine. As a context manager it never outlives the block."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        reader, writer = os.pipe()
        self.console, self._console_far = io.FileIO(reader), io.FileIO(writer, "w")
        # Not allowed everywhere; a smaller pipe is no worse while somebody reads.
        with contextlib.suppress(OSError):
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, CONSOLE_PIPE_BYTES)
        self.channel, self._channel_far = socket.socketpair()
        self._monitor, self._monitor_far = socket.socketpair()

    def __enter__(self) -> Qemu:
        self._errors = tempfile.TemporaryFile()
        far: tuple[Port, ...] = (self._console_far, self._channel_far, self._monitor_far)
        fds = [end.fileno() for end in far]
        arguments = argv(self._machine, *fds)
        try:
            self._process = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
                pass_fds=fds,
                start_new_session=True,
                preexec_fn=orphan.dies_with_parent(),
                env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"},
            )
        except FileNotFoundError:
            self._close()
            package = self._machine.arch.qemu_package
            raise PmuvmError(
                f"no program '{arguments[0]}' on this machine (package {package})"
            ) from None
        # Only QEMU may hold the far ends, or its end would not be seen.
        for end in far:
            end.close()
        os.set_blocking(self.console.fileno(), False)
        self.channel.setblocking(False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()
        self._close()

    def kill(self) -> None:
        """End the process now; nothing of the guest is worth saving."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(KILL_TIMEOUT_S)

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, or None if it still runs after `timeout_s`."""
        assert self._process is not None
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def save(self, file: pathlib.Path, deadline_s: float) -> None:
        """Stop the machine and write its state to `file`; PmuvmError if it cannot be done."""
        Monitor(self._monitor, deadline_s).save(file)

    def restore(self, deadline_s: float) -> None:
        """Start a machine that has a state; PmuvmError if it cannot be done."""
        assert self._machine.state is not None
        Monitor(self._monitor, deadline_s).restore(self._machine.state)

    def complaint(self) -> str:
        """What QEMU itself said, in one line; empty most of the time."""
        if self._errors is None:
            return ""
        self._errors.seek(0)
        text = self._errors.read(4096).decode("utf-8", "replace")
        return " ".join(text.split())

    def _close(self) -> None:
        ends: tuple[Port, ...] = (self.console, self.channel, self._monitor)
        for end in (*ends, self._console_far, self._channel_far, self._monitor_far):
            end.close()
        if self._errors is not None:
            self._errors.close()
            self._errors = None


@dataclasses.dataclass(frozen=True)
class End:
    """How a machine that was left alone ended."""

    exited: bool
    """False: it still ran at the deadline and was killed."""
    console: bytes
    complaint: str


def run_to_end(machine: Machine, deadline_s: float, log: pathlib.Path | None = None) -> End:
    """Boot a machine that needs nobody, collect its console until it powers off or is late."""
    console = bytearray()
    until = time.monotonic() + deadline_s
    with Qemu(machine) as qemu, selectors.DefaultSelector() as selector:
        selector.register(qemu.console, selectors.EVENT_READ)
        selector.register(qemu.channel, selectors.EVENT_READ)
        exited = False
        while not exited and (left := until - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                data = receive(qemu.console if key.fileobj is qemu.console else qemu.channel)
                if key.fileobj is qemu.console:
                    exited = data == b""
                    console += (data or b"")[: CONSOLE_LIMIT - len(console)]
                elif data == b"":
                    selector.unregister(key.fileobj)
        if exited:
            exited = qemu.wait(max(until - time.monotonic(), 1)) is not None
        qemu.kill()
        complaint = qemu.complaint()
    if log is not None:
        log.write_bytes(console)
    return End(exited, bytes(console), complaint)


def receive(port: Port) -> bytes | None:
    """What lies in a serial port now: None if nothing, empty if QEMU has closed it."""
    try:
        return os.read(port.fileno(), 65536)
    except BlockingIOError:
        return None
    except ConnectionError:
        return b""
