# SPDX-License-Identifier: Apache-2.0
"""The QEMU process: its arguments, its two serial ports, its end. It is independent of Linux."""

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

from pmubase.errors import UserError

from . import orphan, work
from .arch import Arch
from .monitor import Monitor

# One thread for all CPUs. With one thread for each, a guest sometimes runs stale code while its kernel patches text
# (perf does that with the first event), and dies of an int3. On two cores this is not slower.
ACCELS = {"tcg": "tcg,thread=single", "tcg-multi": "tcg,thread=multi", "kvm": "kvm"}
KILL_TIMEOUT_S = 10
# The kernel polls its console and drops a character if the device stays busy. The device is busy while the other end is
# full. A socket holds only some hundred single characters, so text would be lost.
CONSOLE_PIPE_BYTES = 1 << 20
CONSOLE_LIMIT = 8 << 20
"""Maximum number of console bytes: a guest must not fill the host's memory."""

PAGE_BYTES = 16384
"""The size of the page of work, in a memory file that ends with QEMU."""

PASSED_AS = "opt/pmuvm/handed"
PASSED_FILE = f"/sys/firmware/qemu_fw_cfg/by_name/{PASSED_AS}/raw"
"""The path of the passed file in the guest's sysfs. Linux reads it one byte at a time, so it must be small."""

Port = socket.socket | io.FileIO
"""The host's end of a serial port. The channel is bidirectional; the console is only read."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """The configuration of one virtual machine."""

    arch: Arch
    kernel: pathlib.Path
    initrd: pathlib.Path | None
    cpus: int = 2
    memory_mb: int = 512
    accel: str = "tcg"
    cmdline: str = ""
    cpu: str | None = None
    """A processor model of QEMU, instead of the accelerator's default."""
    state: pathlib.Path | None = None
    """A state that `Qemu.save` wrote of the same machine; `restore` continues from there."""
    handed: pathlib.Path | None = None
    """A file of the host that the guest may read as PASSED_FILE after it loads the kernel module for that."""
    ram: pathlib.Path | None = None
    """A file that has the guest's memory. After the guest's death its content can still be read."""
    icount: int | None = None
    """If given, an instruction takes 2^icount ns of guest time, independent of the host. It needs emulation, and one
    CPU if the architecture has no `icount_smp`."""
    work: tuple[str, ...] = ()
    """Events that `plugin` counts and the guest reads from a PCI device (vm/tcg/)."""
    more: tuple[str, ...] = ()
    """More arguments of QEMU: devices (vm/devices/), and those of the user."""
    plugin: pathlib.Path | None = None


def board(machine: Machine) -> list[str]:
    """The arguments that determine the board, its processors and its memory."""
    arch = machine.arch
    kind = arch.qemu_machine if machine.ram is None else f"{arch.qemu_machine},memory-backend=ram"
    return [
        *("-machine", kind),
        *("-cpu", machine.cpu or arch.cpu[machine.accel]),
        *("-smp", str(machine.cpus)),
        *("-m", str(machine.memory_mb)),
    ]


def argv(
    machine: Machine,
    console_fd: int,
    channel_fd: int,
    monitor_fd: int,
    page_fd: int = -1,
) -> list[str]:
    """The command line of QEMU: no network, no disk, no host folder; only open files."""
    arch = machine.arch
    initrd = [] if machine.initrd is None else ["-initrd", str(machine.initrd)]
    incoming = [] if machine.state is None else ["-incoming", "defer", "-S"]
    handed = [] if machine.handed is None else ["-fw_cfg", _fw_cfg_options(machine.handed)]
    return [
        arch.qemu,
        *board(machine),
        *([] if machine.ram is None else ["-object", _ram(machine.ram, machine.memory_mb)]),
        *("-accel", ACCELS[machine.accel]),
        *([] if machine.icount is None else ["-icount", f"shift={machine.icount},sleep=off"]),
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
        *([] if machine.plugin is None else _work(machine, machine.plugin, page_fd)),
        *machine.more,
        *incoming,
    ]


