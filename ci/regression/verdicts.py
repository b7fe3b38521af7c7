# SPDX-License-Identifier: Apache-2.0
"""The results of the regressions that the project keeps: driver/regressions/verdicts.toml, from the last runs."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci.regression.patches import Regression
from ci.regression.verdict import CAUGHT, MISSED, Verdict
from pmubase import store

NAME = "verdicts.toml"
HEAD = """# SPDX-License-Identifier: Apache-2.0
# The result of each regression on each kernel. `python3 -m ci.regressions --write` writes this file.
"""
KEYS = ("id", "kernel", "result", "rule", "case", "target")


class VerdictsError(Exception):
    """The file has an error. The message is one line."""


@dataclass(frozen=True)
class Stored:
    """A result in the file. rule, case and target are empty for a miss."""

    id: str
    kernel: str
    result: str
    rule: str = ""
    case: str = ""
    target: str = ""


def read(folder: Path) -> dict[tuple[str, str], Stored]:
    """The results by id and kernel; none without a file. VerdictsError if the file is malformed."""
    path = folder / NAME
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise VerdictsError(f"{NAME}: {error}") from error
    found: dict[tuple[str, str], Stored] = {}
    for entry in tables.get("verdict", []):
        wanted = KEYS if entry.get("result") == CAUGHT else KEYS[:3]
        if set(entry) != set(wanted) or not all(isinstance(text, str) for text in entry.values()):
            raise VerdictsError(f"{NAME}: an entry needs {', '.join(wanted)}: {entry}")
        one = Stored(**entry)
        if one.result not in (CAUGHT, MISSED):
            raise VerdictsError(f"{NAME}: {one.id}: result must be {CAUGHT} or {MISSED}")
        if (one.id, one.kernel) in found:
            raise VerdictsError(f"{NAME}: {one.id} on {one.kernel} occurs twice")
        found[(one.id, one.kernel)] = one
    return found


def merged(
    old: Mapping[tuple[str, str], Stored],
    verdicts: Iterable[Verdict],
    known: Sequence[Regression],
) -> list[Stored]:
    """The old results with the new ones, without those of regressions that no longer exist."""
    found = dict(old)
    for done in verdicts:
        name = done.regression.id
        if done.result == CAUGHT:
            new = Stored(name, done.series, CAUGHT, done.rule, done.case, done.target)
        elif done.result == MISSED:
            new = Stored(name, done.series, MISSED)
        else:
            continue
        found[(name, done.series)] = new
    alive = {(one.id, series) for one in known for series in one.kernels}
    return [found[key] for key in sorted(found.keys() & alive)]


def write(folder: Path, stored: Iterable[Stored]) -> None:
    """Writes the file."""
    lines = [HEAD, "verdict = ["]
    for one in stored:
        keys = KEYS if one.result == CAUGHT else KEYS[:3]
        values = ", ".join(f"{key} = {json.dumps(getattr(one, key))}" for key in keys)
        lines.append(f"  {{ {values} }},")
    store.write(folder / NAME, "\n".join([*lines, "]", ""]).encode())
