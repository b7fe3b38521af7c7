# SPDX-License-Identifier: Apache-2.0
"""Regressions are tried, judged and recorded as documented. Each unexpected result is a failure."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from ci import regressions
from ci.mutation import trial
from ci.mutation.killers import Killers
from ci.mutation.trial import Goal, Trial
from ci.regression import bench, on_kernel, passes, recipes, report, verdict
from ci.regression.judging import Judge
from ci.regression.on_kernel import Request
from ci.regression.verdict import BROKEN, NOT_RUN, Verdict
from ci.regression.workshop import Built
from faults import regression_file, verdicts
from faults.mutant_file import Mutant, PatchError
from faults.regression_file import Regression
from faults.verdicts import CAUGHT, MISSED
from pmubase.errors import UserError
from vm import arch, session
from vm.kernel import Kernel
from vm.suite import Case

HEADER = """Id: B001
Fix: 7f612a7f0bc1 perf/x86: Fix full width counter, counter overflow
Kernels: 6.1, 6.12
Targets: intel, amd
Rules: CNT-003, SMP-005

The driver loses a carry.

"""
NAME = "arch/x86/events/core.c"
DIFF = f"--- a/{NAME}\n+++ b/{NAME}\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"


def written(folder: Path, text: str = HEADER + DIFF) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "B001-carry.patch"
    path.write_text(text, encoding="utf-8")
    return path


def regression(folder: Path, **values: object) -> Regression:
    return replace(regression_file.read(written(folder / "patches")), **values)


CASES = (
    Case("A.One", ("CNT-003",), 1.0, "conformance/cases/a_test.cpp", 1),
    Case("A.Two", ("SMP-005",), 1.0, "conformance/cases/a_test.cpp", 2),
    Case("B.Other", ("ABI-001",), 1.0, "conformance/cases/b_test.cpp", 1),
)


@dataclass(frozen=True)
class FakeTarget:
    """A target of which the tests need no file."""

    name: str
    arch: str | None = arch.AMD64.name
    module: str | None = None
    merged: str = ""


@dataclass
class FakeBench:
    """Results of cases on patched kernels; others pass. It has a list of the cases that ran."""

    results: dict[str, str]
    ran: list[str] = field(default_factory=list)
    boots: bool = True

    def make(self, target: FakeTarget, clean: Built, _out: Path) -> FakeOfTarget:
        return FakeOfTarget(self, target, clean.kernel.name)


class FakeOfTarget:
    """The bench of one target."""

    def __init__(self, shared: FakeBench, target: FakeTarget, kernel: str) -> None:
        self._shared = shared
        self.target = target
        self.name = kernel
        self.cases = CASES
        self.clean = trial.Clean(lambda case: "PASS")
        self.stop = threading.Event()

    def __exit__(self, *_: object) -> None:
        pass

    def judge(
        self,
        _built: object,
        mutant: Mutant,
        goal: Goal,
        groups: Sequence[Sequence[Case]],
        _log: Path,
    ) -> Trial:
        if not self._shared.boots:
            return Trial(mutant, self.name, "CRASH", detail="at load: panic")

        def run(case: Case) -> str:
            self._shared.ran.append(f"{self.target.name} {case.id}")
            named = self._shared.results.get(f"{self.target.name} {case.id}")
            return named or self._shared.results.get(case.id) or "PASS"

        return trial.run_until(goal, mutant, self.name, groups[0], run, self.clean.passes)


class FakeShop:
    """Builds images, except of patches that do not apply."""

    applies = True

    def __init__(self, series: str, on: arch.Arch, out: Path) -> None:
        self._out = out
        self._on = on
        self._name = recipes.kernel_name(series, on)

    def build(self, one: Regression | None, _modules: object, clean: object = None) -> Built:
        if one is not None and not self.applies:
            raise PatchError(f"{one.path}: does not apply: Hunk #1 FAILED at 1.")
        label = "clean" if one is None else one.path.stem
        image = self._out / label / f"image-{self._name}"
        image.parent.mkdir(parents=True, exist_ok=True)
        image.touch()
        return Built(Kernel(self._name, "6.12.9", self._on, image, None), {})


@pytest.fixture(name="suite_of")
def fake_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeBench:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    shared = FakeBench({})
    monkeypatch.setattr(on_kernel, "Bench", shared.make)
    monkeypatch.setattr(on_kernel, "Workshop", FakeShop)
    monkeypatch.setattr(recipes, "missing", lambda on: "")
    monkeypatch.setattr(FakeShop, "applies", True)

    def find_target(name: str) -> FakeTarget:
        return FakeTarget(name, "arm64" if name.startswith("armv8") else arch.AMD64.name)

    monkeypatch.setattr("vm.suite.find_target", find_target)
    monkeypatch.setattr(passes, "common_inputs", lambda target, name: [f"text:{target.name}"])
    monkeypatch.setattr(passes, "OURS", ())
    return shared


def judged(
    tmp_path: Path,
    one: Regression,
    goal: Goal = Goal.KILL,
    own: bool = False,
    fresh: bool = False,
    first: str = "",
) -> Verdict:
    known = {(one.id, "6.12"): first} if first else {}
    request = Request((one,), ("6.12",), goal, fresh, own, tmp_path / "out", known)
    (found,) = Judge(request, Killers({}), io.StringIO()).run()
    return found


def test_failed_case_of_a_named_rule_catches(tmp_path: Path, suite_of: FakeBench) -> None:
    suite_of.results["A.Two"] = "FAIL"
    done = judged(tmp_path, regression(tmp_path))
    assert (done.result, done.rule, done.case) == (CAUGHT, "SMP-005", "A.Two")
    assert (done.target, done.tried, done.problem) == ("intel", 2, "")
    images = [path.parent.name for path in (tmp_path / "out").rglob("image-*")]
    assert images == ["clean"]


def test_named_rules_are_tried_on_all_targets_before_the_other_cases(
    tmp_path: Path, suite_of: FakeBench
) -> None:
    done = judged(tmp_path, regression(tmp_path))
    assert suite_of.ran == [
        *("intel A.One", "intel A.Two", "amd A.One", "amd A.Two"),
        *("intel B.Other", "amd B.Other"),
    ]
    assert (done.result, done.tried) == (MISSED, 6)


def test_case_of_another_rule_catches_after_all_named_rules(
    tmp_path: Path, suite_of: FakeBench
) -> None:
    suite_of.results["amd B.Other"] = "FAIL"
    done = judged(tmp_path, regression(tmp_path))
    assert (done.result, done.rule, done.case) == (CAUGHT, "ABI-001", "B.Other")
    assert (done.target, done.failed_rules) == ("amd", ())


def test_case_that_caught_last_is_tried_first(tmp_path: Path, suite_of: FakeBench) -> None:
    suite_of.results["B.Other"] = "FAIL"
    done = judged(tmp_path, regression(tmp_path), first="B.Other")
    assert (done.case, suite_of.ran) == ("B.Other", ["intel B.Other"])


def test_run_for_all_rules_continues_on_the_next_target(
    tmp_path: Path, suite_of: FakeBench
) -> None:
    suite_of.results |= {"intel A.One": "FAIL", "amd A.Two": "FAIL"}
    done = judged(tmp_path, regression(tmp_path), Goal.RULES)
    assert done.failed_rules == (("CNT-003", "A.One"), ("SMP-005", "A.Two"))
    assert suite_of.ran == ["intel A.One", "intel A.Two", "amd A.Two"]


def test_run_of_all_cases_does_not_stop(tmp_path: Path, suite_of: FakeBench) -> None:
    suite_of.results["A.One"] = "FAIL"
    done = judged(tmp_path, regression(tmp_path), Goal.ALL)
    assert (done.tried, len(suite_of.ran)) == (6, 6)


def test_crash_catches_only_if_the_header_expects_it(tmp_path: Path, suite_of: FakeBench) -> None:
    suite_of.results["A.One"] = "CRASH"
    done = judged(tmp_path, regression(tmp_path))
    assert (done.result, "CRASH in A.One" in done.detail) == (MISSED, True)
    expected = regression(tmp_path, kill=("CRASH",))
    assert judged(tmp_path, expected).result == CAUGHT


def test_patch_that_does_not_apply_is_broken(tmp_path: Path, suite_of: FakeBench) -> None:
    FakeShop.applies = False
    done = judged(tmp_path, regression(tmp_path))
    assert (done.result, suite_of.ran) == (BROKEN, [])
    assert "does not apply" in done.problem
    assert report.status([done], []) == 2


def test_kernel_that_does_not_boot_is_broken(tmp_path: Path, suite_of: FakeBench) -> None:
    suite_of.boots = False
    done = judged(tmp_path, regression(tmp_path))
    assert (done.result, done.detail) == (BROKEN, "intel: at load: panic")


def test_miss_needs_a_reason(tmp_path: Path, suite_of: FakeBench) -> None:
    assert not suite_of.results
    done = judged(tmp_path, regression(tmp_path))
    assert "missed, and the header has no reason" in done.problem
    assert report.status([done], []) == 1
    lines = report.summary([done], [], []).splitlines()
    assert lines[1].startswith(
        "  cases of its rules (CNT-003, SMP-005): intel A.One PASS, intel A.Two"
    )
    done = judged(tmp_path, regression(tmp_path, missed="No case reads it."), fresh=True)
    assert (done.result, done.problem) == (MISSED, "")
    assert report.status([done], []) == 0


def test_caught_regression_must_not_be_an_expected_miss(
    tmp_path: Path, suite_of: FakeBench
) -> None:
    suite_of.results["A.One"] = "FAIL"
    done = judged(tmp_path, regression(tmp_path, missed="No case reads it."))
    assert "caught by A.One, so remove the key Missed" in done.problem
    assert report.status([done], []) == 1


def test_architecture_without_a_compiler_is_not_run(
    tmp_path: Path, suite_of: FakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipes, "missing", lambda on: "no gcc" if on == arch.ARM64 else "")
    done = judged(tmp_path, regression(tmp_path, targets=("armv8_pmuv3",)))
    assert (done.result, done.problem, done.detail) == (NOT_RUN, "", "no gcc")
    assert suite_of.ran == []
    done = judged(tmp_path, regression(tmp_path, targets=("armv8_pmuv3", "amd")))
    assert (done.result, done.detail) == (NOT_RUN, "no case caught it; no gcc")
    assert report.status([done], []) == 0


def test_other_architecture_is_tried_after_a_miss(tmp_path: Path, suite_of: FakeBench) -> None:
    suite_of.results["armv8_pmuv3 A.One"] = "FAIL"
    one = regression(tmp_path, targets=("armv8_pmuv3", "amd"))
    done = judged(tmp_path, one)
    assert (done.result, done.case, done.target) == (CAUGHT, "A.One", "armv8_pmuv3")
    assert (done.tried, suite_of.ran[-2:]) == (4, ["amd B.Other", "armv8_pmuv3 A.One"])
    suite_of.results["amd A.Two"] = "FAIL"
    suite_of.ran.clear()
    done = judged(tmp_path, one, fresh=True)
    assert (done.target, suite_of.ran) == ("amd", ["amd A.One", "amd A.Two"])


@pytest.mark.parametrize("result", ["FAIL", "PASS"])
def test_result_with_the_same_inputs_is_not_tried_again(
    tmp_path: Path, suite_of: FakeBench, result: str
) -> None:
    suite_of.results["A.Two"] = result
    one = regression(tmp_path)
    first = judged(tmp_path, one)
    again = judged(tmp_path, replace(one, text="other words", missed="x"))
    assert again.recorded and not first.recorded
    assert (again.result, again.case, again.tried) == (first.result, first.case, first.tried)
    assert not judged(tmp_path, replace(one, diff=one.diff.replace("TWO", "2"))).recorded
    assert not judged(tmp_path, one, Goal.RULES).recorded
    assert not judged(tmp_path, one, fresh=True).recorded


def test_miss_by_the_cases_of_the_named_rules_is_not_recorded(
    tmp_path: Path, suite_of: FakeBench
) -> None:
    one = regression(tmp_path)
    done = judged(tmp_path, one, own=True)
    assert (done.result, done.tried) == (MISSED, 4)
    suite_of.results["A.Two"] = "FAIL"
    again = judged(tmp_path, one, own=True)
    assert (again.result, again.recorded) == (CAUGHT, False)
    # A catch does not depend on the other cases.
    assert judged(tmp_path, one).recorded


def test_failure_must_repeat_itself() -> None:
    guests = session.Session.__new__(session.Session)
    answers = iter(["FAIL", "PASS", "FAIL", "FAIL", "PASS"])
    judge = bench.Bench.__new__(bench.Bench)
    judge.stop = threading.Event()
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(session.Session, "run", lambda *_: {"result": next(answers)})
        assert [judge.run_case(guests, CASES[0]) for _ in range(3)] == ["PASS", "FAIL", "PASS"]
        judge.stop.set()
        with pytest.raises(UserError, match="interrupted"):
            judge.run_case(guests, CASES[0])


def test_results_file_has_a_case_for_each_result(tmp_path: Path) -> None:
    one = regression(tmp_path)
    found = [
        Verdict(one, "6.12", CAUGHT, "intel", "A.One", "CNT-003"),
        Verdict(one, "6.1", MISSED, detail="d"),
        Verdict(one, "6.6", BROKEN, detail="does not apply"),
        Verdict(one, "6.7", NOT_RUN, detail="no built kernel"),
    ]
    report.write(found, ["x.patch: bad"], ["f"], tmp_path / "results.json")
    document = json.loads((tmp_path / "results.json").read_text())
    assert [case["result"] for case in document["cases"]] == ["PASS", "FAIL", "BROKEN", "SKIP"]
    totals = {"cases": 5, "passed": 1, "failed": 3, "skipped": 1}
    assert (document["totals"], document["caught"]) == (totals, 1)
    assert document["regressions"][0]["case"] == "A.One"
    rows = report.table(found).splitlines()
    assert rows[2] == "1 caught, 1 missed, 1 broken, 1 not run."
    assert (
        "| B001 | perf/x86: Fix full width counter, counter overflow | 6.12 | caught |" in rows[6]
    )


def test_first_failing_rule_that_the_patch_names_is_reported(tmp_path: Path) -> None:
    one = regression(tmp_path)
    done = Trial(one.on("intel"), "6.12", "KILLED", killed_by=("A.Two",))
    rules = {"A.Two": ("ABI-001", "SMP-005")}
    assert verdict.decide(one, "6.12", [done], rules).rule == "SMP-005"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--folder", "/no/such/folder"], "no folder /no/such/folder"),
        (["--kernel", "5.4"], "unknown kernel '5.4' (known: 6.1, 6.12, 7.2)"),
    ],
)
def test_invalid_request_is_a_one_line_error(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert regressions.main(["--out", str(tmp_path), *words]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("regressions: ") and said in line


@pytest.mark.parametrize(("options", "wanted"), [([], {"B001", "B002"}), (["--own"], {"B001"})])
def test_miss_by_the_named_rules_alone_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], wanted: set[str]
) -> None:
    folder = tmp_path / "own"
    for name in ("B001", "B002"):
        header = HEADER.replace("B001", name)
        diff = DIFF.replace("TWO", name)
        path = folder / f"{name}-bug.patch"
        path.parent.mkdir(exist_ok=True)
        path.write_text(header + diff, encoding="utf-8")
    one, other = regression_file.collect(folder)[0]
    found = [
        Verdict(one, "6.12", CAUGHT, "intel", "A.One", "CNT-003"),
        Verdict(other, "6.12", MISSED),
    ]
    monkeypatch.setattr(regressions, "FOLDER", folder)
    monkeypatch.setattr(Judge, "run", lambda _: found)
    monkeypatch.setattr(Killers, "read", lambda: Killers({}))
    monkeypatch.setattr(Killers, "write", lambda *_: None)
    regressions.main(["--out", str(tmp_path), "--write", *options])
    assert {name for name, _ in verdicts.read(folder)} == wanted


def test_folder_without_a_patch_for_the_kernel_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "own", HEADER.replace("6.1, 6.12", "6.1") + DIFF)
    words = ["--out", str(tmp_path), "--folder", str(tmp_path / "own"), "--kernel", "6.12"]
    assert regressions.main(words) == 2
    assert "no patch for 6.12 in" in capsys.readouterr().err
