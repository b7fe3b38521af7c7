# SPDX-License-Identifier: Apache-2.0
"""A released profile and an active rule stay as they are, and a rule becomes active only by all steps."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest

from ci import freeze
from ci.checks import frozen as check
from conformance.rules import frozen
from conformance.rules.generate import Rule, read_catalogue

ROOT = Path(__file__).resolve().parent.parent.parent


def rule(rule_id: str, status: str = "active", text: str = "It MUST.", more: str = "") -> str:
    return (
        f'[[rule]]\nid = "{rule_id}"\nlevel = "MUST"\nstatus = "{status}"\nsubject = "driver"\n'
        f'text = "{text}"\nwhy = "So."\nsource = ["man:x(1)#x"]\n{more}\n'
    )


PATCH = "Id: T-1\nClass: C01\nRules: {}\n\nIt is wrong.\n\n--- a/driver/x.c\n+++ b/driver/x.c\n@@ -1 +1 @@\n-a\n+b\n"
MUTANT = "driver/mutants/x/T-1-wrong.patch"
TEST = "conformance/selftest/x_test.py"
ENTRY = """
[[activated]]
rule = "TOY-003"
meaning = "{meaning}"
date = 2026-11-25
kernels = ["6.1", "6.12"]
failed_by = "driver/mutants/x/T-1-wrong.patch"
runs = 1000
command = "python3 -m ci.activate TOY-003"
"""


class Tree:
    """A checkout with two rules of the baseline, a draft, and one released profile."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.put("conformance/rules/TOY.toml", rule("TOY-001") + rule("TOY-002"))
        rules = {one.id: frozen.meaning(one) for one in self.rules()}
        lines = [f"{name} {digest}" for name, digest in rules.items()]
        monkeypatch.setattr(frozen, "BASELINE_SHA256", frozen.digest_of(lines))
        numbers = ", ".join(f'"{line.removeprefix("TOY-")}"' for line in lines)
        self.put("conformance/frozen/baseline.toml", f"[rules]\nTOY = [{numbers}]\n")
        self.put("conformance/frozen/ledger.toml", "# Empty.\n")
        digest = frozen.digest_of(["TOY-001"])
        self.put("conformance/frozen/released.toml", f'[released]\n"toy-1.0" = "{digest}"\n')
        self.put(
            "conformance/profiles/toy-1.0.toml",
            '# Toys.\n[profile]\nname = "toy"\nversion = "1.0"\ntext = "T."\nrules = [\n  "TOY-001",\n]\n',
        )
        self.add(rule("TOY-003", "draft"))
        self.put(MUTANT, PATCH.format("TOY-003"))
        self.put(TEST, 'def test_lie(name): ...\nLIES = ("too-many",)\n')

    def put(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def get(self, name: str) -> str:
        return (self.root / name).read_text()

    def add(self, text: str) -> None:
        self.put("conformance/rules/TOY.toml", self.get("conformance/rules/TOY.toml") + text)

    def edit(self, name: str, old: str, new: str) -> None:
        before = self.get(name)
        assert old in before
        self.put(name, before.replace(old, new, 1))

    def rules(self) -> list[Rule]:
        return read_catalogue((self.root / "conformance/rules").glob("*.toml"))

    def activate(self, **changed: str) -> None:
        """Makes TOY-003 active, with an entry of the ledger."""
        self.edit("conformance/rules/TOY.toml", '"draft"', '"active"')
        meaning = next(frozen.meaning(one) for one in self.rules() if one.id == "TOY-003")
        entry = ENTRY.format(meaning=meaning)
        for key, value in changed.items():
            entry = re.sub(rf"(?m)^{key} = .*$", f"{key} = {value}", entry)
        self.put("conformance/frozen/ledger.toml", entry)

    def findings(self) -> list[str]:
        return check.findings(self.root)

    def finding(self) -> str:
        (one,) = self.findings()
        return one


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    return Tree(tmp_path, monkeypatch)


PROFILE = "conformance/profiles/toy-1.0.toml"
NEXT = "restore it, and make the next version: python3 -m ci.freeze profile toy"


def test_project_is_frozen_as_it_was_released() -> None:
    assert check.findings(ROOT) == []
    assert len(frozen.read_baseline(ROOT)) == 730
    sizes = {profile.name: len(profile.rules) for profile in frozen.read_profiles(ROOT)}
    assert {name: n for name, n in sizes.items() if name.endswith("-1.0")} == {
        "counting-1.0": 283,
        "driver-1.0": 352,
        "sampling-1.0": 491,
        "software-1.0": 416,
        "trace-1.0": 138,
        "tracepoint-1.0": 425,
        "uncore-1.0": 248,
    }


def test_draft_and_complete_activation_have_no_finding(tree: Tree) -> None:
    assert tree.findings() == []
    tree.activate()
    assert tree.findings() == []


@pytest.mark.parametrize("added", ['  "TOY-001", "TOY-002",', '  "TOY-002",'])
def test_changed_profile_names_the_next_version(tree: Tree, added: str) -> None:
    tree.edit(PROFILE, '  "TOY-001",', added)
    assert tree.finding() == f"{PROFILE}: a released profile was changed: {NEXT}"


def test_missing_profile_names_the_next_version(tree: Tree) -> None:
    (tree.root / PROFILE).unlink()
    assert tree.finding() == f"{PROFILE}: released, but missing: {NEXT}"


def test_comment_of_a_profile_may_change(tree: Tree) -> None:
    tree.edit(PROFILE, "# Toys.", "# Other words.")
    assert tree.findings() == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"TOY-001",', '"TOY-002", "TOY-001",', "key 'rules' must be sorted, each rule once"),
        ('"TOY-001",', '"TOY-001", "TOY-001",', "key 'rules' must be sorted, each rule once"),
        ('version = "1.0"', 'version = "1.1"', "name and version must be those of the file's name"),
        ('  "TOY-001",\n', "", "key 'rules' must list the ids of rules"),
    ],
)
def test_malformed_profile_is_one_finding(tree: Tree, old: str, new: str, said: str) -> None:
    tree.edit(PROFILE, old, new)
    assert tree.finding() == f"{PROFILE}: {said}"


