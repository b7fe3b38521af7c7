# SPDX-License-Identifier: Apache-2.0
"""Parts of the mutants, by their ids: always the same ones, whatever mutants are added."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

from mutation.patch import Mutant


def part_of(mutants: Sequence[Mutant], number: int, count: int) -> list[Mutant]:
    """Part `number` (from 1) of `count`; the parts together are all. New mutants move no other one."""
    return [m for m in mutants if zlib.crc32(m.id.encode()) % count == number - 1]


def numbers(text: str) -> tuple[int, int]:
    """K/N as numbers."""
    number, slash, count = text.partition("/")
    if not slash or not 1 <= int(number) <= int(count):
        raise ValueError(text)
    return int(number), int(count)


numbers.__name__ = "part K/N"  # argparse says: invalid ... value
