# SPDX-License-Identifier: Apache-2.0
"""Reads the rules that no mutant of the driver can violate, with the reasons."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

NAME = "exempt_rules.toml"


class ExemptRulesError(Exception):
    """The file has an error. The message is one line."""


def read(path: Path, rules: Iterable[str]) -> tuple[dict[str, str], set[str]]:
    """The reason of each rule in `rules` that an entry names, itself or by its area; and the rules that entries name
    themselves."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ExemptRulesError(f"{path.name}: {error}") from error
    known = set(rules)
    areas = {rule.partition("-")[0] for rule in known}
    reasons: dict[str, str] = {}
    single: set[str] = set()
    for entry in tables.get("exempt", []):
        reason = str(entry.get("reason", "")).strip()
        if not reason or not set(entry) <= {"areas", "rules", "reason"} or len(entry) < 2:
            raise ExemptRulesError(
                f"{path.name}: an entry needs areas or rules, and a reason: {entry}"
            )
        for area in entry.get("areas", []):
            if area not in areas:
                raise ExemptRulesError(f"{path.name}: no area '{area}'")
            for rule in known:
                if rule.partition("-")[0] == area:
                    reasons.setdefault(rule, reason)
        for rule in entry.get("rules", []):
            if rule not in known:
                raise ExemptRulesError(f"{path.name}: no active rule with cases '{rule}'")
            if rule in single:
                raise ExemptRulesError(f"{path.name}: {rule} occurs twice")
            single.add(rule)
            reasons[rule] = reason
    if set(tables) - {"exempt"}:
        raise ExemptRulesError(f"{path.name}: unknown key '{min(set(tables) - {'exempt'})}'")
    return reasons, single