def test_profile_of_a_draft_or_of_no_rule_is_reported(tree: Tree) -> None:
    text = tree.get(PROFILE).replace('version = "1.0"', 'version = "1.1"')
    tree.put(PROFILE.replace("1.0", "1.1"), text.replace('"TOY-001"', '"TOY-003", "TOY-009"'))
    where = "conformance/profiles/toy-1.1.toml"
    digest = frozen.digest_of(["TOY-003", "TOY-009"])
    assert tree.findings() == [
        f"{where}: TOY-003 is a draft",
        f"{where}: no rule TOY-009 in the catalogue",
        f'{where}: to release it, add to conformance/frozen/released.toml: "toy-1.1" = "{digest}"',
    ]


def test_active_rule_without_an_entry_names_the_steps(tree: Tree) -> None:
    tree.edit("conformance/rules/TOY.toml", '"draft"', '"active"')
    assert tree.finding() == (
        "TOY-003: active without an entry in conformance/frozen/ledger.toml: missing steps: "
        "two kernels, a fault that fails it, 1000 runs: make activate RULE=TOY-003"
    )


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("kernels", '["6.12"]', "missing step 'kernels': 2 series like 6.12, not ['6.12']"),
        ("kernels", '["6.12", "new"]', "missing step 'kernels': 2 series like 6.12, not"),
        ("runs", "999", "missing step 'runs': 1000 on each kernel, not 999"),
        ("failed_by", '"a bug"', "missing step 'failed_by': 'a bug' is neither a patch of this"),
        ("failed_by", '"driver/mutants/x/no.patch"', "missing step 'failed_by': 'driver/mutants"),
        ("failed_by", f'"{TEST}::test_no"', f"missing step 'failed_by': no test test_no in {TEST}"),
        ("failed_by", f'"{TEST}::test_lie[few]"', f"missing step 'failed_by': no 'few' in {TEST}"),
    ],
)
def test_incomplete_activation_names_the_missing_step(
    tree: Tree, key: str, value: str, said: str
) -> None:
    tree.activate(**{key: value})
    assert tree.finding().startswith(f"TOY-003: ledger.toml: {said}")


def test_mutant_of_another_rule_does_not_count(tree: Tree) -> None:
    tree.put(MUTANT, PATCH.format("TOY-001"))
    tree.activate()
    said = "missing step 'failed_by': its header does not name TOY-003"
    assert tree.finding() == f"TOY-003: ledger.toml: {said}"


