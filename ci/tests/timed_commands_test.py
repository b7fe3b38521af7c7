# SPDX-License-Identifier: Apache-2.0
"""Commands end at their deadline or on request, and none starts after that."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from ci.timed_commands import ENDED, OVERDUE, Commands

FOREVER = ("tail", "-f", "/dev/null")


def test_command_has_its_status_and_its_output_is_logged(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert Commands().run(("sh", "-c", "echo said; exit 3"), log, time.monotonic() + 60) == 3
    assert log.read_text(encoding="utf-8") == "$ sh -c echo said; exit 3\nsaid\n"


def test_a_command_ends_at_its_deadline(tmp_path: Path) -> None:
    assert Commands().run(FOREVER, tmp_path / "log", time.monotonic()) == OVERDUE
    assert "over its budget" in (tmp_path / "log").read_text(encoding="utf-8")


def test_end_kills_running_commands_and_none_starts_afterwards(tmp_path: Path) -> None:
    commands = Commands()
    log = tmp_path / "log"
    deadline = time.monotonic() + 600
    status = []
    waiting = threading.Thread(target=lambda: status.append(commands.run(FOREVER, log, deadline)))
    waiting.start()
    commands.end()
    waiting.join(60)
    # The request may come before the command starts or while it runs.
    assert status and status[0] in (-9, ENDED)
    assert commands.run(FOREVER, log, deadline) == ENDED
