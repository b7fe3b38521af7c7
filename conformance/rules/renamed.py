# SPDX-License-Identifier: Apache-2.0
"""Reads conformance/renamed.toml: which cases were renamed since the last release."""

from __future__ import annotations

import tomllib
from pathlib import Path

NAME = "conformance/renamed.toml"


def read_renamed(root: Path) -> dict[str, str]:
    """Old id → new id. ValueError names the file and the entry that is wrong."""
    path = root / NAME
    if not path.exists():
        return {}
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{NAME}: {error}") from error
    for key in tables.keys() - {"case"}:
        raise ValueError(f"{NAME}: unknown key '{key}'; known: case")
    renamed: dict[str, str] = {}
    for entry in tables.get("case", []):
        old, new = entry.get("old"), entry.get("new")
        if entry.keys() != {"old", "new"} or not (isinstance(old, str) and isinstance(new, str)):
            raise ValueError(f"{NAME}: {entry}: an entry has the ids 'old' and 'new'")
        if old in renamed:
            raise ValueError(f"{NAME}: {old} is there twice")
        renamed[old] = new
    if list(renamed) != sorted(renamed):
        raise ValueError(f"{NAME}: entries must be sorted by 'old'")
    return renamed
