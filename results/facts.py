# SPDX-License-Identifier: Apache-2.0
"""Facts about rules and skips that results.json does not have: from the catalogue and from docs/targets.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.rules.generate import Rule, read_catalogue
from pmubase.errors import UserError
from results.errors import ResultsError

ROOT = Path(__file__).resolve().parent.parent
RULES = ROOT / "conformance" / "rules"
TARGETS = Path("docs/targets.md")
SOURCES = "https://git.kernel.org/pub/scm/linux/kernel/git/stable/linux.git/tree/"
"""The kernel's sources, as its own site shows them."""
MANUAL = "https://man7.org/linux/man-pages/man2/"
AREA = re.compile(r"^# Rules (?:on )?(.*)\.$", re.M)
"""The first comment of a file of rules."""
CAPABILITIES = re.compile(r"^## Capabilities$(.*?)^## ", re.M | re.S)
ROW = re.compile(r"^\| (`[^|]+) \| ([^|]+) \|$", re.M)
NAME = re.compile(r"`(\w+)`")
BAD = ("CRASH", "FAIL", "TIMEOUT", "UNEXPECTED_PASS", "BROKEN", "NOT_RUN")
"""Results of cases that are shown first, the worst first."""
SKIP_REASONS = {
    "not_claimed": "The target file does not claim what these cases need.",
    "kernel_lacks": "The kernel or the machine lacks what these cases need.",
    "kernel_newer": "These cases failed, but the kernel is newer than the rules.",
    "not_permitted": "The process lacked the permission.",
    "no_such_pmu": "No PMU in sysfs matches the target file.",
    "not_quiet": "Other tasks ran on a CPU whose tasks were all counted.",
    "broken": "The setup of the suite failed.",
}
"""The skip reasons in the order of a page."""


@dataclass(frozen=True)
class Link:
    """A source of a rule, and its address; "" if it has none."""

    text: str
    href: str


def catalogue(folder: Path = RULES) -> dict[str, Rule]:
    """The rules of the catalogue by id, in its order."""
    try:
        return {rule.id: rule for rule in read_catalogue(sorted(folder.glob("*.toml")))}
    except (UserError, OSError) as error:
        raise ResultsError(str(error)) from error


def areas(folder: Path = RULES) -> dict[str, str]:
    """The subject of each area, as in "branch stacks: the branches before a sample"."""
    found = {}
    for path in sorted(folder.glob("*.toml")):
        subject = AREA.search(path.read_text(encoding="utf-8"))
        if subject:
            found[path.stem] = subject[1]
    return found


def link(source: str, series: str) -> Link:
    """A source as in the catalogue (`linux:FILE#SYMBOL`, `man:PAGE(2)#WORDS`), for a series of kernels."""
    kind, _, rest = source.partition(":")
    name, _, place = rest.partition("#")
    text = f"{name}, {place}" if place else name
    if kind == "linux":
        tag = f"?h=linux-{series}.y" if re.fullmatch(r"\d+\.\d+", series) else ""
        return Link(text, f"{SOURCES}{name}{tag}")
    if kind == "man":
        page = re.fullmatch(r"(\w+)\(2\)", name)
        return Link(text, f"{MANUAL}{page[1]}.2.html" if page else "")
    return Link(text or source, "")


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Each capability of a table with its condition. A row may have several of each, as in `a`, `b` | one; other."""
    for names, meaning in ROW.findall(text):
        found = NAME.findall(names)
        meanings = [part.strip() for part in meaning.split(";")]
        if len(meanings) != len(found):
            meanings = [meaning.strip()] * len(found)
        yield from zip(found, meanings, strict=True)


def capabilities(root: Path = ROOT) -> dict[str, str]:
    """The condition under which a target has a capability, by its name."""
    try:
        text = (root / TARGETS).read_text(encoding="utf-8")
    except OSError as error:
        raise ResultsError(f"{TARGETS}: {error.strerror}") from error
    section = CAPABILITIES.search(text)
    return dict(_rows(section[1])) if section else {}
