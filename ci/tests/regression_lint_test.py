# SPDX-License-Identifier: Apache-2.0
"""Lint reports regressions that contradict the list of bugs, the stored results or the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import regressions
from ci.regression import page
from ci.regression.verdict import BROKEN, Verdict, merged
from faults import regression_file, verdicts
from faults.verdicts import CAUGHT, MISSED, Stored
from pmubase.errors import UserError

HEADER = """Id: B001
Fix: 7f612a7f0bc1 perf/x86: Fix full width counter, counter overflow
Kernels: 6.1, 6.12
Targets: intel
Rules: CNT-001
"""
DIFF = "--- a/kernel/events/core.c\n+++ b/kernel/events/core.c\n@@ -1 +1 @@\n-a\n+b\n"
RULE = """[[rule]]
id = "CNT-001"
level = "MUST"
status = "active"
subject = "driver"
text = "It MUST."
why = "So."
source = ["man:x(1)#x"]
applies = "true"
kernels = ">=6.1"
"""
ABSENT = '[[bug]]\nid = "B002"\nstatus = "not reachable"\nreason = "No model has it."\n'
BUGS = ("B001", "B002")
FILES = {
    "conformance/rules/CNT.toml": RULE,
    "conformance/targets/intel.toml": "",
    "driver/regressions/core/B001-x.patch": f"{HEADER}\nText.\n\n{DIFF}",
    "driver/regressions/core_without_patch.toml": ABSENT,
    "driver/regressions/verdicts.toml": "",
    "docs/regressions.md": f"# Head\n\n{page.MARK}\n",
}
CAUGHT_ROW = """[[verdict]]
id = "B001"
kernel = "6.12"
result = "caught"
rule = "CNT-001"
case = "A.One"
target = "intel"
"""


def laid_out(root: Path, **changes: str) -> Path:
    """A project with one regression and one bug without a patch, and an up-to-date page. `changes`: other contents of
    files, by the first letters of their names."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for begin, new in changes.items():
            text = new if path.name.startswith(begin) else text
        path.write_text(text, encoding="utf-8")
    update_page(root)
    return root


def update_page(root: Path) -> None:
    path = root / page.PAGE
    try:
        path.write_text(page.replaced(path.read_text(), page.generated(root)), encoding="utf-8")
    except UserError:
        pass  # Lint reports the error.


def test_consistent_project_has_no_findings(tmp_path: Path) -> None:
    assert regressions.findings(laid_out(tmp_path), BUGS) == []
    changed = laid_out(tmp_path / "caught", verdicts=CAUGHT_ROW)
    assert regressions.findings(changed, BUGS) == []


PATCH = FILES["driver/regressions/core/B001-x.patch"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("B001", PATCH.replace("CNT-001", "CNT-077"), "no active or draft rule CNT-077"),
        ("B001", PATCH.replace("intel", "intel_x"), "B001-x.patch: no target intel_x"),
        ("B001", PATCH.replace("6.1,", "5.4,"), "no kernel 5.4-msr can be built"),
        ("B001", PATCH.replace("Text.\n", ""), "B001-x.patch: no description"),
        ("B001", f"Missed: {'x' * 201}\n{PATCH}", "Missed: has 201 characters; at most 200"),
        ("core_without", "", "*_without_patch.toml: B002"),
        ("core_without", ABSENT.replace("B002", "B001") + ABSENT, "B001: has a patch, but is"),
        ("core_without", ABSENT * 2, "B002: is listed twice"),
        (
            "core_without",
            ABSENT.replace("not reach", "un"),
            "core_without_patch.toml:1: bug.status: ",
        ),
        ("core_without", ABSENT.replace("No model has it.", ""), "bug.reason: '' is not a text"),
        ("core_without", ABSENT.replace("No model", "x" * 200), "the reason has 208 characters"),
        ("core_without", ABSENT + "[other]\n", "core_without_patch.toml: unknown key 'other'"),
        ("core_without", "x", "core_without_patch.toml: "),
        ("verdicts", "x", "verdicts.toml: "),
        ("verdicts", CAUGHT_ROW.replace("B001", "B003"), "B003 on 6.12: there is no such patch"),
        ("verdicts", CAUGHT_ROW.replace("CNT-001", "CNT-9"), "no active or draft rule CNT-9"),
        ("verdicts", CAUGHT_ROW * 2, "verdicts.toml: B001 on 6.12 occurs twice"),
        ("verdicts", CAUGHT_ROW.replace("caught", "missed"), "needs id, kernel, result"),
    ],
)
def test_contradiction_is_reported(tmp_path: Path, name: str, text: str, said: str) -> None:
    root = laid_out(tmp_path, **{name: text})
    found = regressions.findings(root, BUGS)
    assert any(said in line for line in found), found


