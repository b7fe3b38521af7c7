# SPDX-License-Identifier: Apache-2.0
"""The words and links of a page that results.json does not have."""

from __future__ import annotations

import re
from dataclasses import dataclass

SOURCES = "https://git.kernel.org/pub/scm/linux/kernel/git/stable/linux.git/tree/"
"""The kernel's sources, as its own site shows them."""
MANUAL = "https://man7.org/linux/man-pages/man2/"
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