@pytest.mark.parametrize("test", [f"{TEST}::test_lie", f"{TEST}::test_lie[too-many]"])
def test_false_claim_counts_as_a_fault(tree: Tree, test: str) -> None:
    tree.activate(failed_by=f'"{test}"')
    assert tree.findings() == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"It MUST."', '"It MUST NOT."'),
        ('"MUST"', '"MUST"\napplies = "sampling"'),
        ('"MUST"', '"MUST"\nkernels = ">=6.12"'),
        ('"MUST"', '"MUST"\nbehaviours = { size = { 64 = "6.1", 72 = "6.12" } }'),
    ],
)
def test_changed_meaning_is_reported(tree: Tree, old: str, new: str) -> None:
    tree.edit("conformance/rules/TOY.toml", old, new)
    assert tree.finding() == (
        "TOY-001: changed since it was recorded: missing step: if only the wording changed: "
        "python3 -m ci.freeze editorial TOY-001 --reason '…'; "
        "otherwise retire it and add a new rule, since a released profile names it"
    )


def test_rule_of_no_profile_may_be_activated_again(tree: Tree) -> None:
    tree.activate()
    path = "conformance/rules/TOY.toml"
    head, _, tail = tree.get(path).rpartition("It MUST.")
    tree.put(path, f"{head}It MUST NOT.{tail}")
    assert tree.finding().endswith("1000 runs: make activate RULE=TOY-003")
    meaning = frozen.meaning(tree.rules()[2])
    tree.put(
        "conformance/frozen/ledger.toml",
        tree.get("conformance/frozen/ledger.toml") + ENTRY.format(meaning=meaning),
    )
    assert tree.findings() == []


def test_other_words_of_why_source_and_subject_are_free(tree: Tree) -> None:
    tree.edit("conformance/rules/TOY.toml", '"So."', '"For a reason."')
    tree.edit("conformance/rules/TOY.toml", '"driver"', '"perf core"')
    tree.edit("conformance/rules/TOY.toml", "man:x(1)#x", "man:y(1)#y")
    assert tree.findings() == []


def test_changed_baseline_is_one_finding(tree: Tree) -> None:
    tree.edit("conformance/frozen/baseline.toml", '"001 ', '"001 0')
    assert tree.finding() == (
        "conformance/frozen/baseline.toml: the baseline was changed: restore it, "
        "and record a change in conformance/frozen/ledger.toml (docs/adding.md)"
    )


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("[[activate]]\n", "unknown key 'activate' (known: activated, editorial, retired)"),
        (
            '[[retired]]\nrule = "TOY-002"\ndate = 2026-11-25\n',
            "[[retired]] of TOY-002: key 'reason' is missing or has no valid value",
        ),
        (
            '[[retired]]\nrule = "TOY-002"\ndate = "today"\nreason = "r"\n',
            "[[retired]] of TOY-002: key 'date' is missing or has no valid value",
        ),
        (
            '[[retired]]\nrule = "TOY-002"\nwhy = "r"\n',
            "[[retired]] of TOY-002: unknown key 'why' (known: rule, date, reason)",
        ),
    ],
)
def test_malformed_ledger_is_one_finding(tree: Tree, entry: str, said: str) -> None:
    tree.put("conformance/frozen/ledger.toml", entry)
    assert tree.finding() == f"conformance/frozen/ledger.toml: {said}"


def test_deleted_rule_and_new_draft_of_an_active_rule_are_reported(tree: Tree) -> None:
    path = "conformance/rules/TOY.toml"
    tree.put(path, rule("TOY-001") + rule("TOY-003", "draft"))
    said = "missing in the catalogue: a withdrawn rule has the status retired"
    assert tree.finding() == f"TOY-002: {said}"
    tree.put(path, rule("TOY-001") + rule("TOY-002", "draft"))
    assert tree.finding() == "TOY-002: was active, so it must not be a draft"


