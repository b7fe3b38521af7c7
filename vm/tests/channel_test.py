# SPDX-License-Identifier: Apache-2.0
"""The channel accepts only messages of the protocol."""

from __future__ import annotations

import json

import pytest

from vm import channel

RESULT = {
    "t": "result",
    "id": "Counting.X",
    "result": "PASS",
    "duration_s": 0.5,
    "message": "",
    "rules": ["CNT-002"],
}


def line(**changes: object) -> bytes:
    return json.dumps({**RESULT, **changes}).encode()


AXIS = {"label": "time", "unit": "ms"}


def measurement(**changes: object) -> dict[str, object]:
    """A measurement with other values of keys."""
    series = [{"name": "event 0", "points": [[0, 1.5], [-2e3, 1e30]]}]
    whole: dict[str, object] = {"name": "turns", "title": "Turns", "at": "cpu=0", "mark": "spans"}
    return whole | {"x": AXIS, "y": AXIS, "series": series} | changes


def of_points(series: int, points: int) -> dict[str, object]:
    """A measurement with this number of series, each with this number of points."""
    return measurement(series=[{"name": "a", "points": [[0, 1]] * points}] * series)


def measured(*rows: object) -> bytes:
    return line(measurements=list(rows))


GOOD = [
    b'{"t":"hello","protocol":1,"kernel":"6.12.1","arch":"x86_64","cpus":2}',
    b'{"t":"load","ok":true,"error":""}',
    b'{"t":"unload","ok":false,"error":"busy"}',
    b'{"t":"start","id":"Counting.DisabledTimeIsNotCounted"}',
    b'{"t":"kmsg","reports":["WARNING: at x"]}',
    b'{"t":"exec","status":139,"stdout":"","stderr":""}',
    b'{"t":"bye"}',
    b'{"t":"error","message":"unknown command"}',
    line(),
    line(message="\u00fcber 1 \u2260 2"),
    line(id="Many.Case/3"),
    measured(),
    measured(*[of_points(16, 32)] * 4),
    measured(of_points(1, 512), of_points(1, 0)),
    *(measured(measurement(mark=mark)) for mark in ("line", "points", "bars", "steps", "spans")),
    measured({key: value for key, value in measurement().items() if key != "at"}),
]

HOSTILE = {
    "empty": b"",
    "not json": b"result PASS",
    "half": b'{"t":"result"',
    "two objects": b'{"t":"bye"}{"t":"bye"}',
    "array": b"[1,2]",
    "number": b"1",
    "null": b"null",
    "no type": b'{"id":"A.B"}',
    "unknown type": b'{"t":"shell"}',
    "type not text": b'{"t":["bye"]}',
    "not utf-8": b'{"t":"error","message":"\xff"}',
    "lone surrogate": b'{"t":"error","message":"\\ud800"}',
    "key twice": b'{"t":"bye","t":"result"}',
    "deep": b"[" * 60000,
    "huge number": b'{"t":"bye","x":' + b"9" * 60000 + b"}",
    "NaN": line().replace(b"0.5", b"NaN"),
    "Infinity": line().replace(b"0.5", b"Infinity"),
    "infinite float": line().replace(b"0.5", b"1e999"),
    "negative time": line(duration_s=-1),
    "time as text": line(duration_s="1"),
    "unknown result": line(result="GOOD"),
    "result not text": line(result=True),
    "no rules": json.dumps({k: v for k, v in RESULT.items() if k != "rules"}).encode(),
    "rules not a list": line(rules="CNT-002"),
    "rule not text": line(rules=[1]),
    "no rule id": line(rules=["../../etc/passwd"]),
    "no case id": line(id="../../etc"),
    "message not text": line(message=None),
    "binary": bytes(range(128, 256)),
    "status too big": b'{"t":"exec","status":70000,"stdout":"","stderr":""}',
    "other protocol": b'{"t":"hello","protocol":2,"kernel":"6","arch":"x","cpus":2}',
    "no cpus": b'{"t":"hello","protocol":1,"kernel":"6","arch":"x","cpus":0}',
    "ok not a truth value": b'{"t":"load","ok":1}',
    "measurements not a list": line(measurements={}),
    "too many measurements": measured(*[measurement()] * 5),
    "too many series": measured(of_points(17, 1)),
    "no series": measured(measurement(series=[])),
    "too many points": measured(of_points(1, 513)),
    "too many points in all series": measured(of_points(3, 171)),
    "other mark": measured(measurement(mark="pie")),
    "no mark": measured({key: value for key, value in measurement().items() if key != "mark"}),
    "no name": measured(measurement(name="Turns of events")),
    "long title": measured(measurement(title="x" * 201)),
    "title of two lines": measured(measurement(title="a\nb")),
    "name that ends with a line": measured(measurement(name="turns\n")),
    "title that ends with a line": measured(measurement(title="a\n")),
    "unknown key of a measurement": measured(measurement(colour="red")),
    "no unit": measured(measurement(x={"label": "time"})),
    "point of three numbers": measured(measurement(series=[{"name": "a", "points": [[1, 2, 3]]}])),
    "point with a text": measured(measurement(series=[{"name": "a", "points": [[1, "2"]]}])),
    "NaN in a point": measured(measurement()).replace(b"1.5", b"NaN"),
    "infinite number in a point": measured(measurement()).replace(b"1.5", b"1e999"),
    "negative infinite number in a point": measured(measurement()).replace(b"1.5", b"-1e999"),
    "huge number in a point": measured(measurement()).replace(b"1.5", b"1e31"),
}


@pytest.mark.parametrize("text", GOOD)
def test_line_of_the_protocol_is_accepted(text: bytes) -> None:
    assert channel.parse(text) == json.loads(text)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_is_refused(name: str) -> None:
    with pytest.raises(channel.BadLine):
        channel.parse(HOSTILE[name])


def test_measurement_with_too_many_points_is_named() -> None:
    with pytest.raises(channel.BadLine, match="a measurement has 513 points, more than 512: "):
        channel.parse(measured(measurement(), of_points(3, 171)))


def test_refusal_cannot_control_the_terminal() -> None:
    with pytest.raises(channel.BadLine) as refusal:
        channel.parse(b"\x1b[2J\x07 oops")
    assert str(refusal.value).isprintable()


def test_split_messages_are_reassembled() -> None:
    text = b"".join(part + b"\n" for part in GOOD)
    for size in (1, 7, 64, len(text)):
        split = channel.Channel()
        got = []
        for start in range(0, len(text), size):
            got += split.feed(text[start : start + size])
        assert got == [json.loads(part) for part in GOOD]


def test_carriage_return_before_the_line_end_is_white_space() -> None:
    assert channel.Channel().feed(b'{"t":"bye"}\r\n') == [{"t": "bye"}]


def test_longest_line_is_accepted_and_one_byte_more_is_refused() -> None:
    frame = b'{"t":"error","message":""}\n'
    fill = b"x" * (channel.LINE_LIMIT - len(frame))
    longest = frame.replace(b'""', b'"' + fill + b'"')
    assert len(longest) == channel.LINE_LIMIT
    assert len(channel.Channel().feed(longest)) == 1
    with pytest.raises(channel.BadLine, match="longer than 65536"):
        channel.Channel().feed(longest.replace(b"xx", b"xxx", 1))


def test_a_line_without_end_is_refused_before_it_fills_memory() -> None:
    split = channel.Channel()
    with pytest.raises(channel.BadLine, match="longer"):
        for _ in range(3):
            split.feed(b"x" * 40000)