MISSED_ROW = '[[verdict]]\nid = "B001"\nkernel = "6.12"\nresult = "missed"\n'


def test_stored_miss_needs_a_reason_and_a_stored_catch_has_none(tmp_path: Path) -> None:
    (line,) = regressions.findings(laid_out(tmp_path / "a", verdicts=MISSED_ROW), BUGS)
    assert "is missed, so its header needs the key Missed" in line
    expected = f"Missed: No case reads it.\n{PATCH}"
    root = laid_out(tmp_path / "b", verdicts=CAUGHT_ROW, B001=expected)
    (line,) = regressions.findings(root, BUGS)
    assert "is caught, so its header must not have the key Missed" in line
    root = laid_out(tmp_path / "c", verdicts=MISSED_ROW, B001=expected)
    assert regressions.findings(root, BUGS) == []


def test_old_page_is_reported(tmp_path: Path) -> None:
    root = laid_out(tmp_path)
    (root / regression_file.FOLDER / verdicts.NAME).write_text(CAUGHT_ROW)
    (line,) = regressions.findings(root, BUGS)
    assert line == "docs/regressions.md: is not up to date: run python3 -m ci.regression_page"
    (root / page.PAGE).write_text("# Head\n")
    (line,) = regressions.findings(root, BUGS)
    assert "has no line <!--" in line


def test_page_has_each_bug_in_its_group(tmp_path: Path) -> None:
    root = laid_out(tmp_path, verdicts=CAUGHT_ROW)
    text = (root / page.PAGE).read_text()
    fix = "[`perf/x86: Fix full width counter, counter overflow`](https://git.kernel.org/linus/7f612a7f0bc1)"
    bug = "[B001](../driver/regressions/core/B001-x.patch)"
    assert f"| {bug} | {fix} | 6.12 | CNT-001 | `A.One` | `intel` |\n" in text
    assert f"| {bug} | {fix} | 6.1 | `intel` |\n" in text
    assert "| B002 | No model has it. |\n" in text
    assert "| 6.12 | 1 | 1 | 0 | 0 |\n" in text and "| 6.1 | 1 | 0 | 0 | 1 |\n" in text
    assert text.startswith("# Head\n")


def test_new_results_replace_old_ones_of_the_same_kernel(tmp_path: Path) -> None:
    root = laid_out(tmp_path, verdicts=CAUGHT_ROW)
    folder = root / regression_file.FOLDER
    known, _ = regression_file.collect(folder)
    new = [
        Verdict(known[0], "6.12", MISSED),
        Verdict(known[0], "6.1", CAUGHT, "intel", "A.Two", "CNT-001"),
    ]
    old = verdicts.read(folder) | {("B009", "6.12"): Stored("B009", "6.12", MISSED)}
    verdicts.write(folder, merged(old, new, known))
    assert verdicts.read(folder) == {
        ("B001", "6.1"): Stored("B001", "6.1", CAUGHT, "CNT-001", "A.Two", "intel"),
        ("B001", "6.12"): Stored("B001", "6.12", MISSED),
    }
    broken = [Verdict(known[0], "6.1", BROKEN)]
    stored = verdicts.read(folder)
    assert merged(stored, broken, known) == [*stored.values()]
