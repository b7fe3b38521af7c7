# SPDX-License-Identifier: Apache-2.0
"""Reads the rules that no mutant of the driver and no lie can fail, with the reasons."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pmubase import toml_file
from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, TEXT

NAME = "exempt_rules.toml"
SCHEMA = toml_file.tables("exempt", toml_file.table({"rules": SOME_TEXTS, "reason": TEXT}))


def read(path: Path, rules: Iterable[str]) -> dict[str, str]:
    """The reason of each rule that an entry names. `rules`: the active rules with cases."""
    known = set(rules)
    reasons: dict[str, str] = {}
    for entry in toml_file.load(path, SCHEMA).get("exempt", []):
        for rule in entry["rules"]:
            if rule not in known:
                raise UserError(f"{path.name}: no active rule that tests verify '{rule}'")
            if rule in reasons:
                raise UserError(f"{path.name}: {rule} occurs twice")
            reasons[rule] = entry["reason"].strip()
    return reasons
