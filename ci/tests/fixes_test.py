# SPDX-License-Identifier: Apache-2.0
"""ci/fixes reads the list of patches for Linux, and judges a patch by cases that fail without it."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from ci import fixes
from ci.faults.trial import Planned
from faults.fault import SUITE, Fault
from pmubase.errors import UserError
from vm.suite import Case

ENTRY = '[[fix]]\nid = "0001"\nfinding = "CORE-1"\ntargets = ["software"]\ncases = ["A.B", "A.C"]\n'
CASES = [Case(name, (), 1.0, "a.cpp", 1) for name in ("A.B", "A.C", "A.D")]


def folder(tmp_path: Path, text: str) -> Path:
    (tmp_path / "0001-one.patch").write_text("Subject: [PATCH] one\n")
    (tmp_path / fixes.LIST).write_text(text)
    return tmp_path


def attempt(results: dict[str, str], broken: bool = True) -> fixes.Patched:
    """The results of cases with a patch. `broken`: without it, they pass."""
    fault = Fault("0001", Path("0001-one.patch"), "one", "kernel")
    done = fixes.Patched(Planned(fault, "7.3", SUITE))
    done.run(CASES, lambda case: results[case.id], lambda case: broken and case.id == "A.D")
    return done


def test_entry_names_the_cases_that_fail_without_the_patch(tmp_path: Path) -> None:
    (fix,) = fixes.read(folder(tmp_path, ENTRY))
    assert (fix.id, fix.finding, fix.targets) == ("0001", "CORE-1", ("software",))
    assert (fix.cases, fix.kernels) == (("A.B", "A.C"), ("7.3",))
    assert fix.path.name == "0001-one.patch"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ENTRY + ENTRY, "fix 0001: occurs twice"),
        (ENTRY.replace("0001", "0002"), "fix 0002: there is no file 0002-*.patch"),
        ("", "no fix 0001 for 0001-one.patch"),
        (ENTRY.replace('"0001"', '"1"'), "1: fix.id: '1' is not the number of a patch, like 0020"),
        (ENTRY.replace("finding", "found"), "1: fix: unknown key 'found'; known: id"),
        (ENTRY.replace('targets = ["software"]\n', ""), "needs either targets and cases, or untri"),
        (ENTRY + 'untried = "no model"\n', "fix 0001: needs either targets and cases, or untried"),
        (ENTRY + 'kernels = ["new"]\n', "1: fix.kernels[1]: 'new' is not a series like 7.3"),
    ],
)
def test_mistake_in_the_list_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        fixes.read(folder(tmp_path, text))
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert str(tmp_path / fixes.LIST) in str(caught.value)


def test_each_patch_of_the_project_has_an_entry() -> None:
    assert [fix.id for fix in fixes.read()] == [
        path.name[:4] for path in sorted(fixes.FOLDER.glob("*.patch"))
    ]


def test_patch_fixes_if_all_cases_that_failed_pass() -> None:
    done = attempt({"A.B": "PASS", "A.C": "PASS", "A.D": "PASS"})
    assert fixes.decide(("A.B", "A.C"), ["A.B", "A.C"], done) == ("fixes", "A.B, A.C")


def test_patch_does_not_fix_if_a_case_still_fails() -> None:
    done = attempt({"A.B": "PASS", "A.C": "FAIL", "A.D": "PASS"})
    assert fixes.decide(("A.B", "A.C"), ["A.B", "A.C"], done) == ("does not fix", "A.C is FAIL")


def test_patch_breaks_a_case_that_passed_without_it() -> None:
    done = attempt({"A.B": "PASS", "A.C": "PASS", "A.D": "FAIL"})
    assert fixes.decide(("A.B",), ["A.B"], done) == ("breaks", "A.D")


def test_failure_without_the_patch_is_not_its_fault() -> None:
    done = attempt({"A.B": "PASS", "A.C": "PASS", "A.D": "FAIL"}, broken=False)
    assert fixes.decide(("A.B",), ["A.B"], done) == ("fixes", "A.B")


def test_report_of_the_kernel_breaks() -> None:
    done = attempt({"A.B": "PASS", "A.C": "PASS", "A.D": "PASS"})
    done.add_signs(["(kernel: WARNING: at core.c)"])
    assert fixes.decide(("A.B",), ["A.B"], done) == ("breaks", "(kernel: WARNING: at core.c)")


def test_patch_whose_guest_dies_at_once_breaks() -> None:
    fault = Fault("0001", Path("0001-one.patch"), "one", "kernel")
    done = fixes.Patched(Planned(fault, "7.3", SUITE))
    done.add_signs(["CRASH before a case ran"])
    assert fixes.decide(("A.B",), ["A.B"], done) == ("breaks", "CRASH before a case ran")


def test_patch_is_not_judged_by_a_case_that_passes_without_it() -> None:
    done = attempt({"A.B": "PASS", "A.C": "PASS", "A.D": "PASS"})
    reason = "fails without the patch: none of A.B, A.C"
    assert fixes.decide(("A.B", "A.C"), [], done) == ("not judged", reason)


def options(**given: object) -> argparse.Namespace:
    return argparse.Namespace(**({"id": None, "part": (1, 1), "patch": None} | given))


def test_selection_of_an_unknown_patch_is_refused() -> None:
    with pytest.raises(UserError, match=r"no patch '9999'; known: 0001 to \d{4}"):
        fixes.selected(fixes.read(), options(id="9999"))


def test_another_file_replaces_one_patch(tmp_path: Path) -> None:
    file = tmp_path / "wrong.patch"
    file.write_text("")
    (fix,) = fixes.selected(fixes.read(), options(id="0020", patch=file))
    assert (fix.id, fix.path) == ("0020", file)
    with pytest.raises(UserError, match="--patch replaces one patch, and --id selects 10"):
        fixes.selected(fixes.read(), options(id="000?,0010", patch=file))
    with pytest.raises(UserError, match="--patch: no file nowhere"):
        fixes.selected(fixes.read(), options(id="0020", patch=Path("nowhere")))
