# SPDX-License-Identifier: Apache-2.0
"""A draft becomes active after 1,000 runs on each kernel without another result than PASS."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ci import activate
from ci.checks import frozen as check
from ci.tests.frozen_test import MUTANT, Tree
from conformance.rules import frozen
from conformance.rules.frozen import FrozenError
from vm import suite

CASES = [suite.Case(f"Toys.{name}", ("TOY-003",), 10, "x_test.cpp", 1) for name in ("One", "Two")]
WORDS = ["TOY-003", "--failed-by", MUTANT]


class Runs:
    """Fake shards. `bad`: the number of the shard with another result, from 1."""

    def __init__(self, bad: int = 0, result: str = "FAIL") -> None:
        self.bad, self.result = bad, result
        self.shards: list[tuple[str, int]] = []

    def __call__(
        self, target: object, kernel: str, cases: list[suite.Case], count: int
    ) -> activate.Results:
        self.shards.append((kernel, count))
        results = {case.id: Counter(PASS=count) for case in cases}
        if len(self.shards) == self.bad:
            results["Toys.Two"] = Counter({"PASS": count - 1, self.result: 1})
        return results


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    program = tmp_path / "pmuconf"
    program.write_bytes(b"program")
    monkeypatch.setattr(activate, "ROOT", tmp_path)
    monkeypatch.setattr(activate, "OUT", tmp_path / "build")
    monkeypatch.setattr(activate, "driver_digest", lambda target: "the driver")
    monkeypatch.setattr(suite, "binary", lambda: program)
    monkeypatch.setattr(suite, "find_target", lambda name: name)
    monkeypatch.setattr(suite, "cases", lambda target, selection: CASES)
    return Tree(tmp_path, monkeypatch)


def run(tree: Tree, monkeypatch: pytest.MonkeyPatch, fake: Runs, *more: str) -> int:
    monkeypatch.setattr(activate, "run_shard", fake)
    return activate.main([*WORDS, *more], tree.root)


SHARDS = [(name, 250) for name in ("6.1", "6.12") for _ in range(4)]


def test_rule_is_active_after_all_runs(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Runs()
    assert run(tree, monkeypatch, fake) == 0
    assert fake.shards == SHARDS
    assert [one.status for one in tree.rules()] == ["active"] * 3
    assert check.findings(tree.root) == []
    (entry,) = frozen.read_ledger(tree.root).activated
    assert entry["runs"] == 1000 and entry["kernels"] == ["6.1", "6.12"]
    assert entry["command"] == (
        f"python3 -m ci.activate TOY-003 --failed-by {MUTANT} --target refpmu --runs 1000"
    )


@pytest.mark.parametrize("result", ["FAIL", "SKIP", "KERNEL"])
def test_changed_result_leaves_the_draft(
    tree: Tree, monkeypatch: pytest.MonkeyPatch, result: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fake = Runs(bad=6, result=result)
    assert run(tree, monkeypatch, fake) == 1
    assert fake.shards == SHARDS[:6]
    found = ", ".join(sorted([f"1 {result}", "249 PASS"], key=lambda word: word.split()[1]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2:] == [f"Toys.Two on 6.12, shard 2: {found}", "TOY-003 stays a draft"]
    assert [one.status for one in tree.rules()][2] == "draft"
    assert not frozen.read_ledger(tree.root).activated


def test_interrupted_run_continues(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(Runs):
        def __call__(
            self, target: object, kernel: str, cases: list[suite.Case], count: int
        ) -> activate.Results:
            if len(self.shards) == 3:
                raise KeyboardInterrupt
            return super().__call__(target, kernel, cases, count)

    assert run(tree, monkeypatch, Interrupted()) == 2
    fake = Runs()
    assert run(tree, monkeypatch, fake) == 0
    assert fake.shards == SHARDS[3:]


def test_results_of_another_program_do_not_count(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tree, monkeypatch, Runs(bad=1)) == 1
    assert run(tree, monkeypatch, Runs()) == 1, "the result of the first shard is still bad"
    (tree.root / "pmuconf").write_bytes(b"other program")
    fake = Runs()
    assert run(tree, monkeypatch, fake) == 0
    assert fake.shards == SHARDS


def test_last_shard_has_the_remaining_runs() -> None:
    assert activate.shards(1000) == [250] * 4
    assert activate.shards(1100) == [250] * 4 + [100]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["TOY-009", "--failed-by", MUTANT], "no rule 'TOY-009' in the catalogue"),
        (["TOY-001", "--failed-by", MUTANT], "TOY-001 is active and recorded already"),
        ([*WORDS, "--runs", "999"], "--runs 999 must be at least 1000"),
        (["TOY-003", "--failed-by", "a bug"], "--failed-by: 'a bug' is neither a patch"),
    ],
)
def test_refusal_is_one_line_and_runs_nothing(
    tree: Tree,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake = Runs()
    monkeypatch.setattr(activate, "run_shard", fake)
    assert activate.main(words, tree.root) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"activate: {said}")
    assert fake.shards == []


def test_status_is_that_of_the_named_rule() -> None:
    text = '[[rule]]\nid = "A-001"\nstatus = "draft"\n\n[[rule]]\nid = "A-002"\nlevel = "MUST"\nstatus  = "draft"\n'
    head, _, tail = text.rpartition('"draft"')
    assert activate.activated(text, "A-002") == f'{head}"active"{tail}'
    with pytest.raises(FrozenError, match="cannot find the line .* of A-003"):
        activate.activated(text, "A-003")
    with pytest.raises(FrozenError):
        activate.activated(text.replace('"draft"', '"active"', 1), "A-001")


def test_results_are_kept_per_shard(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tree, monkeypatch, Runs(bad=2))
    files = sorted((tree.root / "build" / "TOY-003").rglob("*.json"))
    assert [file.name for file in files] == ["6.1-1-250.json", "6.1-2-250.json"]
    assert json.loads(files[1].read_text())["Toys.Two"] == {"PASS": 249, "FAIL": 1}
