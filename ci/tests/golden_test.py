# SPDX-License-Identifier: Apache-2.0
"""No active rule and no profile changes without a difference to conformance/golden.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci import golden, lint
from conformance.rules.generate import read_catalogue

RULES, PROFILE = "conformance/rules/TOY.toml", "conformance/profiles/toy-1.0.toml"
LAST = (
    "conformance/golden.txt differs: if each change is intended, "
    "python3 -m ci.golden updates the file for its review"
)


def rule(rule_id: str, status: str) -> str:
    return (
        f'[[rule]]\nid = "{rule_id}"\nlevel = "MUST"\nstatus = "{status}"\nsubject = "driver"\n'
        'text = "It MUST."\nwhy = "So."\nsource = ["man:x(1)#x"]\n'
    )


class Tree:
    """A checkout with two active rules, a draft and a profile."""

    def __init__(self, root: Path) -> None:
        self.root = root
        active = rule("TOY-001", "active") + rule("TOY-002", "active")
        for name, text in (
            (RULES, active + rule("TOY-003", "draft")),
            (
                PROFILE,
                '[profile]\nname = "toy"\nversion = "1.0"\ntext = "Toys."\nrules = ["TOY-001"]\n',
            ),
        ):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        assert golden.main([], root) == 0

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text()
        assert old in text
        (self.root / name).write_text(text.replace(old, new, 1))

    def findings(self) -> list[str]:
        return golden.findings(self.root)


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_file_of_the_project_is_current_and_a_step_of_lint_compares_it() -> None:
    assert golden.findings(golden.ROOT) == []
    assert "golden" in lint.step_names()


def test_file_has_a_line_for_each_rule_that_is_no_draft(tree: Tree) -> None:
    assert tree.findings() == []
    lines = (tree.root / golden.FILE).read_text().splitlines()
    digest = golden.meaning(read_catalogue([tree.root / RULES])[0])
    assert lines[3:] == [
        f"TOY-001 MUST active {digest} toy-1.0",
        f"TOY-002 MUST active {digest}",
    ]


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (RULES, '"It MUST."', '"It MUST NOT."', "TOY-001: meaning (text, applies, "),
        (RULES, '"MUST"', '"MUST"\napplies = "sampling"', "TOY-001: meaning (text, applies, "),
        (RULES, '"MUST"', '"MUST"\nkernels = ">=6.12"', "TOY-001: meaning (text, applies, "),
        (
            *(RULES, '"MUST"', '"MUST"\nbehaviours = { size = { 64 = "6.1", 72 = "6.12" } }'),
            "TOY-001: meaning (text, applies, kernels or behaviours): was '",
        ),
        (RULES, '"MUST"', '"SHOULD"', "TOY-001: level: was 'MUST', now 'SHOULD'"),
        (RULES, '"active"', '"retired"', "TOY-001: status: was 'active', now 'retired'"),
        (RULES, '"draft"', '"active"', "TOY-003: new: MUST active "),
        (RULES, rule("TOY-002", "active"), "", "TOY-002: now a draft, or missing in the"),
        (PROFILE, '"TOY-001"', '"TOY-001", "TOY-002"', "TOY-002: profiles: was '', now 'toy-1.0'"),
        (golden.FILE.as_posix(), "TOY-002", "# TOY-002", "TOY-002: new: MUST active "),
    ],
)
def test_a_difference_is_a_line_and_the_command_updates_the_file(
    tree: Tree, name: str, old: str, new: str, said: str
) -> None:
    tree.edit(name, old, new)
    line, last = tree.findings()
    assert line.startswith(said) and last == LAST
    assert golden.main([], tree.root) == 0
    assert tree.findings() == []


def test_an_active_rule_must_not_become_a_draft_unnoticed(tree: Tree) -> None:
    tree.edit(
        RULES,
        '"TOY-002"\nlevel = "MUST"\nstatus = "active"',
        '"TOY-002"\nlevel = "MUST"\nstatus = "draft"',
    )
    assert tree.findings() == ["TOY-002: now a draft, or missing in the catalogue", LAST]


def test_drafts_and_other_words_of_why_source_and_subject_are_free(tree: Tree) -> None:
    tree.edit(RULES, '"So."', '"For a reason."')
    tree.edit(RULES, '"driver"', '"perf core"')
    tree.edit(RULES, "man:x(1)#x", "man:y(1)#y")
    tree.edit(RULES, rule("TOY-003", "draft"), rule("TOY-004", "draft"))
    assert tree.findings() == []


def test_a_missing_or_otherwise_edited_file_is_a_finding(tree: Tree) -> None:
    tree.edit(golden.FILE.as_posix(), "# The rules", "# Rules")
    assert tree.findings() == [LAST]
    (tree.root / golden.FILE).unlink()
    assert len(tree.findings()) == 3


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (PROFILE, "TOY-001", "TOY-003", "toy-1.0.toml: TOY-003 is a draft or no rule of the"),
        (PROFILE, "TOY-001", "TOY-009", "toy-1.0.toml: TOY-009 is a draft or no rule of the"),
        (PROFILE, "rules = ", "ids = ", "unknown key 'ids'"),
        (PROFILE, "[profile]", "[profile", "Expected"),
        (RULES, "[[rule]]", "[[rules]]", f"{RULES}: unknown key 'rules'"),
    ],
)
def test_an_invalid_rule_or_profile_is_one_line_and_writes_nothing(
    tree: Tree, name: str, old: str, new: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (tree.root / golden.FILE).read_text()
    tree.edit(name, old, new)
    (line,) = tree.findings()
    assert said in line
    assert golden.main([], tree.root) == 2
    assert capsys.readouterr().err == f"golden: {line}\n"
    assert (tree.root / golden.FILE).read_text() == before
