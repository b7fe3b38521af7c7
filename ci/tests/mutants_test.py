# SPDX-License-Identifier: Apache-2.0
"""Mutants are read, applied, tried and counted as documented. Only a killed mutant counts as killed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from ci import mutants
from ci.mutation import kunit, report, rule_evidence, trial, workshop
from ci.mutation.killers import Killers
from ci.mutation.kunit import KunitResults
from ci.mutation.trial import Clean, Goal, Ran, Trial
from faults import mutant_file
from faults.mutant_file import Mutant, PatchError
from pmubase.errors import UserError
from vm.channel import Message
from vm.suite import Case

HEADER = """Id: M01-1
Class: C01
Rules: CNT-007, CNT-008
After: B001
Kernels: both
Kill: FAIL, CRASH

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


def written(folder: Path, text: str, name: str = "M01-1-what.patch") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def case(name: str, *rules: str) -> Case:
    return Case(name, rules, 10.0, "", 0)


def mutant(**values: object) -> Mutant:
    plain = Mutant("M1-1", Path("M1-1-x.patch"), "C01", ("CNT-001",), "", (), ("FAIL",), "t", ())
    return replace(plain, **values)


def test_a_header_is_read(tmp_path: Path) -> None:
    read = mutant_file.read(written(tmp_path, HEADER + DIFF))
    assert (read.id, read.failure_class, read.after) == ("M01-1", "C01", "B001")
    assert read.rules == ("CNT-007", "CNT-008")
    assert read.kill == ("FAIL", "CRASH")
    assert read.text == "What is wrong, in a sentence."
    assert read.wants("6.1") and read.wants("6.12")
    assert not read.remarks


def test_mutant_of_one_kernel_does_not_run_on_another(tmp_path: Path) -> None:
    read = mutant_file.read(written(tmp_path, HEADER.replace("both", "6.12") + DIFF))
    assert read.wants("6.12") and not read.wants("6.1")


def test_debug_kernel_runs_exactly_its_own_mutants(tmp_path: Path) -> None:
    read = mutant_file.read(written(tmp_path, HEADER.replace("both", "6.12-debug") + DIFF))
    kernels = ("6.1", "6.12", "6.1-debug", "6.12-debug")
    assert [name for name in kernels if read.wants(name)] == ["6.12-debug"]
    assert [name for name in kernels if mutant().wants(name)] == ["6.1", "6.12"]


def test_mutants_of_other_kernels_are_listed_but_do_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutants, "OUT", tmp_path / "out")
    written(tmp_path, HEADER.replace("both", "6.12-debug") + DIFF)
    assert mutants.main(["--folder", str(tmp_path), "--kernel", "6.12"]) == 2
    assert "skipped, for other kernels: M01-1\n" in capsys.readouterr().out


KASAN = "BUG: KASAN: slab-out-of-bounds in x"
SAID: list[Message] = [
    {"t": "result", "id": "A.Fine", "result": "PASS"},
    {"t": "result", "id": "A.Loses", "result": "CRASH"},
    {"t": "result", "id": "A.Loses", "result": "CRASH"},
    {"t": "unload", "ok": True},
    {"t": "kmsg", "reports": [KASAN]},
]


def test_report_of_a_debug_kernel_at_the_end_kills_if_a_crash_does() -> None:
    found = trial.complaints(SAID)
    assert found == ["A.Loses", f"(kernel: {KASAN})"]
    lives = Trial(mutant(kill=("CRASH",)), "6.12-debug", "SURVIVED")
    assert trial.at_the_end(lives, found).killed_by == tuple(found)
    assert trial.at_the_end(lives, found).killed
    assert not trial.at_the_end(lives, []).killed
    assert not trial.at_the_end(replace(lives, mutant=mutant()), found).killed


