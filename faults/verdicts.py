# SPDX-License-Identifier: Apache-2.0
"""The results of the regressions that the project keeps: driver/regressions/verdicts.toml, from the last runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pmubase import store, toml_file
from pmubase.errors import UserError

NAME = "verdicts.toml"
CAUGHT, MISSED = "caught", "missed"
HEAD = """# SPDX-License-Identifier: Apache-2.0
# The result of each regression on each kernel. `python3 -m ci.regressions --write` writes this file.
"""
KEYS = ("id", "kernel", "result", "rule", "case", "target")
VERDICT = toml_file.table(
    {**dict.fromkeys(KEYS, {"type": "string"}), "result": {"enum": [CAUGHT, MISSED]}},
    optional=KEYS[3:],
)


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
    """The results by id and kernel; none without a file. UserError if the file is malformed."""
    path = folder / NAME
    if not path.is_file():
        return {}
    found: dict[tuple[str, str], Stored] = {}
    for entry in toml_file.load(path, toml_file.tables("verdict", VERDICT)).get("verdict", []):
        one = Stored(**entry)
        wanted = KEYS if one.result == CAUGHT else KEYS[:3]
        if set(entry) != set(wanted):
            raise UserError(f"{path}: an entry needs {', '.join(wanted)}: {entry}")
        if (one.id, one.kernel) in found:
            raise UserError(f"{path}: {one.id} on {one.kernel} occurs twice")
        found[(one.id, one.kernel)] = one
    return found


def write(folder: Path, stored: Iterable[Stored]) -> None:
    """Writes the file."""
    lines = [HEAD, "verdict = ["]
    for one in stored:
        keys = KEYS if one.result == CAUGHT else KEYS[:3]
        values = ", ".join(f"{key} = {json.dumps(getattr(one, key))}" for key in keys)
        lines.append(f"  {{ {values} }},")
    store.write(folder / NAME, "\n".join([*lines, "]", ""]).encode())
