# SPDX-License-Identifier: Apache-2.0
"""faults/ reads patches and tables with the same keys, and applies patches to copies only."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from faults import fault as fault_file
from faults import patch, reasons
from faults.fault import Fault
from pmubase import store
from pmubase.errors import UserError

HEADER = """Id: M01-1
Rules: CNT-007, CNT-008
From: B001
Results: FAIL, CRASH

What is wrong,
in a sentence.

"""
DIFF = """--- a/driver/core/period.c
+++ b/driver/core/period.c
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
"""
KERNEL_HEADER = """Id: B001
Rules: CNT-003
Targets: intel, amd
Kernels: 6.1, 6.12
From: 7f612a7f0bc1 perf/x86: Fix full width counter

The driver loses a carry.

"""
NAME = "arch/x86/events/core.c"
KERNEL_DIFF = DIFF.replace("driver/core/period.c", NAME)
ANSWER = """[[fault]]
id = "count-is-high"
text = "The count is one more."
call = "read"
effect = { add = { value = 1 } }
rules = ["CNT-001"]
"""
CLAIM = """[[fault]]
id = "too-many"
text = "A claim."
run = "Group.*"
cases = ["Group.Fits"]
edits = [["a", "b"]]
"""


def written(root: Path, text: str = HEADER + DIFF, name: str = "driver/x/M01-1-what.patch") -> Path:
    path = root / "faults" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def read(root: Path, text: str = HEADER + DIFF, name: str = "driver/x/M01-1-what.patch") -> Fault:
    (found,) = fault_file.read(written(root, text, name))
    return found


def test_header_of_a_patch_is_read(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert (found.id, found.name, found.breaks) == ("M01-1", "M01-1-what", "driver")
    assert (found.rules, found.origin) == (("CNT-007", "CNT-008"), "B001")
    assert (found.results, found.targets) == (("FAIL", "CRASH"), ("refpmu",))
    assert (found.observers, found.any_of, found.missed) == (("suite",), False, False)
    assert found.text == "What is wrong, in a sentence."
    assert (found.change, found.files) == (DIFF, ("driver/core/period.c",))


def test_fault_of_the_kernel_has_targets_and_kernels(tmp_path: Path) -> None:
    text = KERNEL_HEADER.replace("From:", "Expect: missed\nFrom:") + KERNEL_DIFF
    found = read(tmp_path, text, "kernel/core/B001-carry.patch")
    assert (found.breaks, found.targets, found.missed) == ("kernel", ("intel", "amd"), True)
    assert found.kernels == ("6.1", "6.12")


def test_tables_have_the_same_keys(tmp_path: Path) -> None:
    text = ANSWER.replace("[[fault]]\n", '[[fault]]\ntargets = ["software"]\nresults = ["CRASH"]\n')
    path = written(tmp_path, text + "\n" + ANSWER.replace("high", "low"), "answers/CNT.toml")
    high, low = fault_file.read(path)
    assert (high.breaks, high.id, high.name) == ("answer", "count-is-high", "count-is-high")
    assert (high.targets, high.results, high.rules) == (("software",), ("CRASH",), ("CNT-001",))
    assert low.change == ANSWER.replace("high", "low")
    claim = read(tmp_path, CLAIM, "target/refpmu.toml")
    assert (claim.breaks, claim.observers) == ("target", ("test",))
    assert (claim.test, claim.run) == (fault_file.FALSE_CLAIMS, "Group.*")
    assert (claim.cases, claim.edits) == (("Group.Fits",), (("a", "b"),))


def test_observers_are_in_the_order_of_their_cost(tmp_path: Path) -> None:
    both = read(tmp_path, HEADER.replace("\n\n", "\nObservers: suite, kunit\n\n", 1) + DIFF)
    assert (both.observers, both.any_of) == (("kunit", "suite"), False)
    one = read(tmp_path, HEADER.replace("\n\n", "\nObservers: any suite, unit\n\n", 1) + DIFF)
    assert (one.observers, one.any_of) == (("unit", "suite"), True)


def test_test_of_a_fault_adds_its_rule(tmp_path: Path) -> None:
    more = "\nObservers: test\nTest: PM-002 driver/tests/a_test.py::test_a\n\n"
    found = read(tmp_path, HEADER.replace("\n\n", more, 1) + DIFF)
    assert (found.test, found.test_rule) == ("driver/tests/a_test.py::test_a", "PM-002")
    assert found.named_rules == ("CNT-007", "CNT-008", "PM-002")


def test_kernels_decide_where_a_fault_runs(tmp_path: Path) -> None:
    plain = read(tmp_path)
    assert [plain.wants(name) for name in ("6.12", "6.1", "6.12-debug")] == [True, True, False]
    debug = read(tmp_path, HEADER.replace("\n\n", "\nKernels: 6.12-debug\n\n", 1) + DIFF)
    assert [debug.wants(name) for name in ("6.12", "6.12-debug")] == [False, True]


MALFORMED = [
    (HEADER, "not a patch"),
    (HEADER.replace("CNT-007", "CNT7") + DIFF, "rules[1]: 'CNT7' is not a rule id"),
    (HEADER.replace("FAIL,", "FAILED,") + DIFF, "results[1]: 'FAILED' is not one of FAIL"),
    (HEADER.replace("From", "Id") + DIFF, "Id: occurs twice"),
    (HEADER.replace("M01-1", "M02-1") + DIFF, "must be named <id>-<what-is-wrong>.patch"),
    (HEADER + DIFF.replace("driver/", "kernel/"), "which is in none of driver/"),
    (HEADER + DIFF.replace("driver/core", "driver/../vm"), "which is in none of driver/"),
    (HEADER.replace("\n\n", "\nObservers: fuzz\n\n", 1) + DIFF, "Harness: must be set"),
    (HEADER.replace("\n\n", "\nHarness: period\n\n", 1) + DIFF, "Harness: must be set"),
    (HEADER.replace("\n\n", "\nObservers: test\n\n", 1) + DIFF, "Test: must be set"),
    (HEADER.replace("\n\n", "\nObservers: any\n\n", 1) + DIFF, "'any' must be first"),
    (HEADER.replace("\n\n", "\nObservers: eye\n\n", 1) + DIFF, "observers[1]: 'eye' is not one"),
    (HEADER.replace("\n\n", "\nKernels: new\n\n", 1) + DIFF, "'new' is not a kernel like"),
    (HEADER.partition("What")[0] + DIFF, "text: '' is not a text"),
]


@pytest.mark.parametrize(("text", "complaint"), MALFORMED)
def test_malformed_patch_is_a_one_line_error(tmp_path: Path, text: str, complaint: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UserError) as caught:
        fault_file.read(path)
    (line,) = str(caught.value).splitlines()
    assert line.startswith(str(path)) and complaint in line


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("kernel/core/B001-x.patch", KERNEL_HEADER.replace("Targets: intel, amd\n", "") + DIFF,
         "no key 'targets'"),
        ("kernel/core/B001-x.patch", KERNEL_HEADER + KERNEL_DIFF.replace(f"a/{NAME}", "/dev/null"),
         "adds or removes a file"),
        ("suite/kunit/M01-1-x.patch", HEADER + DIFF.replace("driver/core", "kunit"),
         "Observers: must be kunit"),
        ("answers/CNT.toml", ANSWER.replace("call", "calls"), "unknown key 'calls'"),
        ("answers/CNT.toml", ANSWER.replace('call = "read"\n', ""), "no key 'call'"),
        ("target/a.toml", CLAIM.replace('"a", "b"', '"a"'), "fewer than 2 entries"),
        ("driver/x.toml", ANSWER, "is no file of a fault"),
    ],
)  # fmt: skip
def test_other_malformed_files_are_one_line_errors(
    tmp_path: Path, name: str, text: str, complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint) as caught:
        fault_file.read(written(tmp_path, text, name))
    assert "\n" not in str(caught.value)


def test_same_id_is_an_error_unless_the_kernels_differ(tmp_path: Path) -> None:
    written(tmp_path, KERNEL_HEADER.replace("6.1, ", "") + KERNEL_DIFF, "kernel/B001-a.patch")
    old = KERNEL_HEADER.replace(", 6.12", "") + KERNEL_DIFF.replace("TWO", "2")
    written(tmp_path, old, "kernel/B001-a.6.1.patch")
    found, errors = fault_file.collect(tmp_path)
    assert ([fault.id for fault in found], errors) == (["B001", "B001"], [])
    written(tmp_path, KERNEL_HEADER + KERNEL_DIFF.replace("TWO", "3"), "kernel/B001-b.patch")
    _, (error,) = fault_file.collect(tmp_path)
    assert "B001-b.patch: id B001 is also in B001-a.6.1.patch" in error


def test_same_change_for_the_same_target_is_an_error(tmp_path: Path) -> None:
    written(tmp_path)
    written(tmp_path, HEADER.replace("M01-1", "M02-1") + DIFF, "driver/x/M02-1-other.patch")
    found, (error,) = fault_file.collect(tmp_path)
    assert [fault.id for fault in found] == ["M01-1"]
    assert "M01-1-what has the same change and the same targets" in error


def test_content_has_no_description_and_no_origin(tmp_path: Path) -> None:
    first = read(tmp_path).content
    for old, new in (("a sentence", "words"), ("B001", "B002")):
        assert read(tmp_path, HEADER.replace(old, new) + DIFF).content == first
    for old, new in (("CNT-008", "CNT-009"), (", CRASH", ""), ("Results", "Kernels: 6.1\nResults")):
        assert read(tmp_path, HEADER.replace(old, new) + DIFF).content != first
    assert read(tmp_path, HEADER + DIFF.replace("TWO", "2")).content != first


def test_every_fault_is_readable_and_those_of_the_project_apply(tmp_path: Path) -> None:
    found = fault_file.read_all()
    assert {fault.breaks for fault in found} == set(fault_file.KINDS)
    for fault in found:
        if fault.breaks in ("driver", "suite"):
            copy = tmp_path / fault.name
            for name in fault.files:
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                if (store.ROOT / name).is_file():
                    shutil.copy(store.ROOT / name, copy / name)
            patch.apply(fault, copy)
            shutil.rmtree(copy)


def laid_out(folder: Path, text: str = "one\ntwo\nthree\n") -> Path:
    path = folder / "driver/core/period.c"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("error", [None, UserError("no build"), KeyboardInterrupt()])
def test_patched_copy_is_restored_with_newer_files(
    tmp_path: Path, error: BaseException | None
) -> None:
    source = laid_out(tmp_path / "copy")
    before = source.stat().st_mtime_ns
    try:
        with patch.applied(read(tmp_path), tmp_path / "copy"):
            assert source.read_text() == "one\nTWO\nthree\n"
            if error:
                raise error
    except (UserError, KeyboardInterrupt) as caught:
        assert caught is error
    assert source.read_text() == "one\ntwo\nthree\n"
    assert source.stat().st_mtime_ns > before
    assert not (tmp_path / "copy" / patch.SAVED).exists()


def test_patch_that_does_not_apply_leaves_the_copy_unchanged(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "copy", "ONE\ntwo\nthree\n")
    with pytest.raises(UserError, match="M01-1-what.patch: does not apply"):
        with patch.applied(read(tmp_path), tmp_path / "copy"):
            raise AssertionError
    assert source.read_text() == "ONE\ntwo\nthree\n"
    source.unlink()
    with pytest.raises(UserError, match="does not apply: there is no driver/core/period.c"):
        with patch.applied(read(tmp_path), tmp_path / "copy"):
            raise AssertionError


REASON = '[[reason]]\nids = ["B002", "CNT-001"]\nstatus = "missed"\nreason = "Why."\n'


def test_reasons_are_for_single_ids(tmp_path: Path) -> None:
    written(tmp_path, REASON, "reasons.toml")
    assert reasons.read(tmp_path) == {"B002": ("missed", "Why."), "CNT-001": ("missed", "Why.")}
    assert reasons.of_status(tmp_path, "no fault") == {}
    written(tmp_path, REASON + REASON, "reasons.toml")
    with pytest.raises(UserError, match="B002 occurs twice"):
        reasons.read(tmp_path)
    written(tmp_path, REASON.replace("missed", "lost"), "reasons.toml")
    with pytest.raises(UserError, match="status: 'lost' is not one of no fault"):
        reasons.read(tmp_path)