def test_next_version_has_the_new_rules_and_passes_the_check(tree: Tree) -> None:
    tree.activate()
    assert freeze.make_profile(tree.root, "toy") == (
        "conformance/profiles/toy-1.1.toml: 3 rules, 2 new, 0 withdrawn"
    )
    assert tree.get("conformance/profiles/toy-1.1.toml") == (
        '# Toys.\n[profile]\nname = "toy"\nversion = "1.1"\ntext = "T."\n'
        'rules = [\n  "TOY-001", "TOY-002", "TOY-003",\n]\n'
    )
    assert tree.findings() == []
    with pytest.raises(frozen.FrozenError, match="toy-1.1 has all rules already"):
        freeze.make_profile(tree.root, "toy")
    with pytest.raises(frozen.FrozenError, match="no profile 'doll'"):
        freeze.make_profile(tree.root, "doll")


def test_next_version_of_driver_has_must_rules_of_drivers_that_a_test_verifies() -> None:
    (one,) = [r for r in read_catalogue((ROOT / "conformance/rules").glob("CNT.toml"))][1:2]
    rules = [
        dataclasses.replace(one, id="TOY-001"),
        dataclasses.replace(one, id="TOY-002", level="SHOULD"),
        dataclasses.replace(one, id="TOY-003", subject="perf core"),
        dataclasses.replace(one, id="TOY-004", layer=("review",)),
        dataclasses.replace(one, id="TOY-005", status="draft"),
        dataclasses.replace(one, id="BOX-001"),
    ]
    assert one.subject == "driver"
    chosen = freeze.next_rules(frozen.Profile("driver-1.0", ("TOY-001",)), rules)
    assert chosen == ["TOY-001", "BOX-001"]


def test_newest_version_is_compared_by_number() -> None:
    found = [frozen.Profile(f"toy-1.{n}", ("TOY-001",)) for n in (2, 10, 9)]
    newest = frozen.newest([*found, frozen.Profile("doll-2.0", ("TOY-001",))], "toy")
    assert newest and newest.name == "toy-1.10"


def test_editorial_change_is_recorded(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["editorial", "TOY-001", "--reason", 'A "better" word.']
    assert freeze.main(words, tree.root) == 2
    assert capsys.readouterr().err == "freeze: TOY-001 has not changed since it was recorded\n"
    tree.edit("conformance/rules/TOY.toml", '"It MUST."', '"This MUST."')
    assert freeze.main(words, tree.root) == 0
    assert capsys.readouterr().out == "conformance/frozen/ledger.toml: [[editorial]] of TOY-001\n"
    assert tree.findings() == []
    (entry,) = frozen.read_ledger(tree.root).editorial
    assert entry["reason"] == 'A "better" word.'
    tree.edit("conformance/rules/TOY.toml", '"This MUST."', '"That MUST."')
    assert "TOY-001: changed since it was recorded" in tree.finding()


def test_editorial_entry_must_continue_the_record(tree: Tree) -> None:
    tree.edit("conformance/rules/TOY.toml", '"It MUST."', '"This MUST."')
    freeze.main(["editorial", "TOY-001", "--reason", "r"], tree.root)
    tree.edit("conformance/frozen/ledger.toml", 'before = "', 'before = "0')
    said = "'before' of [[editorial]] was never recorded"
    assert f"TOY-001: ledger.toml: {said}" in tree.findings()


def test_retired_rule_needs_an_entry(tree: Tree, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["retire", "TOY-001", "--reason", "Linux never did it."]
    assert freeze.main(words, tree.root) == 2
    assert "TOY-001 is active: set its status to retired first" in capsys.readouterr().err
    tree.edit("conformance/rules/TOY.toml", '"active"', '"retired"')
    assert tree.finding() == (
        "TOY-001: retired without an entry: python3 -m ci.freeze retire TOY-001 --reason '…'"
    )
    assert freeze.main(words, tree.root) == 0
    assert tree.findings() == []
    assert freeze.main(words, tree.root) == 2
    assert "TOY-001 is retired in ledger.toml already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["editorial", "TOY-009", "--reason", "r"], "no rule 'TOY-009' in the catalogue"),
        (["editorial", "TOY-003", "--reason", "r"], "TOY-003 was never active: change it as you"),
        (["retire", "TOY-001", "--reason", " "], "--reason must state why"),
    ],
)
def test_refused_record_is_one_line_and_changes_nothing(
    tree: Tree, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree.get("conformance/frozen/ledger.toml")
    assert freeze.main(words, tree.root) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"freeze: {said}")
    assert tree.get("conformance/frozen/ledger.toml") == before
