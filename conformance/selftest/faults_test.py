# SPDX-License-Identifier: Apache-2.0
"""The catalogue of faults has the mutants, lies, false claims, caught regressions and findings, with their rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.rules import findings
from faults import catalogue
from faults.catalogue import Fault
from pmubase.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
PATCH = """Id: C01
Rules: CNT-007, CNT-008
Kernels: 6.12
Observers: kunit

The driver counts
twice.

--- a/driver/core/period.c
+++ b/driver/core/period.c
@@ -1 +1 @@
-a
+b
"""
REGRESSION = """Id: B001
Fix: 123456789abc perf: Count once
Kernels: 6.12, 6.1
Targets: software
Rules: CNT-007

The core counts
twice.

--- a/kernel/events/core.c
+++ b/kernel/events/core.c
@@ -1 +1 @@
-a
+b
"""
VERDICTS = """
[[verdict]]
id = "B001"
kernel = "6.1"
result = "missed"

[[verdict]]
id = "B001"
kernel = "6.12"
result = "caught"
rule = "CNT-008"
case = "Counting.IsExact"
target = "software"
"""
CLAIMS = """
CLAIMS = (
    FalseClaim("too-many", (("a", "b"),), "Group.*", "Group.Fits", target="refpmu_trace"),
    FalseClaim(name="none", edits=(of_event("x"),), cases="*", fails="Init.Refused"),
)
"""
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


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_mutant_has_the_facts_of_its_header(tmp_path: Path) -> None:
    write(tmp_path / "driver/mutants/counters/C01-counts-twice.patch", PATCH)
    assert catalogue.mutants(tmp_path) == [
        Fault(
            "mutant",
            "C01",
            "The driver counts twice.",
            "driver/mutants/counters/C01-counts-twice.patch",
            ("CNT-007", "CNT-008"),
            (),
            "refpmu",
            ("6.12",),
            ("kunit",),
        )
    ]


def test_invalid_patch_is_an_error_with_its_name(tmp_path: Path) -> None:
    write(tmp_path / "driver/mutants/C01-counts-twice.patch", "Rules: 7\n" + PATCH)
    with pytest.raises(UserError, match="C01-counts-twice.patch"):
        catalogue.mutants(tmp_path)


def test_false_claim_has_the_case_that_must_fail() -> None:
    one, other = catalogue.false_claims(CLAIMS, "a_test.py")
    assert (one.id, one.cases, one.target) == ("none", ("Init.Refused",), "refpmu")
    assert (other.id, other.cases, other.target) == ("too-many", ("Group.Fits",), "refpmu_trace")
    assert other.text == "The target file of refpmu_trace has a false claim: too many."
    with pytest.raises(UserError, match="a_test.py:1: name and fails must be strings"):
        catalogue.false_claims("FalseClaim('a', (), '*')", "a_test.py")


def test_lie_has_its_rules(tmp_path: Path) -> None:
    text = '[[lie]]\nid = "x"\ntext = "open\\n returns 0"\nrules = ["ERR-001"]\ncall = "c"\neffect = 1\n'
    path = "conformance/lies/data/open.toml"
    write(tmp_path / path, text)
    (lie,) = catalogue.lies(tmp_path)
    assert (lie.kind, lie.id, lie.rules) == ("lie", "x", ("ERR-001",))
    assert (lie.text, lie.file) == ("open returns 0", path)
    write(tmp_path / path, '[[lie]]\nid = "x"\n')
    with pytest.raises(UserError, match="lies/data/open.toml:1: lie: no key 'text'"):
        catalogue.lies(tmp_path)
    assert not catalogue.lies(tmp_path / "nothing")


def test_regression_has_the_rule_and_the_case_that_caught_it(tmp_path: Path) -> None:
    folder = tmp_path / "driver/regressions"
    write(folder / "core/B001-counts-twice.patch", REGRESSION)
    assert not catalogue.regressions(tmp_path)  # It was never tried.
    write(folder / "verdicts.toml", VERDICTS)
    assert catalogue.regressions(tmp_path) == [
        Fault(
            "regression",
            "B001",
            "The core counts twice. (fixed by: perf: Count once)",
            "driver/regressions/core/B001-counts-twice.patch",
            ("CNT-008",),
            ("Counting.IsExact",),
            "software",
            ("6.12",),
        )
    ]
    assert not catalogue.regressions(tmp_path / "nothing")


def test_malformed_verdict_of_a_regression_is_an_error_with_its_file(tmp_path: Path) -> None:
    write(tmp_path / "driver/regressions/verdicts.toml", '[[verdict]]\nid = "B001"\n')
    with pytest.raises(UserError, match="driver/regressions/verdicts.toml:1: verdict: no key"):
        catalogue.regressions(tmp_path)


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