def test_patch_without_header_runs_all_cases_and_has_a_remark(tmp_path: Path) -> None:
    read = mutant_file.read(
        written(tmp_path, "From: somebody\n\nJust a text.\n" + DIFF, "odd.patch")
    )
    assert (read.id, read.rules, read.kernels, read.kill) == ("odd", (), (), ("FAIL",))
    assert "all cases are tried" in read.remarks[0]
    cases = [case("A.B", "CNT-001"), case("C.D", "CNT-002")]
    assert trial.cases_of_rules(read, cases) == cases


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (HEADER.replace("CNT-007,", "CNT7,") + DIFF, "Rules: 'CNT7' is not a rule id"),
        (HEADER.replace("both", "new") + DIFF, "Kernels: 'new' is neither 'both' nor"),
        (
            HEADER.replace("FAIL,", "LOSE,") + DIFF,
            "Kill: 'LOSE' must be one of FAIL, CRASH, TIMEOUT",
        ),
        (
            HEADER + "Observers: suite, me\n" + DIFF,
            "Observers: 'me' must be one of unit, fuzz, kunit, suite",
        ),
        (HEADER + "Observers: any suite\n" + DIFF, "'any' must be followed by two observers"),
        (HEADER + "Observers: fuzz\n" + DIFF, "Harness: must be set for the observer fuzz"),
        (HEADER + "Harness: period\n" + DIFF, "Harness: must be set for the observer fuzz"),
        (
            HEADER + "Observers: fuzz\nHarness: ../x\n" + DIFF,
            "Harness: '../x' is not the name of a harness",
        ),
        (HEADER.replace("C01", "") + DIFF, ":2: Class: has no value"),
        (HEADER + "Id: M02-1\n" + DIFF, "Id: occurs twice"),
        (HEADER, "not a patch: no line starts a diff"),
        (HEADER + DIFF.replace("driver/core", "vm/core"), "which is not in driver/"),
        (HEADER + DIFF.replace("b/driver/core", "b/driver/../vm"), "which is not in driver/"),
        ("", "not a patch"),
    ],
)
def test_malformed_patch_is_a_one_line_error_that_names_it(
    tmp_path: Path, text: str, complaint: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(PatchError) as caught:
        mutant_file.read(path)
    assert complaint in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_duplicate_id_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, HEADER + DIFF, "M01-1-a.patch")
    written(tmp_path, HEADER + DIFF, "M01-1-b.patch")
    found, errors = mutant_file.collect(tmp_path)
    assert [m.path.name for m in found] == ["M01-1-a.patch"]
    assert "Id M01-1 is also the id of M01-1-a.patch" in str(errors[0])


def driver(folder: Path, text: str = "one\ntwo\nthree\n") -> Path:
    (folder / "driver" / "core").mkdir(parents=True)
    (folder / "driver" / "core" / "period.c").write_text(text, encoding="utf-8")
    return folder / "driver"


def test_patch_changes_only_the_copy(tmp_path: Path) -> None:
    source = driver(tmp_path)
    read = mutant_file.read(written(tmp_path / "patches", HEADER + DIFF))
    copy = workshop.restore(source, tmp_path / "copy")
    mutant_file.apply(read, tmp_path / "copy")
    assert (copy / "core" / "period.c").read_text() == "one\nTWO\nthree\n"
    assert (source / "core" / "period.c").read_text() == "one\ntwo\nthree\n"


def test_patch_with_old_context_does_not_apply(tmp_path: Path) -> None:
    source = driver(tmp_path, "ONE\ntwo\nthree\n")
    read = mutant_file.read(written(tmp_path / "patches", HEADER + DIFF))
    workshop.restore(source, tmp_path / "copy")
    with pytest.raises(PatchError, match="does not apply"):
        mutant_file.apply(read, tmp_path / "copy")


def test_every_mutant_is_readable_and_applies(tmp_path: Path) -> None:
    found, errors = mutant_file.collect(*mutant_file.folders(mutants.ROOT))
    assert not errors
    assert {mutant_file.component_of(each.path) for each in found} == set(mutant_file.COMPONENTS)
    for each in found:
        assert each.path.name.startswith(f"{each.id}-")
        assert each.rules and each.failure_class and each.text
        for name in mutant_file.touched(each):
            copy = tmp_path / "copy" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes((mutants.ROOT / name).read_bytes())
        mutant_file.apply(each, tmp_path / "copy")


def test_workshop_writes_only_changed_files(tmp_path: Path) -> None:
    source = driver(tmp_path)
    (source / "core" / "state.c").write_text("state", encoding="utf-8")
    copy = workshop.restore(source, tmp_path / "copy")
    old = (copy / "core" / "state.c").stat().st_mtime_ns
    mutant_file.apply(
        mutant_file.read(written(tmp_path / "patches", HEADER + DIFF)), tmp_path / "copy"
    )
    (copy / "core" / "new.c").write_text("of a mutant", encoding="utf-8")
    (copy / "core" / "state.o").write_text("made", encoding="utf-8")
    workshop.restore(source, tmp_path / "copy")
    assert (copy / "core" / "period.c").read_text() == "one\ntwo\nthree\n"
    assert (copy / "core" / "state.c").stat().st_mtime_ns == old
    assert sorted(path.name for path in (copy / "core").iterdir()) == [
        "period.c",
        "state.c",
        "state.o",
    ]


