# SPDX-License-Identifier: Apache-2.0
"""One boot of a guest: its states, its deadlines, and its commands."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import enum
import gzip
import io
import json
import os
import pathlib
import selectors
import shlex
import socket
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from pmubase.errors import UserError

from . import channel, qemu
from .channel import Message
from .console import Console

BOOT_S = 120.0
ANSWER_S = 60.0
"""Deadline of commands that do no work of their own."""
SAVE_S = 60.0
"""Deadline to save or restore a state of some hundred megabytes."""
LAST_WORDS_S = 3.0
"""Time in which a dying guest may complete its log."""
CASE_MARGIN_S = 20.0
"""Time in addition to the deadline that the agent itself enforces."""

PIECE = 32 << 10
"""Bytes of a file in one message."""

CASES_LOG = "PMUCONF_CASES_LOG"
"""Environment variable with a file that receives the ids of the cases that guests run. ALL_CASES: any case may have
run."""
ALL_CASES = "*"

FW_CFG_MODULE = "qemu_fw_cfg"
"""The kernel module through which a guest reads the file that QEMU passes to it."""

PLATFORM = "/sys/bus/platform"

# A slow host must not look like a hang of the guest.
CMDLINE = (
    "console={console} rdinit=/init panic=-1 printk.time=1 printk.devkmsg=on loglevel=6"
    " watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=120"
)


def command_line(machine: qemu.Machine) -> str:
    """The command line of the kernel of a guest."""
    arch = machine.arch
    of_arch = arch.parameters if machine.cpu else f"{arch.parameters} {arch.no_pmu}"
    words = f"{CMDLINE.format(console=arch.console)} {of_arch} {machine.cmdline}"
    return " ".join(words.split())


class State(enum.Enum):
    """The state of a guest. PANICKED and LOST are final."""

    OFF = "off"
    BOOTING = "booting"
    READY = "ready"
    RUNNING = "running"
    DONE = "done"
    PANICKED = "panicked"
    LOST = "lost"


class GuestLost(Exception):
    """The guest is gone. `verdict` is the result of the running case, `cause` the first cause."""

    def __init__(self, verdict: str, cause: str, tail: str = "") -> None:
        super().__init__(cause)
        self.verdict = verdict
        self.cause = cause
        self.tail = tail
        """The end of the console."""


class ModuleRefused(Exception):
    """The guest's kernel did not load a module, or did not unload it."""


@dataclasses.dataclass(frozen=True)
class Done:
    """The exit of a program in the guest. After a signal the status is 128 + its number."""

    status: int
    stdout: str
    stderr: str


