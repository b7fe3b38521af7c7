# SPDX-License-Identifier: Apache-2.0
"""Parses the bytes of a guest's second serial port into checked messages. The guest is not trusted."""

from __future__ import annotations

import json
import pathlib
from typing import Any, NoReturn

import jsonschema

from .console import printable

LINE_LIMIT = 64 << 10
"""Maximum length of a line in bytes, including its end."""

MOST_POINTS = 512
"""The points of all series of a measurement. A JSON schema has no sums."""

Message = dict[str, Any]

_SCHEMA = json.loads((pathlib.Path(__file__).parent / "channel_schema.json").read_text("utf-8"))
_VALIDATOR = jsonschema.Draft202012Validator(_SCHEMA)


class BadLine(Exception):
    """The guest violated the protocol. The text has the reason, and is safe to print on a terminal."""


class Channel:
    """Splits the byte stream of one guest into messages."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        """Returns the messages that `data` completes. BadLine at the first invalid line."""
        self._rest += data
        messages = []
        while (end := self._rest.find(b"\n")) >= 0:
            if end >= LINE_LIMIT:
                break
            line = bytes(self._rest[:end])
            del self._rest[: end + 1]
            messages.append(parse(line))
        if len(self._rest) >= LINE_LIMIT:
            raise BadLine(f"a line is longer than {LINE_LIMIT} bytes")
        return messages


def parse(line: bytes) -> Message:
    """Parses one line. BadLine if it is no message of the schema."""
    shown = printable(line[:60].decode("utf-8", "replace"))
    try:
        text = line.decode("utf-8")
        message = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_duplicates
        )
        # A lone surrogate is valid JSON, but it cannot be encoded as UTF-8 when the message is recorded.
        json.dumps(message, ensure_ascii=False).encode("utf-8")
    except UnicodeError:
        raise BadLine(f"a line is not UTF-8: {shown}") from None
    except (ValueError, RecursionError):
        raise BadLine(f"a line is not JSON: {shown}") from None
    error = jsonschema.exceptions.best_match(_VALIDATOR.iter_errors(message))
    if error is not None:
        raise BadLine(f"a line breaks the protocol ({printable(error.message)[:120]}): {shown}")
    assert isinstance(message, dict)
    for measurement in message.get("measurements", ()) if message["t"] == "result" else ():
        points = sum(len(series["points"]) for series in measurement["series"])
        if points > MOST_POINTS:
            raise BadLine(f"a measurement has {points} points, more than {MOST_POINTS}: {shown}")
    return message


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> Message:
    message = dict(pairs)
    if len(message) != len(pairs):
        raise ValueError("a key occurs twice")
    return message
