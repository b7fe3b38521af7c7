# SPDX-License-Identifier: Apache-2.0
"""The parts contain every mutant, and the page and the lint step include every rule."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ci import mutants
from ci.checks import mutants as step
from ci.mutation import matrix, parts, report
from ci.mutation.trial import Trial
from faults import exempt_rules, mutant_file
from faults.mutant_file import Mutant
from pmubase.errors import UserError

ROOT = Path(__file__).resolve().parent.parent.parent
PLAIN = Mutant("M1-1", Path("M1-1-x.patch"), "C01", ("CNT-001",), "", (), ("FAIL",), "t", ())
FIRST = Trial(PLAIN, "6.12", "KILLED", killed_by=("A.One",))
RULES = ("CNT-001", "CNT-002", "ABI-001", "ABI-002")
REASONS = """
[[exempt]]
rules = ["ABI-001"]
reason = "perf's own"

[[exempt]]
rules = ["ABI-002", "CNT-002"]
reason = "another"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / exempt_rules.NAME
    path.write_text(text, encoding="utf-8")
    return path


def test_parts_together_have_every_mutant_once() -> None:
    all_of_them = [replace(PLAIN, id=f"M{n}-1") for n in range(100)]
    for count in (1, 7, 30):
        each = [parts.part_of(all_of_them, number, count) for number in range(1, count + 1)]
        assert sorted(m.id for part in each for m in part) == sorted(m.id for m in all_of_them)


def test_new_mutant_does_not_change_the_part_of_others() -> None:
    before = [replace(PLAIN, id=f"M{n}-1") for n in range(50)]
    after = [replace(PLAIN, id="A1"), *before]
    mine = parts.part_of(before, 3, 8)
    assert [m for m in parts.part_of(after, 3, 8) if m.id != "A1"] == mine


def test_parts_of_the_mutants_have_similar_sizes() -> None:
    found, _ = mutant_file.collect(ROOT / "driver" / "mutants")
    sizes = [len(parts.part_of(found, number, 8)) for number in range(1, 9)]
    assert min(sizes) > 0 and max(sizes) < 2 * len(found) / 8


@pytest.mark.parametrize("given", [["--part", "0/2"], ["--part", "3/2"], ["--part", "x"]])
def test_invalid_part_is_a_one_line_error(
    given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        mutants.main(given)
    assert refused.value.code == 2
    assert f"argument {given[0]}: invalid" in capsys.readouterr().err.splitlines()[-1]


def test_only_a_test_of_the_rule_verifies_it_by_a_kill() -> None:
    mutant = replace(PLAIN, rules=("CNT-001", "CNT-002"))
    failed = (("CNT-001", "A.One"),)
    killed = Trial(mutant, "6.12", "KILLED", killed_by=("A.One",), failed_rules=failed)
    for done, expected in (
        (killed, {"CNT-001"}),
        (replace(killed, failed_rules=()), set()),
        (replace(killed, result="SURVIVED"), set()),
        (replace(killed, observer="kunit"), {"CNT-001"}),
    ):
        assert matrix.verified_by_kills(report.rows([done])) == expected


def test_page_has_classes_survivors_and_rules_without_a_kill() -> None:
    trials = [
        replace(FIRST, failed_rules=(("CNT-001", "A.One"),)),
        Trial(replace(PLAIN, id="M2-1", rules=("CNT-002",)), "6.12", "SURVIVED"),
    ]
    rules_of = {"A.One": ("CNT-001",), "A.Two": ("CNT-002", "ABI-001"), "A.Three": ("ABI-002",)}
    trials += [replace(trials[0], observer="kunit"), replace(trials[0], kernel="6.1")]
    reasons, titles = {"ABI-001": "perf's own"}, {"C01": "sums"}
    page = matrix.page(report.rows(trials), rules_of, reasons, titles)
    assert "- 6.12, suite: 1 of 2 killed\n- 6.12, kunit: 1 of 1 killed\n- 6.1, suite: 1" in page
    assert "| C01 | sums | 1/2 | 1/1 | 1/1 | 1 |  |  |  |" in page
    assert "| all |  | 1/2 | 1/1 | 1/1 | 1 |  |  |  |" in page
    assert "- M2-1 (M1-1-x.patch) on 6.12, suite: SURVIVED, rules CNT-002\n" in page
    assert "another rule killed the mutant first, or none did | CNT-002 |\n" in page
    assert "| 1 | perf's own | ABI-001 |\n" in page
    assert "| 1 | no mutant of these runs names it | ABI-002 |\n" in page


def test_complete_run_keeps_the_rows_of_other_kernels(tmp_path: Path) -> None:
    new = report.rows([Trial(PLAIN, "6.12", "KILLED", killed_by=("A.One",))])
    old = report.rows([Trial(PLAIN, "6.1", "SURVIVED")])
    assert matrix.add_rows_of_other_kernels(new, tmp_path, whole=False) == new
    assert not list(tmp_path.iterdir())
    assert matrix.add_rows_of_other_kernels(old, tmp_path, whole=True) == old
    assert matrix.add_rows_of_other_kernels(new, tmp_path, whole=False) == new
    assert matrix.add_rows_of_other_kernels(new, tmp_path, whole=True) == [*new, *old]
    assert matrix.add_rows_of_other_kernels(old, tmp_path, whole=True) == [*old, *new]


def test_reasons_are_for_single_rules(tmp_path: Path) -> None:
    reasons = exempt_rules.read(written(tmp_path, REASONS), RULES)
    assert reasons == {"ABI-001": "perf's own", "ABI-002": "another", "CNT-002": "another"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "exempt_rules.toml: "),
        ("[other]\n", "unknown key 'other'"),
        ('[[exempt]]\nrules = ["CNT-001"]\n', "exempt_rules.toml:1: exempt: no key 'reason'"),
        ('[[exempt]]\nreason = "r"\n', "exempt_rules.toml:1: exempt: no key 'rules'"),
        (
            '[[exempt]]\nareas = ["ABI"]\nreason = "r"\n',
            "exempt: unknown key 'areas'; known: rules, reason",
        ),
        (
            '[[exempt]]\nrules = ["CNT-009"]\nreason = "r"\n',
            "no active rule that tests verify 'CNT-009'",
        ),
        (
            '[[exempt]]\nrules = ["CNT-001", "CNT-001"]\nreason = "r"\n',
            "exempt.rules: has an entry twice",
        ),
        ('[[exempt]]\nrules = ["CNT-001"]\nreason = "r"\n' * 2, "CNT-001 occurs twice"),
    ],
)
def test_malformed_reason_is_a_one_line_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UserError) as error:
        exempt_rules.read(written(tmp_path, text), RULES)
    assert said in str(error.value) and "\n" not in str(error.value)


