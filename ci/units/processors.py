# SPDX-License-Identifier: Apache-2.0
"""How much of the machine's cores nobody used."""

from __future__ import annotations

from pathlib import Path

STAT = Path("/proc/stat")


class Processors:
    """The cores since this was made. Source: proc(5), /proc/stat."""

    def __init__(self, stat: Path = STAT) -> None:
        self._stat = stat
        self._begin = self._times()

    def idle(self) -> float:
        """The part of all cores' time, from 0 to 1, that was idle; waiting for a disk is idle, too."""
        spent = [now - then for now, then in zip(self._times(), self._begin, strict=True)]
        return (spent[3] + spent[4]) / sum(spent) if sum(spent) else 0.0

    def _times(self) -> list[int]:
        # user nice system idle iowait irq softirq steal; guest times are in user already.
        return [int(word) for word in self._stat.read_text(encoding="ascii").split()[1:9]]
