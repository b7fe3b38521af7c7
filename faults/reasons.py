# SPDX-License-Identifier: Apache-2.0
"""Reads faults/reasons.toml: why a known bug has no fault, why a fault is missed, and why no fault fails a rule."""

from __future__ import annotations

from pathlib import Path

from faults.fault import FOLDER
from pmubase import toml_file
from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, TEXT, table

NAME = f"{FOLDER}/reasons.toml"
NO_FAULT, MISSED, OUT_OF_SCOPE, NOT_REACHABLE = (
    "no fault",
    "missed",
    "out of scope",
    "not reachable",
)
STATUSES = (NO_FAULT, MISSED, OUT_OF_SCOPE, NOT_REACHABLE)
SCHEMA = toml_file.tables(
    "reason", table({"ids": SOME_TEXTS, "status": {"enum": [*STATUSES]}, "reason": TEXT})
)


def read(root: Path) -> dict[str, tuple[str, str]]:
    """The status and the reason of each rule, fault and bug. UserError if one occurs twice."""
    found: dict[str, tuple[str, str]] = {}
    for entry in toml_file.load(root / NAME, SCHEMA).get("reason", []):
        for name in entry["ids"]:
            if name in found:
                raise UserError(f"{NAME}: {name} occurs twice")
            found[name] = (entry["status"], entry["reason"].strip())
    return found


def of_status(root: Path, status: str) -> dict[str, str]:
    """The reasons of one status."""
    return {name: why for name, (found, why) in read(root).items() if found == status}
