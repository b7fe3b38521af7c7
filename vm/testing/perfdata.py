# SPDX-License-Identifier: Apache-2.0
"""Reads perf.data files as far as the tests need it: the records, and the traces behind them."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator

MAGIC = b"PERFILE2"
LOST, THROTTLE, SAMPLE, AUX, AUXTRACE = 2, 5, 9, 11, 71
EXACT_IP = 1 << 14
"""In misc of a sample: its address is that of the sampled instruction itself."""


@dataclasses.dataclass(frozen=True)
class Record:
    """One record. `trace` is the data that follows an AUXTRACE record in the file."""

    type: int
    misc: int
    body: bytes
    trace: bytes = b""

    def words(self, n: int) -> tuple[int, ...]:
        """The first `n` 64-bit words of the body."""
        return struct.unpack_from(f"<{n}Q", self.body)


def records(data: bytes) -> Iterator[Record]:
    """The records of a complete perf.data file."""
    magic, _, _, _, _, begin, size = struct.unpack_from("<8s6Q", data)
    assert magic == MAGIC and begin + size <= len(data)
    at, end = begin, begin + size
    while at < end:
        kind, misc, length = struct.unpack_from("<IHH", data, at)
        assert 8 <= length <= end - at
        body = data[at + 8 : at + length]
        at += length
        trace = b""
        if kind == AUXTRACE:
            (behind,) = struct.unpack_from("<Q", body)
            trace = data[at : at + behind]
            at += behind
        yield Record(kind, misc, body, trace)