def _ram(file: pathlib.Path, size_mb: int) -> str:
    path = str(file).replace(",", ",,")
    return f"memory-backend-file,id=ram,size={size_mb}M,share=on,mem-path={path}"


def _work(machine: Machine, plugin: pathlib.Path, page_fd: int) -> list[str]:
    """The plugin that counts work, and the device that shows its page to the guest. The page is saved with a state, so
    the counts continue in a restored machine."""
    page = f"/proc/self/fd/{page_fd}"
    options = {
        "page": page,
        **work.words(machine.work),
        # One CPU allows inline operations, which are faster than callbacks.
        "cpus": "shared" if machine.cpus == 1 else "each",
        **({} if machine.icount is None else {"icount": str(machine.icount)}),
    }
    words = [str(plugin).replace(",", ",,"), *(f"{key}={value}" for key, value in options.items())]
    backend = f"memory-backend-file,id=work,share=on,size={PAGE_BYTES},mem-path={page}"
    return [
        *("-plugin", ",".join(words)),
        *("-object", backend),
        *("-device", "ivshmem-plain,memdev=work,master=on"),
    ]


def _fw_cfg_options(file: pathlib.Path) -> str:
    path = str(file).replace(",", ",,")
    return f"name={PASSED_AS},file={path}"


class Qemu:
    """A running machine. As a context manager it ends with the block."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        reader, writer = os.pipe()
        self.console, self._console_far = io.FileIO(reader), io.FileIO(writer, "w")
        # The limit may be smaller here. A small pipe also works while the host reads it.
        with contextlib.suppress(OSError):
            fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, CONSOLE_PIPE_BYTES)
        self.channel, self._channel_far = socket.socketpair()
        self._monitor, self._monitor_far = socket.socketpair()

    def __enter__(self) -> Qemu:
        self._errors = tempfile.TemporaryFile()
        far: tuple[Port, ...] = (self._console_far, self._channel_far, self._monitor_far)
        if self._machine.plugin is not None:
            far = (*far, _memory_file())
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
            raise UserError(
                f"no program '{arguments[0]}' on this machine (package {package})"
            ) from None
        # Only QEMU may hold the other ends, since otherwise its end would not be detected.
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
        """Kills the process at once, without saving data of the guest."""
        if self._process is not None and self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(KILL_TIMEOUT_S)

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, or None if QEMU still runs after `timeout_s`."""
        assert self._process is not None
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def save(self, file: pathlib.Path, deadline_s: float) -> None:
        """Stops the machine and writes its state to `file`. UserError if that fails."""
        Monitor(self._monitor, deadline_s).save(file)

    def restore(self, deadline_s: float) -> None:
        """Starts a machine that has a state. UserError if that fails."""
        assert self._machine.state is not None
        Monitor(self._monitor, deadline_s).restore(self._machine.state)

    def complaint(self) -> str:
        """The error output of QEMU itself in one line; usually empty."""
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
    """The end of a machine that nobody controlled."""

    exited: bool
    """False: the machine still ran at the deadline and was killed."""
    console: bytes
    complaint: str


def run_to_end(machine: Machine, deadline_s: float, log: pathlib.Path | None = None) -> End:
    """Boots a machine and collects its console until it powers off or the deadline is over."""
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


def _memory_file() -> io.FileIO:
    """A file without a name, for the page of work."""
    file = io.FileIO(os.memfd_create("work"), "r+")
    os.ftruncate(file.fileno(), PAGE_BYTES)
    return file


def receive(port: Port) -> bytes | None:
    """Reads the available bytes of a serial port: None if there are none, empty if QEMU has closed it."""
    try:
        return os.read(port.fileno(), 65536)
    except BlockingIOError:
        return None
    except ConnectionError:
        return b""