CASES = [case("A.One", "CNT-001"), case("A.Two", "CNT-001"), case("B.Three", "CNT-002")]


def hunted(
    results: dict[str, str], wanted: Mutant, goal: Goal = Goal.KILL, unclean: str = ""
) -> Trial:
    def run(tried: Case) -> str:
        return results.get(tried.id, "PASS")

    return trial.run_until(goal, wanted, "6.12", CASES, run, lambda c: c.id != unclean)


def test_the_first_failing_case_kills() -> None:
    done = hunted({"A.Two": "FAIL", "B.Three": "FAIL"}, mutant())
    assert (done.result, done.killed_by, done.tried) == ("KILLED", ("A.Two",), 2)


def test_all_cases_run_when_asked_for() -> None:
    done = hunted({"A.Two": "FAIL", "B.Three": "FAIL"}, mutant(), Goal.ALL)
    assert (done.killed_by, done.tried) == (("A.Two", "B.Three"), 3)


BOTH_RULES = ("CNT-001", "CNT-002")


def test_run_for_all_rules_ends_when_each_rule_was_failed() -> None:
    results = {"A.One": "FAIL", "A.Two": "FAIL", "B.Three": "FAIL"}
    done = hunted(results, mutant(rules=BOTH_RULES), Goal.RULES)
    assert done.killed_by == ("A.One", "B.Three")
    assert done.failed_rules == (("CNT-001", "A.One"), ("CNT-002", "B.Three"))
    assert (done.unfailed_rules, done.searched, done.tried) == ((), True, 2)


def test_first_kill_leaves_the_other_rules_unsearched() -> None:
    done = hunted({"A.One": "FAIL", "B.Three": "FAIL"}, mutant(rules=BOTH_RULES))
    assert (done.killed_by, done.failed_rules) == (("A.One",), (("CNT-001", "A.One"),))
    assert (done.unfailed_rules, done.searched) == (("CNT-002",), False)


def test_rule_that_no_case_failed_is_reported() -> None:
    done = hunted({"A.One": "FAIL"}, mutant(rules=BOTH_RULES), Goal.RULES)
    assert (done.unfailed_rules, done.searched, done.tried) == (("CNT-002",), True, 2)
    assert rule_evidence.unfailed([done]) == [("M1-1", "CNT-002")]
    lines = report.summary([done], [], [], rules=True).splitlines()
    assert lines[0] == "M1-1: rule CNT-002: not failed by this mutant"
    by_other = replace(done, kernel="6.1", failed_rules=(("CNT-002", "B.Three"),))
    assert rule_evidence.unfailed([done, by_other]) == []
    assert rule_evidence.unfailed([replace(done, searched=False)]) == []


def test_evidence_of_a_rule_names_mutant_observer_test_and_kernel(tmp_path: Path) -> None:
    done = hunted({"B.Three": "FAIL"}, mutant(rules=BOTH_RULES))
    rule_evidence.write([done, replace(done, result="CRASH")], tmp_path / "rules.json")
    entry = {"mutant": "M1-1", "observer": "suite", "test": "B.Three", "kernel": "6.12"}
    assert json.loads((tmp_path / "rules.json").read_text()) == {"CNT-002": [entry]}


@pytest.mark.parametrize("result", ["PASS", "SKIP", "WAIVED", "BROKEN", "NOT_RUN"])
def test_only_a_failure_kills(result: str) -> None:
    assert hunted({c.id: result for c in CASES}, mutant()).result == "SURVIVED"


@pytest.mark.parametrize("result", ["CRASH", "TIMEOUT"])
def test_a_lost_guest_kills_only_where_the_header_expects_it(result: str) -> None:
    unwelcome = hunted({"A.One": result}, mutant())
    assert (unwelcome.result, unwelcome.detail) == (result, f"{result} in A.One")
    assert hunted({"A.One": result}, mutant(kill=("FAIL", result))).result == "KILLED"


def test_survivor_reports_the_broken_cases() -> None:
    done = hunted({"A.Two": "BROKEN"}, mutant())
    assert (done.result, done.detail) == ("SURVIVED", "BROKEN, not FAIL, in A.Two")


def test_a_failure_after_a_lost_guest_still_kills() -> None:
    done = hunted({"A.One": "CRASH", "A.Two": "FAIL"}, mutant())
    assert (done.result, done.killed_by) == ("KILLED", ("A.Two",))


