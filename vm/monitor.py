# SPDX-License-Identifier: Apache-2.0
"""QEMU's monitor (QMP): saves and restores the state of a machine."""

from __future__ import annotations

import array
import contextlib
import json
import pathlib
import socket
import time
from collections.abc import Iterator
from typing import Any

from pmubase.errors import UserError

_STATE = "state"
"""The monitor's name for the file."""


class Monitor:
    """The connection to one machine's monitor."""

    def __init__(self, port: socket.socket, deadline_s: float) -> None:
        """Negotiates the capabilities. This and later methods raise UserError if QEMU refuses, is gone, or does not
        answer."""
        self._port = port
        self._rest = b""
        self._until = time.monotonic() + deadline_s
        self._wait("QMP")
        self.do("qmp_capabilities")

    def do(self, command: str, *files: int, **arguments: Any) -> None:
        """Runs one command. `files` are open files to pass to QEMU."""
        line = json.dumps({"execute": command, "arguments": arguments}).encode()
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
        self._port.settimeout(self._remaining_s())
        with self._answer_expected(command):
            self._port.sendmsg([line], ancillary if files else [])
        self._wait("return")

    def save(self, file: pathlib.Path) -> None:
        """Writes the state of the machine to `file`. The machine is stopped then."""
        self._ask_for_events()
        # The default limits the speed to that of a network.
        self.do("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
        with file.open("wb") as out:
            self.do("getfd", out.fileno(), fdname=_STATE)
        self.do("migrate", uri=f"fd:{_STATE}")
        self._wait_for("completed")

    def restore(self, file: pathlib.Path) -> None:
        """Restores a waiting machine from `file`. The machine runs then."""
        self._ask_for_events()
        with file.open("rb") as state:
            self.do("getfd", state.fileno(), fdname=_STATE)
        self.do("migrate-incoming", uri=f"fd:{_STATE}")
        self._wait_for("completed")
        # The ports are connected to the machine only after its state is restored.
        self.do("cont")

    def _ask_for_events(self) -> None:
        self.do("migrate-set-capabilities", capabilities=[{"capability": "events", "state": True}])

    def _wait_for(self, wanted: str) -> None:
        status = ""
        while status != wanted:
            event = self._wait("event")
            status = event["data"]["status"] if event["event"] == "MIGRATION" else status
            if status in ("failed", "cancelled"):
                raise UserError(f"QEMU cannot save or restore its state: {status}")

    def _wait(self, key: str) -> dict[str, Any]:
        """The next message that has `key`. Skips events that come before an answer."""
        while True:
            line, end, rest = self._rest.partition(b"\n")
            if end:
                self._rest = rest
                message = json.loads(line)
                if "error" in message:
                    raise UserError(f"QEMU: {message['error']['desc']}")
                if key in message:
                    return dict(message)
                continue
            self._port.settimeout(self._remaining_s())
            with self._answer_expected(key):
                data = self._port.recv(65536)
            if not data:
                raise UserError("QEMU ended")
            self._rest += data

    def _remaining_s(self) -> float:
        return max(self._until - time.monotonic(), 0.001)

    @contextlib.contextmanager
    def _answer_expected(self, what: str) -> Iterator[None]:
        try:
            yield
        except TimeoutError:
            raise UserError(f"QEMU's monitor does not answer: {what}") from None
        except ConnectionError:
            raise UserError("QEMU ended") from None
