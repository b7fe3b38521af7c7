# SPDX-License-Identifier: Apache-2.0
"""Suppressions: a file with the checks whose findings are right, but accepted, each with a reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from pmubase import toml_file
from pmubase.errors import UserError

from .view import Finding
from .report import about_checks

ENTRY = toml_file.table(
    {"check": toml_file.TEXT, "file": toml_file.TEXT, "reason": toml_file.TEXT}, optional=("file",)
)
SCHEMA: toml_file.Schema = {
    "type": "object",
    "properties": {"review": {"type": "array", "items": ENTRY}, "target": {"type": "object"}},
    "if": {"not": {"required": ["target"]}},
    "then": {"required": ["review"], "maxProperties": 1},
}
"""A file of accepted findings, or a target file, which has other tables too."""


@dataclasses.dataclass(frozen=True)
class Waiver:
    """A check whose findings are accepted in the files that a glob matches."""

    check: str
    file: str
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is accepted."""
        return self.check == finding.check and fnmatchcase(finding.file.name, self.file)


def read(path: Path) -> list[Waiver]:
    """The waivers of a file."""
    entries = toml_file.load(path, SCHEMA).get("review", [])
    waivers = [Waiver(entry["check"], entry.get("file", "*"), entry["reason"]) for entry in entries]
    for waiver in waivers:
        if waiver.check not in about_checks():
            raise UserError(
                f"{path}: unknown check {waiver.check}; known: {', '.join(about_checks())}"
            )
    return waivers


def split(
    findings: Sequence[Finding], waivers: Sequence[Waiver]
) -> tuple[list[Finding], list[Finding]]:
    """The findings that no waiver covers, and the others."""
    waived = [f for f in findings if any(waiver.covers(f) for waiver in waivers)]
    return [f for f in findings if f not in waived], waived
