# SPDX-License-Identifier: Apache-2.0
"""Read docs/findings.md: the findings, with the rules that each of them names."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection

PAGE = "docs/findings.md"
HEADING = re.compile(r"^(#{2,3}) (.+)$")
RULE = re.compile(r"\b[A-Z][A-Z0-9]*-[0-9]{3}\b")
NOT_IN_ANCHOR = re.compile(r"[^\w -]")


@dataclasses.dataclass(frozen=True)
class Finding:
    """A section of the page that names rules."""

    title: str
    link: str
    """The page and the anchor, relative to the root of the project."""
    section: str
    """The driver or kernel that it is about."""
    rules: tuple[str, ...]


def anchor(heading: str) -> str:
    """The anchor of a heading, as the usual renderers generate it."""
    return NOT_IN_ANCHOR.sub("", heading.lower()).replace(" ", "-")


def read(text: str, known: Collection[str]) -> list[Finding]:
    """The findings that name a rule of `known`. The ids of waivers look like those of rules."""
    found: list[Finding] = []
    section, title, lines = "", "", list[str]()

    def end() -> None:
        rules = dict.fromkeys(rule for line in lines for rule in RULE.findall(line))
        ours = tuple(rule for rule in rules if rule in known)
        if title and ours:
            found.append(Finding(title, f"{PAGE}#{anchor(title)}", section, ours))

    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        end()
        lines = []
        if heading[1] == "##":
            section, title = heading[2], ""
        else:
            title = heading[2]
    end()
    return found