def laid_out(root: Path, rules: tuple[str, ...], mutant_rules: str) -> Path:
    """A project with a catalogue of `rules`, and one mutant."""
    folder = root / "conformance" / "rules"
    folder.mkdir(parents=True)
    text = '[[rule]]\nid = "{}"\nlevel = "MUST"\nstatus = "active"\nsubject = "driver"\ntext = "It MUST."\n'
    text += 'why = "So."\nsource = ["man:x(1)#x"]\napplies = "true"\nkernels = ">=6.1"\n'
    (folder / "CNT.toml").write_text("".join(text.format(rule) for rule in rules))
    folder = root / "driver" / "mutants"
    folder.mkdir(parents=True)
    diff = "--- a/driver/core/x.c\n+++ b/driver/core/x.c\n@@ -1 +1 @@\n-a\n+b\n"
    (folder / "M01-1-x.patch").write_text(
        f"Id: M01-1\nClass: C01\nRules: {mutant_rules}\n\nText.\n\n{diff}"
    )
    (folder / matrix.CLASSES).write_text('[classes]\nC01 = "sums"\n')
    (folder / step.WITHOUT_PATCH).write_text('[[mutant]]\nid = "M01-2"\nreason = "the same"\n')
    return root


def test_mutant_with_an_unknown_rule_is_reported(tmp_path: Path) -> None:
    root = laid_out(tmp_path, ("CNT-001",), "CNT-001, CNT-077")
    assert step.findings(root) == ["M01-1-x.patch: no active or draft rule CNT-077"]


@pytest.mark.parametrize(
    ("status", "said"),
    [("draft", []), ("retired", ["M01-1-x.patch: no active or draft rule CNT-002"])],
)
def test_mutant_may_name_a_draft(tmp_path: Path, status: str, said: list[str]) -> None:
    root = laid_out(tmp_path, ("CNT-001", "CNT-002"), "CNT-001, CNT-002")
    rules = root / "conformance" / "rules" / "CNT.toml"
    head, _, tail = rules.read_text().rpartition('"active"')
    rules.write_text(f'{head}"{status}"{tail}')
    assert step.findings(root) == said


def test_rule_that_a_mutant_of_the_driver_violates_is_the_drivers(tmp_path: Path) -> None:
    root = laid_out(tmp_path, ("CNT-001",), "CNT-001")
    rules = root / "conformance" / "rules" / "CNT.toml"
    rules.write_text(rules.read_text().replace('"driver"', '"perf core"'))
    assert step.findings(root) == [
        "CNT-001: a mutant of the driver violates it, so its subject must be driver, not perf core"
    ]


def test_mutant_with_an_unknown_class_is_reported(tmp_path: Path) -> None:
    root = laid_out(tmp_path, ("CNT-001",), "CNT-001")
    (root / "driver" / "mutants" / matrix.CLASSES).write_text("[classes]\n")
    assert step.findings(root) == ["M01-1-x.patch: classes.toml has no class C01"]


def test_existing_mutant_listed_as_absent_is_reported(tmp_path: Path) -> None:
    root = laid_out(tmp_path, ("CNT-001",), "CNT-001")
    path = root / "driver" / "mutants" / step.WITHOUT_PATCH
    path.write_text('[[mutant]]\nid = "M01-1"\nreason = "the same"\n')
    assert step.findings(root) == ["bugs_without_patch.toml: M01-1 is a patch"]
