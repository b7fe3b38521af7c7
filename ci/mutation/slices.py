# SPDX-License-Identifier: Apache-2.0
"""A part of the mutants for each day, so that the days of a month take them all, several times."""

from __future__ import annotations

import datetime
import zlib
from collections.abc import Sequence

from mutation.patch import Mutant


def of_day(mutants: Sequence[Mutant], parts: int, day: datetime.date) -> list[Mutant]:
    """One of `parts` shares; `parts` days in a row take all. New mutants move no other one."""
    turn = day.toordinal() % parts
    return [m for m in mutants if zlib.crc32(m.id.encode()) % parts == turn]