class Guest:
    """A guest from power on to power off. As a context manager it powers off at the end of the block."""

    def __init__(self, machine: qemu.Machine, log: pathlib.Path | None = None) -> None:
        self._qemu = qemu.Qemu(dataclasses.replace(machine, cmdline=command_line(machine)))
        self._log = log
        self._selector = selectors.DefaultSelector()
        self._open: set[qemu.Port] = set()
        self._channel = channel.Channel()
        self._messages: list[Message] = []
        self._lost: GuestLost | None = None
        self.console = Console()
        self.state = State.OFF

    def __enter__(self) -> Guest:
        self._qemu.__enter__()
        ports: tuple[qemu.Port, ...] = (self._qemu.console, self._qemu.channel)
        for port in ports:
            self._selector.register(port, selectors.EVENT_READ)
            self._open.add(port)
        self.state = State.BOOTING
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._selector.close()
        self._qemu.__exit__(kind, error, trace)
        if self._log is not None:
            with contextlib.suppress(OSError):
                self.console.save(self._log)

    def boot(self, deadline_s: float = BOOT_S) -> Message:
        """Waits for the agent's hello."""
        hello = self._expect("hello", deadline_s, "boot")
        self.state = State.READY
        return hello

    def resume(self, console_text: bytes = b"") -> None:
        """Continues the guest whose saved state the machine has. Its agent sent hello before the state was saved.

        `console_text`: the console until then.
        """
        self.console.feed(console_text)
        self._qemu.restore(SAVE_S)
        self.state = State.READY

    def save(self, file: pathlib.Path) -> None:
        """Stops the guest and writes its state to `file`. It answers no commands afterwards. UserError if QEMU cannot
        save it."""
        self._qemu.save(file, SAVE_S)

    def store_passed_file(self, file: str) -> None:
        """Decompresses the file that QEMU passes to the guest, and stores it as /modules/FILE."""
        self.load(f"{FW_CFG_MODULE}.ko")
        done = self.exec(["sh", "-c", f"zcat <{qemu.PASSED_FILE} >{_words([file])}"])
        if done.status != 0:
            raise UserError(f"the guest cannot store {file}: {done.stderr.strip()}")
        self.unload(FW_CFG_MODULE)

    def load(self, file: str, parameters: Sequence[str] = ()) -> None:
        """Loads /modules/FILE with words PARAM=VALUE. ModuleRefused with the kernel's reason."""
        before = self.console.length
        try:
            self._ask(f"load {_words([file, *parameters])}", "load", ANSWER_S)
        except ModuleRefused as refused:
            # The errno is not specific; most modules print the reason on the console.
            reasons = self.console.messages_since(pathlib.PurePath(file).stem, before)
            raise ModuleRefused(": ".join([str(refused), *reasons[-1:]])) from None

    def unload(self, name: str) -> Message:
        """Unloads a module and returns the whole answer, since a refusal is a result and not an error."""
        self._send(f"unload {_words([name])}")
        return self._expect("unload", ANSWER_S, "unload")

    def case(
        self,
        case_id: str,
        deadline_s: int,
        started: Callable[[], None] | None = None,
        lie: str = "",
    ) -> Message:
        """Runs one case and returns its result. `lie`: a file in the guest with the lie that the case receives."""
        _note_case(case_id)
        what = f"case {case_id}"
        limit = deadline_s + CASE_MARGIN_S
        until = time.monotonic() + limit
        words = [case_id, str(deadline_s), *([lie] if lie else [])]
        self._send(f"case {_words(words)}")
        self.state = State.RUNNING
        for kind in ("start", "result"):
            message = self._expect(kind, until - time.monotonic(), what)
            if message["id"] != case_id:
                raise self._lose("BROKEN", f"answered with another case than {case_id}")
            if kind == "start" and started is not None:
                started()
        self.state = State.READY
        return message

    def kmsg(self) -> Message:
        """The kernel's complaints since boot."""
        self._send("kmsg")
        return self._expect("kmsg", ANSWER_S, "kmsg")

    def exec(self, argv: Sequence[str], deadline_s: int = 60) -> Done:
        """Runs a program in the guest."""
        if {"run", "case"} & set(argv):
            _note_case(ALL_CASES)  # The program may run any case.
        self._send(f"exec {deadline_s} {json.dumps(list(argv))}")
        answer = self._expect("exec", deadline_s + CASE_MARGIN_S, f"exec {argv[0]}")
        return Done(answer["status"], answer["stdout"], answer["stderr"])

    def put(self, path: str, text: str) -> None:
        """Writes a small file in the guest."""
        done = self.exec(["sh", "-c", 'printf %s "$1" >"$2"', "sh", text, path])
        if done.status != 0:
            raise UserError(f"the guest cannot write {path}: {done.stderr.strip()}")

    def get(self, path: str, deadline_s: int = 60) -> bytes:
        """Reads a file of the guest, in pieces that fit into the messages of the channel."""

        def ask(script: str) -> str:
            done = self.exec(["sh", "-c", script, "sh", path], deadline_s)
            if done.status != 0:
                raise UserError(f"the guest cannot send {path}: {done.stderr.strip()}")
            return done.stdout

        size = int(ask('gzip -c "$1" | base64 -w0 >/tmp/sent && wc -c </tmp/sent'))
        pieces = range(-(-size // PIECE))
        text = [ask(f"dd if=/tmp/sent bs={PIECE} skip={n} count=1 2>/dev/null") for n in pieces]
        return gzip.decompress(base64.b64decode("".join(text)))

    def bind(self, device: str, driver: str) -> None:
        """Gives a device of the platform bus a driver that does not find it by itself."""
        self.put(f"{PLATFORM}/devices/{device}/driver_override", driver)
        self.put(f"{PLATFORM}/drivers_probe", device)

    def bye(self) -> None:
        """Sends bye and waits for the power-off."""
        self._send("bye")
        self._expect("bye", ANSWER_S, "bye")
        until = time.monotonic() + ANSWER_S
        while self._open:
            left = until - time.monotonic()
            if left <= 0:
                raise self._lose("TIMEOUT", f"did not power off within {ANSWER_S:.0f} s")
            self._read_ports(left)
        self.state = State.DONE

    def _ask(self, command: str, kind: str, deadline_s: float) -> None:
        self._send(command)
        answer = self._expect(kind, deadline_s, command)
        if not answer["ok"]:
            raise ModuleRefused(answer.get("error") or "no reason given")

    def _send(self, command: str) -> None:
        self._check()
        if "\n" in command or len(command) >= channel.LINE_LIMIT:
            raise UserError("a command to the guest is one line of at most 64 KiB")
        rest = memoryview(f"{command}\n".encode())
        until = time.monotonic() + ANSWER_S
        while rest:
            try:
                rest = rest[self._qemu.channel.send(rest) :]
            except BlockingIOError:
                left = until - time.monotonic()
                if left <= 0:
                    raise self._lose("TIMEOUT", "accepts no more commands") from None
                with selectors.DefaultSelector() as writable:
                    writable.register(self._qemu.channel, selectors.EVENT_WRITE)
                    writable.select(left)
            except OSError:
                raise self._lose("CRASH", "QEMU ended") from None

    def _expect(self, kind: str, deadline_s: float, what: str) -> Message:
        self._check()
        until = time.monotonic() + deadline_s
        while not self._messages:
            if self.console.death:
                raise self._die()
            if not self._open:
                raise self._end(what)
            left = until - time.monotonic()
            if left <= 0:
                stall = f" ({self.console.stall})" if self.console.stall else ""
                raise self._lose("TIMEOUT", f"no answer to '{what}' in time{stall}")
            self._read_ports(left)
        # The console may already report a crash although the agent still answered.
        self._read_ports(0)
        if self.console.death:
            raise self._die()
        message = self._messages.pop(0)
        if message["t"] == "error":
            raise self._lose("BROKEN", f"refused '{what}': {message['message'][:200]}")
        if message["t"] != kind:
            raise self._lose("BROKEN", f"answered '{message['t']}' to '{what}'")
        return message

    def _read_ports(self, timeout_s: float) -> None:
        """Reads both ports. All waiting happens here."""
        for key, _ in self._selector.select(timeout_s):
            port = key.fileobj
            assert isinstance(port, (socket.socket, io.FileIO))
            data = qemu.receive(port)
            if data is None:
                continue
            if not data:
                self._selector.unregister(port)
                self._open.discard(port)
            elif port is self._qemu.console:
                self.console.feed(data)
            else:
                try:
                    self._messages += self._channel.feed(data)
                except channel.BadLine as error:
                    raise self._lose("BROKEN", f"violated the protocol: {error}") from None

    def _check(self) -> None:
        if self._lost is not None:
            raise self._lost

    def _die(self) -> GuestLost:
        until = time.monotonic() + LAST_WORDS_S
        while self._open and (left := until - time.monotonic()) > 0:
            with contextlib.suppress(GuestLost):
                self._read_ports(left)
        return self._lose("CRASH", self.console.death, State.PANICKED)

    def _end(self, what: str) -> GuestLost:
        complaint = self._qemu.complaint()
        cause = f"QEMU: {complaint}" if complaint else f"powered off during '{what}'"
        return self._lose("CRASH", cause)

    def _lose(self, verdict: str, cause: str, state: State = State.LOST) -> GuestLost:
        if self._lost is None:
            self.state = state
            self._lost = GuestLost(verdict, cause, self.console.tail())
        return self._lost


def _note_case(case_id: str) -> None:
    """Appends the case to the file for ci.remember, since the case is an input of this process. A case of another program
    is not: that program is an input itself."""
    log = os.environ.get(CASES_LOG)
    if log and "PMUCONF_BINARY" not in os.environ:
        with open(log, "a", encoding="utf-8") as file:
            file.write(f"{case_id}\n")


def _words(words: Sequence[str]) -> str:
    for word in words:
        if not word or word != shlex.quote(word).strip("'") or any(c.isspace() for c in word):
            raise UserError(f"'{word}' cannot be sent to a guest: it has a space or a quote")
    return " ".join(words)
