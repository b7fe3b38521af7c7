# SPDX-License-Identifier: Apache-2.0
"""Checks that a stream is the whole record of a run of this suite. docs/formats.md describes its lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from results.errors import ResultsError

RESULTS = {"PASS", "FAIL", "SKIP", "BROKEN", "TIMEOUT", "CRASH", "NOT_RUN", "UNEXPECTED_PASS"}
RUN_KEYS: dict[str, Any] = {
    **{key: str for key in ("target", "kernel", "release", "arch", "profile")},
    **{"selected": list, "partial": bool},
}
RESULT_KEYS: dict[str, Any] = {
    **{"id": str, "result": str, "message": str, "rules": list},
    "duration_s": (int, float),
}
KINDS = {"result", "kmsg", "unload"}


@dataclass(frozen=True)
class Stream:
    """The run that a stream describes."""

    run: dict[str, Any]


def check(name: str, data: bytes, cases: Mapping[str, list[str]]) -> Stream:
    """`cases`: the rules of each case of the suite. ResultsError names the line that does not fit."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ResultsError(f"{name}: no UTF-8") from error
    if not text.endswith("\n"):
        raise ResultsError(f"{name}: the last line is cut")
    lines = [_object(name, number, line) for number, line in enumerate(text.splitlines(), 1)]
    run = lines[0]
    if run.get("t") != "run":
        raise ResultsError(f"{name}:1: the first line does not describe a run")
    _keys(name, 1, run, RUN_KEYS)
    if lines[-1] != {"t": "end"}:
        raise ResultsError(f"{name}:{len(lines)}: the last line is not the end of a run")
    selected = run["selected"]
    for case in selected:
        if case not in cases:
            raise ResultsError(f"{name}:1: the suite has no case {case}")
    if len(set(selected)) != len(selected):
        raise ResultsError(f"{name}:1: a case is selected twice")
    seen: set[str] = set()
    for number, line in enumerate(lines[1:-1], 2):
        if line.get("t") not in KINDS:
            raise ResultsError(f"{name}:{number}: unknown line '{line.get('t')}'")
        if line["t"] == "result":
            _result(name, number, line, cases, seen)
    left = [case for case in selected if case not in seen]
    if left:
        raise ResultsError(f"{name}: no result of the selected case {left[0]}")
    extra = sorted(seen - set(selected))
    if extra:
        raise ResultsError(f"{name}: a result of {extra[0]}, which was not selected")
    return Stream(run)


def _object(name: str, number: int, line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise ResultsError(f"{name}:{number}: no JSON") from error
    if not isinstance(found, dict):
        raise ResultsError(f"{name}:{number}: no object")
    return found


def _keys(name: str, number: int, line: dict[str, Any], keys: dict[str, Any]) -> None:
    for key, kind in keys.items():
        if not isinstance(line.get(key), kind):
            raise ResultsError(f"{name}:{number}: key '{key}' is missing or has a wrong type")


def _result(
    name: str,
    number: int,
    line: dict[str, Any],
    cases: Mapping[str, list[str]],
    seen: set[str],
) -> None:
    _keys(name, number, line, RESULT_KEYS)
    case = line["id"]
    if case not in cases:
        raise ResultsError(f"{name}:{number}: the suite has no case {case}")
    if case in seen:
        raise ResultsError(f"{name}:{number}: a second result of {case}")
    seen.add(case)
    if line["result"] not in RESULTS:
        raise ResultsError(f"{name}:{number}: unknown result '{line['result']}' of {case}")
    if sorted(line["rules"]) != sorted(cases[case]):
        raise ResultsError(f"{name}:{number}: {case} has other rules in this suite")
