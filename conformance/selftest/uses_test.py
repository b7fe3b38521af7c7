# SPDX-License-Identifier: Apache-2.0
"""Cases declare the features of the kernel that their bodies use, without a kernel that lacks them."""

from __future__ import annotations

import re
from pathlib import Path

CASES = Path(__file__).parent.parent / "cases"
CASE = re.compile(r"^CONFORMANCE_CASE\(\s*(\w+),\s*(\w+)(.*?)\) \{(.*?)^\}", re.S | re.M)
USES = re.compile(r"^CASE_USES\(\s*(\w+),\s*(\w+),([^)]*)\);", re.M)
# Patterns of bodies, and for each one of the features or capabilities that the case must declare. Cases with the need
# `tracepoint` run only where the events of that target are tracepoints of system calls.
MARKS = {
    r"\b(?:SpecOfTracepoint|Tracepoint|SystemCalls)\(": {
        "kTracepoints",
        "kSyscallEvents",
        "kTracepoint",
    },
    r"\bCgroupRoot \w+;": {"kPerfCgroups"},
    r'\bProbe\("kprobe"': {"kKernelProbes"},
    r'\bProbe\("uprobe"': {"kUserProbes"},
    r"\bAddressOf\(kSeldomCalled": {"kSymbols"},
}


def declared(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for suite, name, features in USES.findall(text):
        found[f"{suite}.{name}"] = set(re.findall(r"Feature::(\w+)", features))
    return found


def missing(text: str) -> list[str]:
    """The cases in a source file that use a feature and declare none of those that it can be."""
    uses = declared(text)
    found = []
    for suite, name, head, body in CASE.findall(text):
        has = uses.get(f"{suite}.{name}", set()) | set(re.findall(r"Cap::(\w+)", head))
        for mark, features in MARKS.items():
            if re.search(mark, body) and not has & features:
                found.append(f"{suite}.{name} needs CASE_USES of {' or '.join(sorted(features))}")
    return found


def test_each_case_declares_what_it_uses() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted(CASES.rglob("*_test.cpp"))]
    assert sum(len(declared(text)) for text in texts) > 20
    for mark in MARKS:
        assert any(re.search(mark, case[3]) for text in texts for case in CASE.findall(text)), mark
    assert [line for text in texts for line in missing(text)] == []


def test_case_without_its_declaration_is_found() -> None:
    case = (
        'CONFORMANCE_CASE(Init, Probes, .rules = {rule::INI_018}) {\n  Probe("kprobe", f, 0);\n}\n'
    )
    assert missing(case) == ["Init.Probes needs CASE_USES of kKernelProbes"]
    assert missing(f"CASE_USES(Init, Probes, Feature::kKernelProbes);\n{case}") == []
    assert len(missing(f"CASE_USES(Init, Probes, Feature::kUserProbes);\n{case}")) == 1