@pytest.mark.parametrize("result", ["FAIL", "CRASH", "TIMEOUT", "BROKEN"])
def test_case_that_the_clean_driver_fails_does_not_kill(result: str) -> None:
    done = hunted({"A.One": result}, mutant(kill=("FAIL", "CRASH")), unclean="A.One")
    assert (done.result, done.detail, done.tried) == ("SURVIVED", "", 3)


def test_last_killer_runs_first_without_effect_on_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    known = Killers.read()
    assert known.first(mutant(), CASES) == CASES
    known.write([KILLED, replace(KILLED, killed_by=("B.Three",)), SURVIVED])
    known = Killers.read()
    assert [c.id for c in known.first(mutant(), CASES)] == ["B.Three", "A.One", "A.Two"]
    assert known.first(mutant(path=Path("other.patch")), CASES) == CASES
    assert known.first(mutant(), CASES[:2]) == CASES[:2]
    (path,) = tmp_path.rglob("killers.json")
    path.write_text("[")
    assert Killers.read().first(mutant(), CASES) == CASES


def test_no_case_runs_after_three_lost_guests() -> None:
    cases = [case(f"A.{i}", "CNT-001") for i in range(9)]
    done = trial.run_until(Goal.KILL, mutant(), "6.12", cases, lambda c: "TIMEOUT", lambda c: True)
    assert (done.result, done.tried) == ("TIMEOUT", 3)


def test_crash_remains_the_result_if_the_other_cases_pass() -> None:
    first = Trial(mutant(), "6.12", "CRASH", detail="CRASH in A.One")
    joined = first.continued_by(Trial(mutant(), "6.12", "SURVIVED"))
    assert (joined.result, joined.detail) == ("CRASH", "CRASH in A.One")


def test_a_case_that_the_clean_driver_fails_is_a_fault_and_one_it_skips_is_not() -> None:
    asked = []

    def run(tried: Case) -> str:
        asked.append(tried.id)
        return {"A.One": "PASS", "A.Two": "SKIP", "B.Three": "BROKEN"}[tried.id]

    clean = Clean(run)
    assert not clean.faults()
    assert [clean.passes(c) for c in (*CASES, *CASES)] == [True, False, False] * 2
    assert [clean.fits(c) for c in CASES] == [True, True, False]
    assert asked == ["A.One", "A.Two", "B.Three"]
    assert clean.faults() == [("B.Three", "BROKEN")]


def test_rules_without_a_case_are_named_and_all_cases_tried() -> None:
    strange = mutant(rules=("CNT-999",))
    assert trial.cases_of_rules(strange, CASES) == CASES
    assert trial.with_remarks(strange, CASES).remarks == (
        "no case of the suite verifies CNT-999",
        "all cases are tried",
    )
    assert trial.with_remarks(mutant(), CASES).remarks == ()


def ran(
    *problems: str, verdict: str = "PASSED", own: str = "PASS", other: str = "PASS"
) -> KunitResults:
    """A run of suite s. The case `own` has the mutant's rule, `other` another one."""
    cases: dict[str, dict[str, tuple[str, ...]]] = {}
    cases.setdefault(own, {})["s.own"] = ("CNT-001",)
    cases.setdefault(other, {})["s.other"] = ("CNT-002",)
    return KunitResults("6.12", verdict, cases, problems)


def of_kunit(tried: KunitResults, *kill: str, clean: KunitResults = ran()) -> Trial:
    return kunit.decide(mutant(kill=kill or ("FAIL",)), clean, tried)


def test_observers_are_read(tmp_path: Path) -> None:
    assert mutant_file.read(written(tmp_path, HEADER + DIFF)).observers == ("suite",)
    both = mutant_file.read(written(tmp_path, HEADER + "Observers: suite, kunit\n" + DIFF))
    assert (both.observers, both.any_of) == (("kunit", "suite"), False)
    text = HEADER + "Observers: any suite, unit, fuzz\nHarness: period\n" + DIFF
    one_of = mutant_file.read(written(tmp_path, text))
    assert (one_of.observers, one_of.any_of) == (("unit", "fuzz", "suite"), True)
    assert one_of.harness == "period"


def test_same_change_for_the_same_target_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, HEADER + DIFF)
    other = HEADER.replace("M01-1", "M01-2")
    written(tmp_path, other + DIFF, "M01-2-b.patch")
    written(tmp_path, "Target: refpmu_little\n" + other.replace("-2", "-3") + DIFF, "M01-3-c.patch")
    found, errors = mutant_file.collect(tmp_path)
    assert [m.id for m in found] == ["M01-1", "M01-3"]
    assert "M01-1-what.patch has the same change and the same target" in str(errors[0])


