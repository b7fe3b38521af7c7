# SPDX-License-Identifier: Apache-2.0
"""evidence.json has the faults and the findings of the checkout."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from conformance.rules import findings
from faults import evidence_file

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


def test_this_checkout_has_every_kind_of_fact() -> None:
    document = evidence_file.document_of(ROOT, "build")
    assert {fault["kind"] for fault in document["faults"]} == {
        "driver",
        "kernel",
        "answer",
        "target",
        "suite",
    }
    assert document["findings"] and document["exempt"] and document["tests"]
    assert all((ROOT / fault["file"]).is_file() for fault in document["faults"])


def test_fault_that_is_missed_is_no_evidence() -> None:
    rows = {row["id"]: row for row in evidence_file.document_of(ROOT, "build")["faults"]}
    assert "L004" not in rows
    assert rows["C106"]["rules"] == ("DRV-010", "DRC-053", "SMP-011", "PM-001")
    assert (rows["C106"]["kind"], rows["C106"]["target"]) == ("driver", "refpmu")
    assert rows["counters-too-many"]["cases"] == ("Group.FullGroupCountsInEveryOrder",)


def test_evidence_has_the_subject_of_each_rule() -> None:
    subjects = evidence_file.document_of(ROOT, "build")["subjects"]
    assert {"rule": "MUX-010", "subject": "perf core"} in subjects


def test_error_is_one_line_and_leaves_no_file(tmp_path: Path) -> None:
    for folder in ("conformance/rules", "docs", "faults/driver"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(ROOT / "docs/findings.md", tmp_path / "docs")
    (tmp_path / "faults/driver/C01-counts-twice.patch").write_text("no patch", "utf-8")
    (tmp_path / "faults/reasons.toml").touch()
    out = tmp_path / "evidence.json"
    words = ("--root", str(tmp_path), "--out", str(out), "--results", str(tmp_path))
    command = (sys.executable, "-B", "-m", "faults.evidence_file", *words)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, out.exists()) == (1, False)
    (line,) = done.stderr.splitlines()
    assert line.startswith("evidence: ") and "C01-counts-twice.patch" in line


def test_results_folder_is_relative_to_the_file(tmp_path: Path) -> None:
    out = tmp_path / "build/guest/conformance/evidence.json"
    words = ("--root", str(ROOT), "--out", str(out), "--results", str(tmp_path / "build"))
    command = (sys.executable, "-B", "-m", "faults.evidence_file", *words)
    subprocess.run(command, cwd=ROOT, check=True)
    assert json.loads(out.read_text("utf-8"))["results"] == "../.."
