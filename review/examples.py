# SPDX-License-Identifier: Apache-2.0
"""Examples of mistakes: a driver without any, and a change of it for each check."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from pmubase import toml_file

CLEAN = Path(__file__).parent / "examples" / "clean.c"
TABLE = Path(__file__).with_name("examples.toml")
SCHEMA: toml_file.Schema = {
    "type": "object",
    "additionalProperties": toml_file.table(
        {
            "verdict": {"enum": ["BREACH", "SUSPECT"]},
            "right": toml_file.TEXT,
            "wrong": {"type": "string"},
            "also_right": toml_file.TEXT,
            "also_wrong": toml_file.TEXT,
        },
        optional=("also_right", "also_wrong"),
    ),
}


@dataclasses.dataclass(frozen=True)
class Example:
    """A mistake in the clean driver, and the verdict of its check."""

    verdict: str
    right: str
    wrong: str
    also_right: str = ""
    also_wrong: str = ""

    def text(self) -> str:
        """The source of the driver with the mistake."""
        source = CLEAN.read_text("utf-8")
        for right, wrong in ((self.right, self.wrong), (self.also_right, self.also_wrong)):
            if right and source.count(right) != 1:
                raise ValueError(f"{CLEAN} does not have once: {right}")
            source = source.replace(right, wrong) if right else source
        return source


def read() -> dict[str, Example]:
    """The examples, by the name of their check."""
    return {name: Example(**entry) for name, entry in toml_file.load(TABLE, SCHEMA).items()}