def test_content_of_a_mutant_has_no_description(tmp_path: Path) -> None:
    first = mutant_file.read(written(tmp_path, HEADER + DIFF))
    for old, new, same in (
        ("in a sentence", "in other words", True),
        ("Class: C01", "Class: C02", True),
        ("CNT-007, CNT-008", "CNT-007", False),
        ("Kill: FAIL, CRASH", "Kill: FAIL", False),
    ):
        changed = mutant_file.read(written(tmp_path, HEADER.replace(old, new) + DIFF))
        assert (changed.content == first.content) == same, old
    changed = mutant_file.read(written(tmp_path, HEADER + DIFF.replace("TWO", "2")))
    assert changed.content != first.content


def test_patch_may_change_only_the_folder_that_its_mutants_are_in() -> None:
    for name, component in (
        ("driver/mutants/counters/C01-x.patch", "driver"),
        ("oracle/mutants/I01-x.patch", "oracle"),
        ("conformance/mutants/J01-x.patch", "conformance"),
        ("kunit/mutants/Y01-x.patch", "kunit"),
    ):
        assert mutant_file.component_of(mutants.ROOT / name) == component
    assert mutant_file.component_of(Path("/elsewhere/mutants/x.patch")) == "driver"


def test_a_kunit_case_of_its_rules_kills_before_others() -> None:
    done = of_kunit(ran(verdict="FAILED", own="FAIL", other="FAIL"))
    assert (done.result, done.killed_by, done.other_rules) == ("KILLED", ("s.own",), False)
    done = of_kunit(ran(verdict="FAILED", other="FAIL"))
    assert (done.result, done.killed_by, done.other_rules) == ("KILLED", ("s.other",), True)


def test_kernel_report_kills() -> None:
    done = of_kunit(ran("BUG: sleeping function", verdict="FAILED"))
    assert (done.result, done.killed_by) == ("KILLED", ("(kernel: BUG: sleeping function)",))


def test_kunit_cases_that_pass_or_that_the_clean_driver_fails_kill_nothing() -> None:
    assert of_kunit(ran()).result == "SURVIVED"
    failing = ran(verdict="FAILED", own="FAIL")
    assert of_kunit(failing, clean=failing).result == "SURVIVED"
    assert kunit.faults(failing) == ["KUnit on 6.12: s.own"]
    assert not kunit.faults(ran())


def test_a_guest_that_does_not_end_kills_only_where_the_header_expects_it() -> None:
    lost = ran("the guest was not done at its deadline", verdict="NOT_JUDGED")
    assert (of_kunit(lost).result, of_kunit(lost).detail) == ("CRASH", lost.problems[0])
    assert of_kunit(lost, "FAIL", "CRASH").result == "KILLED"


def test_invalid_kunit_results_are_a_one_line_error(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(
        '{"verdict": "FAILED", "problems": ["p"],'
        ' "cases": [{"id": "s.a", "result": "FAIL", "rules": ["CNT-001"]}]}'
    )
    read = kunit.read("6.1", path)
    assert (read.names("FAIL", ["CNT-001"]), read.problems) == (["s.a"], ("p",))
    path.write_text("{}")
    with pytest.raises(UserError, match="no KUnit results"):
        kunit.read("6.1", path)


KILLED = Trial(mutant(), "6.12", "KILLED", killed_by=("A.One",))
SURVIVED = Trial(mutant(), "6.12", "SURVIVED")


@pytest.mark.parametrize("name", ["empty", "missing"])
def test_a_folder_without_patches_is_not_judged(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "OUT", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    assert mutants.main(["--folder", str(tmp_path / name)]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert str(tmp_path / name) in complaint


def test_an_unknown_id_is_refused_with_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "OUT", tmp_path / "out")
    written(tmp_path, HEADER + DIFF)
    assert mutants.main(["--folder", str(tmp_path), "--id", "M99-9"]) == 2
    assert "unknown id M99-9 (known: M01-1)" in capsys.readouterr().err


def test_a_folder_of_unreadable_patches_is_not_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutants, "OUT", tmp_path / "out")
    written(tmp_path, HEADER)
    assert mutants.main(["--folder", str(tmp_path)]) == 2
    assert "no line starts a diff" in capsys.readouterr().err
    assert json.loads((tmp_path / "out" / "results.json").read_text())["killed"] == 0
