# SPDX-License-Identifier: Apache-2.0
"""Measures how long the machine's cores were idle."""

from __future__ import annotations

from pathlib import Path

STAT = Path("/proc/stat")


class Processors:
    """The cores since the object was created. Source: proc(5), /proc/stat."""

    def __init__(self, stat: Path = STAT) -> None:
        self._stat = stat
        self._begin = self._times()

    def idle(self) -> float:
        """The idle fraction of all cores' time, from 0 to 1. Waiting for a disk counts as idle."""
        spent = [now - then for now, then in zip(self._times(), self._begin, strict=True)]
        return (spent[3] + spent[4]) / sum(spent) if sum(spent) else 0.0

    def _times(self) -> list[int]:
        # The fields are user nice system idle iowait irq softirq steal. User time includes guest time.
        return [int(word) for word in self._stat.read_text(encoding="ascii").split()[1:9]]
