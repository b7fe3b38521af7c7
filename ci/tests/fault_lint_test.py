# SPDX-License-Identifier: Apache-2.0
"""The lint step `faults` compares the faults with the catalogue and the reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import faults
from pmubase import store

RULE = """[[rule]]
id = "{id}"
level = "MUST"
status = "{status}"
text = "A count MUST be right."
why = "A tool reads it."
source = ["man:perf_event_open(2)#read"]
kernels = ">=6.1"
applies = "counting"
layer = ["case"]
subject = "{subject}"
"""
PATCH = """Id: {id}
Rules: {rules}
{more}
It is wrong.

--- a/{file}
+++ b/{file}
@@ -1 +1 @@
-a
+{id}
"""
REASON = '[[reason]]\nids = ["{id}"]\nstatus = "{status}"\nreason = "{why}"\n'


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def patch(root: Path, name: str, rules: str = "CNT-001", more: str = "") -> None:
    folder, _, name = name.rpartition("/")
    file = "kernel/events/core.c" if folder.startswith("kernel") else "driver/core/a.c"
    text = PATCH.format(id=name, rules=rules, more=more, file=file)
    write(root / "faults" / folder / f"{name}-x.patch", text)


KERNEL = "Targets: refpmu\nKernels: 6.12\nFrom: a fix\n"


@pytest.fixture(name="root")
def fixture_root(tmp_path: Path) -> Path:
    """A consistent project: two rules, a fault of the driver, one of the kernel, and reasons."""
    rules = "".join(RULE.format(id=f"CNT-00{n}", status="active", subject="driver") for n in (1, 2))
    write(tmp_path / "conformance/rules/CNT.toml", rules)
    write(tmp_path / "conformance/targets/refpmu.toml", "")
    patch(tmp_path, "driver/C01", "CNT-001, CNT-002")
    patch(tmp_path, "kernel/B001", more=KERNEL)
    write(
        tmp_path / "faults/reasons.toml", REASON.format(id="B002", status="not reachable", why="w")
    )
    return tmp_path


def found(root: Path) -> list[str]:
    return faults.findings(root, ["B001", "B002"])


def test_consistent_project_has_no_findings(root: Path) -> None:
    assert found(root) == []
    assert faults.findings(store.ROOT) == []


@pytest.mark.parametrize(
    ("name", "rules", "more", "line"),
    [
        ("driver/C02", "CNT-009", "", "no active or draft rule CNT-009"),
        ("driver/C02", "CNT-001", "Targets: gone\n", "no target gone"),
        ("driver/C02", "CNT-001", "Observers: fuzz\nHarness: gone\n", "no harness gone"),
        (
            "driver/C02",
            "CNT-001",
            "Observers: test\nTest: CNT-001 a.py::test_gone\n",
            "no test a.py::test_gone",
        ),
        ("driver/C02", "CNT-001", "Expect: missed\n", "Expect: missed needs a reason"),
        ("kernel/B003", "CNT-001", KERNEL.replace("6.12", "5.4"), "no kernel 5.4 can be built"),
        ("kernel/B002", "CNT-001", KERNEL, "B002 is 'not reachable', but has a fault"),
    ],
)
def test_wrong_header_is_reported(root: Path, name: str, rules: str, more: str, line: str) -> None:
    patch(root, name, rules, more)
    (finding,) = found(root)
    assert line in finding


@pytest.mark.parametrize(
    ("name", "status", "why", "line"),
    [
        (
            "CNT-001",
            "no fault",
            "w",
            "CNT-001: faults/reasons.toml gives a reason, but C01 names it",
        ),
        ("CNT-009", "no fault", "w", "no active rule CNT-009"),
        ("C01", "missed", "w", "C01: no fault expects to be missed"),
        ("B003", "out of scope", "w" * 201, "B003: the reason has 201 characters"),
    ],
)
def test_wrong_reason_is_reported(root: Path, name: str, status: str, why: str, line: str) -> None:
    path = root / "faults/reasons.toml"
    path.write_text(path.read_text() + REASON.format(id=name, status=status, why=why))
    assert any(line in finding for finding in found(root))


def test_rule_and_bug_without_fault_and_reason_are_reported(root: Path) -> None:
    (root / "faults/driver/C01-x.patch").unlink()
    (root / "faults/reasons.toml").write_text(
        REASON.format(id="CNT-001", status="no fault", why="w")
    )
    assert found(root) == [
        "known bugs without a fault and without a reason: B002",
        "CNT-002: no fault names it, and faults/reasons.toml gives no reason",
        "faults/reasons.toml: 1 rules with a reason and 0 reviewed ones are more than 5% of 2 (0)",
    ]


def test_rule_that_a_fault_of_the_driver_violates_is_the_drivers(root: Path) -> None:
    path = root / "conformance/rules/CNT.toml"
    path.write_text(path.read_text().replace('subject = "driver"', 'subject = "perf core"', 1))
    (finding,) = found(root)
    assert finding.startswith("CNT-001: a fault of the driver violates it")


def test_fault_may_name_a_draft(root: Path) -> None:
    path = root / "conformance/rules/CNT.toml"
    draft = RULE.format(id="CNT-003", status="draft", subject="driver")
    path.write_text(path.read_text() + draft)
    patch(root, "driver/C02", "CNT-003")
    assert found(root) == []
