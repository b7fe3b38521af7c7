# SPDX-License-Identifier: Apache-2.0
"""Conditions on the kernel's version in cases and in the errno model. Each needs a reason in ALLOWED.

Fixes are backported, so a version does not show how a kernel behaves. A case finds that by its effect: see "Behaviour
that differs" in docs/adding.md.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

FOLDERS = ("conformance/cases", "oracle", "conformance/perf", "conformance/stimulus")
SOURCES = ("*.cpp", "*.h")
CONDITION = re.compile(
    r"\.kernels\s*=|\b(?:KernelMatches|KernelRelease|ReleaseForRules|KernelIs\w*|ParseKernelVersion|StableVersion)\("
    r"|\butsname (?=\w)|\bLINUX_VERSION_CODE\b|\bKERNEL_VERSION\b|/proc/version|kernel/osrelease"
    r'|"(?:>=|<=|==|<|>)[0-9]+\.[0-9]+'
)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
ALLOWED: dict[str, tuple[int, str]] = {
    "oracle/open_machine.cpp": (1, "the release is printed in reports of the program oracle"),
}
"""The number of conditions of a file, and why it needs them."""


def conditions(text: str) -> list[str]:
    """The conditions in a source file. Comments have none."""
    return CONDITION.findall(COMMENT.sub("", text))


def findings(root: Path, allowed: dict[str, tuple[int, str]] | None = None) -> list[str]:
    """A line for each file that has more conditions than allowed, and for each entry of ALLOWED that allows too many."""
    known = ALLOWED if allowed is None else allowed
    counted: Counter[str] = Counter()
    first: dict[str, str] = {}
    for folder in FOLDERS:
        for pattern in SOURCES:
            for path in sorted((root / folder).rglob(pattern)):
                found = conditions(path.read_text(encoding="utf-8"))
                name = path.relative_to(root).as_posix()
                counted[name] = len(found)
                first[name] = found[0] if found else ""
    wrong = []
    for name in sorted({*counted, *known}):
        most, _ = known.get(name, (0, ""))
        if counted[name] > most:
            wrong.append(
                f"{name}: {counted[name]} conditions on the kernel's version, {most} allowed "
                f"('{first[name]}'): find the behaviour by its effect, or add the reason to ci/checks/versions.py"
            )
        elif counted[name] < most:
            wrong.append(
                f"ci/checks/versions.py: {name} has {counted[name]} conditions, not {most}"
            )
    return wrong
