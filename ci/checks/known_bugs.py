# SPDX-License-Identifier: Apache-2.0
"""Compares waivers about bugs of the kernel with docs/findings.md: the section of a bug names its versions and commits."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from conformance.rules.findings import HEADING, PAGE, anchor

WAIVERS = Path("conformance/waivers")


def sections(text: str) -> dict[str, str]:
    """The text of each section of the page in one line, by the anchor of its heading."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading is not None:
            lines = found.setdefault(anchor(heading[2]), [])
        lines.append(line)
    return {name: " ".join(" ".join(lines).split()) for name, lines in found.items()}


def named(commit: str) -> str:
    """The id of a commit, or its subject if the id is unknown."""
    return commit[2:-2] if commit.startswith('("') else commit.partition(" ")[0]


def words(waiver: dict[str, Any]) -> list[str]:
    """The words that the section of a bug must have: the id of its waiver, its versions and its commits."""
    bug = waiver["kernel"]
    commits = [named(str(bug[key])) for key in ("cause", "fix") if bug.get(key)]
    return [waiver["id"], *bug.get("since", []), *bug.get("fixed", []), *commits]


def findings(root: Path) -> list[str]:
    """A line for each bug whose section is missing or lacks a word."""
    wrong: list[str] = []
    found = sections((root / PAGE).read_text(encoding="utf-8"))
    for path in sorted((root / WAIVERS).glob("*.toml")):
        for waiver in tomllib.loads(path.read_text(encoding="utf-8")).get("waiver", []):
            page, _, name = str(waiver["link"]).partition("#")
            if "kernel" not in waiver:
                continue
            where = f"{path.relative_to(root)}: {waiver['id']}"
            if page != PAGE or name not in found:
                wrong.append(f"{where}: no section {waiver['link']}")
                continue
            missing = [word for word in words(waiver) if word not in found[name]]
            if missing:
                wrong.append(f"{where}: {waiver['link']} does not name {', '.join(missing)}")
    return wrong
