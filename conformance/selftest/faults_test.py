# SPDX-License-Identifier: Apache-2.0
"""The page of findings has the rules that each finding names."""

from __future__ import annotations

from pathlib import Path

from conformance.rules import findings

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = """# Findings

Text about CNT-001.

## Intel (target `intel`)

General text about CNT-002.

### A PMU drifts, at 2.5 MHz

- Rules: CNT-003 and SMP-001 (waiver INTEL-001).

### Without a rule

- Rule: none.

## AMD

### It's late

- Rule: NMI-004, by its wording.
"""


def test_finding_has_its_rules_and_its_anchor() -> None:
    found = findings.read(PAGE, {"CNT-001", "CNT-002", "CNT-003", "NMI-004", "SMP-001"})
    assert [(one.title, one.link, one.section, one.rules) for one in found] == [
        (
            "A PMU drifts, at 2.5 MHz",
            "docs/findings.md#a-pmu-drifts-at-25-mhz",
            "Intel (target `intel`)",
            ("CNT-003", "SMP-001"),
        ),
        ("It's late", "docs/findings.md#its-late", "AMD", ("NMI-004",)),
    ]
