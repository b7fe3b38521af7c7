# SPDX-License-Identifier: Apache-2.0
"""Divides things with ids into parts. A new one does not change the part of another one."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Protocol, TypeVar


class WithId(Protocol):
    """An object with an id."""

    @property
    def id(self) -> str:
        """The id, which decides about the part."""


T = TypeVar("T", bound=WithId)


def part_of(things: Sequence[T], number: int, count: int) -> list[T]:
    """Part `number` (from 1) of `count`. All parts together are all of them."""
    return [one for one in things if zlib.crc32(one.id.encode()) % count == number - 1]


def numbers(text: str) -> tuple[int, int]:
    """Parses K/N."""
    number, slash, count = text.partition("/")
    if not slash or not 1 <= int(number) <= int(count):
        raise ValueError(text)
    return int(number), int(count)


numbers.__name__ = "part K/N"  # argparse prints "invalid ... value".
