# SPDX-License-Identifier: Apache-2.0
"""Reads the console of a guest, and detects crashes and stalls of its kernel."""

from __future__ import annotations

import pathlib
import re

from .qemu import CONSOLE_LIMIT

# Only lines of printk count (they have a time stamp), since a case may print any text.
PRINTK = re.compile(r"^(?:<\d+>)?\[ *\d+\.\d+\](?:\[[^\]]*\])? *(.*)$")
DEATHS = re.compile(
    r"Kernel panic - not syncing"
    r"|Oops(?: -|:)"
    r"|BUG: unable to handle"
    r"|BUG: kernel NULL pointer dereference"
    r"|kernel BUG at "
    r"|general protection fault(?!.* ip:)"
    r"|Unable to handle kernel "
    r"|Internal error: "
    r"|(?:double fault|stack segment|invalid opcode|divide error): \d{4}"
)
STALLS = re.compile(
    r"watchdog: BUG: soft lockup"
    r"|Watchdog detected hard LOCKUP"
    r"|rcu: INFO: rcu_\w+ (?:self-)?detected"
    r"|INFO: task .* blocked for more than"
)
LINE_LIMIT = 4096


class Console:
    """The console of one boot: its text, the first crash and the first stall."""

    def __init__(self) -> None:
        self.death = ""
        """The first line that reports a crash of the kernel; empty before that."""
        self.stall = ""
        """The first line that reports a hang. A slow host can also cause one."""
        self._log = bytearray()
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Adds bytes of the console."""
        self._log += data[: CONSOLE_LIMIT - len(self._log)]
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[:LINE_LIMIT]
        for line in lines:
            self._scan(printable(line[:LINE_LIMIT].decode("utf-8", "replace")))

    def save(self, path: pathlib.Path) -> None:
        """Appends the log of this boot to a file."""
        with path.open("ab") as file:
            file.write(self._log)

    def tail(self, lines: int = 12) -> str:
        """The last lines, safe to print on a terminal."""
        text = self._log[-lines * LINE_LIMIT :].decode("utf-8", "replace")
        kept = [printable(line) for line in text.splitlines() if line.strip()]
        return "\n".join(kept[-lines:])

    @property
    def length(self) -> int:
        """The current length of the console's text, as an argument for messages_since()."""
        return len(self._log)

    def messages_since(self, who: str, since: int) -> list[str]:
        """The kernel's messages about a module since then: lines without the module's name."""
        text = self._log[since:].decode("utf-8", "replace")
        matches = (PRINTK.match(printable(line)) for line in text.splitlines())
        lines = (match.group(1) for match in matches if match is not None)
        return [line.removeprefix(f"{who}: ") for line in lines if line.startswith(f"{who}: ")]

    def _scan(self, line: str) -> None:
        match = PRINTK.match(line)
        if match is None:
            return
        text = match.group(1)
        if not self.death and DEATHS.search(text):
            self.death = text
        if not self.stall and STALLS.search(text):
            self.stall = text


def printable(text: str) -> str:
    """Text of a guest without control characters for a terminal."""
    return "".join(c if c.isprintable() else " " for c in text).strip()
