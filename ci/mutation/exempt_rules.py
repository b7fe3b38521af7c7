# SPDX-License-Identifier: Apache-2.0
"""Reads the rules that no mutant of the driver and no lie can fail, with the reasons."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

NAME = "exempt_rules.toml"


class ExemptRulesError(Exception):
    """The file has an error. The message is one line."""


def read(path: Path, rules: Iterable[str]) -> dict[str, str]:
    """The reason of each rule that an entry names. `rules`: the active rules with cases."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ExemptRulesError(f"{path.name}: {error}") from error
    known = set(rules)
    reasons: dict[str, str] = {}
    for entry in tables.get("exempt", []):
        reason = str(entry.get("reason", "")).strip()
        if not reason or set(entry) != {"rules", "reason"}:
            raise ExemptRulesError(f"{path.name}: an entry needs rules and a reason: {entry}")
        for rule in entry["rules"]:
            if rule not in known:
                raise ExemptRulesError(f"{path.name}: no active rule that tests verify '{rule}'")
            if rule in reasons:
                raise ExemptRulesError(f"{path.name}: {rule} occurs twice")
            reasons[rule] = reason
    if set(tables) - {"exempt"}:
        raise ExemptRulesError(f"{path.name}: unknown key '{min(set(tables) - {'exempt'})}'")
    return reasons
