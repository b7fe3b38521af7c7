# SPDX-License-Identifier: Apache-2.0
"""`pmuconf new` in a copy of the tree: the rule generates, the case compiles, and the target loads."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

CONFORMANCE = pathlib.Path(__file__).parent.parent
ROOT = CONFORMANCE.parent
BINARY = ROOT / "build" / "guest" / "conformance" / "pmuconf"
INCLUDES = (ROOT, CONFORMANCE, ROOT / "driver" / "include")
PARTS = ("rules", "cases", "targets", "renamed.toml")
CAPABILITY = re.compile(r"\{Cap::k\w+, \"(\w+)\"\}")
SOME = 8
"""Cases of the suite need fewer; clang-format arranges long lists in columns."""
TIMEOUT_S = 300
TEXT = 'A test of "pmuconf new" MUST leave\n  a complete rule.'
RULE = (
    "--text",
    TEXT,
    "--why",
    "It is tested.",
    "--subject",
    "driver",
    "--source",
    "man:perf_event_open(2)#disabled",
)

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="needs: ci/build guest pmuconf")


def execute(*words: str | pathlib.Path, cwd: pathlib.Path) -> subprocess.CompletedProcess[str]:
    argv = [str(word) for word in words]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT_S)


def new(tree: pathlib.Path, *words: str) -> list[str]:
    """The lines that `pmuconf new` prints."""
    done = execute(BINARY, "new", *words, cwd=tree)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def last_rule(tree: pathlib.Path) -> dict[str, object]:
    table = tomllib.loads((tree / "conformance/rules/CNT.toml").read_text())
    rule = table["rule"][-1]
    assert isinstance(rule, dict)
    return rule


def capabilities() -> list[str]:
    """All capabilities except `trace`, with which the case has another body."""
    (source,) = CONFORMANCE.glob("*/target_claims.cpp")
    return [name for name in CAPABILITY.findall(source.read_text()) if name != "trace"]


def format_errors(file: pathlib.Path) -> str:
    done = execute("clang-format", f"--style=file:{ROOT}/.clang-format", "-n", file, cwd=ROOT)
    return done.stderr


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: pathlib.Path) -> pathlib.Path:
    """A copy of the files that `pmuconf new` reads."""
    (tmp_path / "conformance").mkdir()
    for part in PARTS:
        source, copy = CONFORMANCE / part, tmp_path / "conformance" / part
        if source.is_dir():
            shutil.copytree(source, copy)
        else:
            shutil.copy(source, copy)
    return tmp_path


def test_rule_and_its_case_compile(tree: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file, note, command = new(tree, "rule", "CNT", *RULE)
    rule = last_rule(tree)
    assert file == "conformance/rules/CNT.toml"
    assert f"rule: {rule['id']} " in note
    assert rule["text"] == 'A test of "pmuconf new" MUST leave a complete rule.'
    assert rule["status"] == "draft"
    words = command.removeprefix("next: build/guest/conformance/pmuconf new ").split()
    assert words == ["case", "Counting.NameOfClaim", "--rule", str(rule["id"])]

    case, draft, *_, command = new(tree, *words)
    assert case == "conformance/cases/counting/name_of_claim_test.cpp"
    assert draft == f"still a draft, until make activate: {rule['id']}"
    assert command == "next: make run CASE=Counting.NameOfClaim"
    assert (last_rule(tree)["status"], last_rule(tree)["subject"]) == ("draft", "driver")
    needs = capabilities()
    assert len(needs) > 40
    for first in range(0, len(needs), SOME):
        some = ",".join(needs[first : first + SOME])
        claim = f"Counting.CapabilitiesFrom{first}Compile"
        new(tree, "case", claim, "--rule", str(rule["id"]), "--needs", some, "--file", case)
    assert format_errors(tree / case) == ""

    generated = tmp_path / "generated"
    script = CONFORMANCE / "rules" / "generate.py"
    files = sorted((tree / "conformance/rules").glob("*.toml"))
    kernels = CONFORMANCE.parent / "vm" / "kernels"
    words = ["--out", str(generated), "--kernels", str(kernels)]
    done = execute(sys.executable, script, *words, *files, cwd=tree)
    assert (done.returncode, done.stderr) == (0, "")
    includes = [f"-I{folder}" for folder in (generated, tree / "conformance", *INCLUDES)]
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    done = execute("g++", *flags, *includes, tree / case, cwd=tree)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("rules", [1, 2, 5, 6, 12])
@pytest.mark.parametrize("needs", ["", "port", "port,cpus2,several_events,generic_events,tasks"])
def test_appended_case_is_formatted(tree: pathlib.Path, rules: int, needs: str) -> None:
    ids = ",".join(f"CNT-{number + 1:03}" for number in range(rules))
    path = "conformance/cases/uncore/poll_test.cpp"
    words = ["Uncore.NewCaseIsAppendedToThisFile", "--rule", ids, "--file", path]
    assert new(tree, "case", *words, *(["--needs", needs] if needs else []))[0] == path
    assert format_errors(tree / path) == ""
    assert "CONFORMANCE_CASE(Uncore, NewCaseIsAppendedToThisFile" in (tree / path).read_text()


@pytest.mark.parametrize("words", [(), ("--pmu", "cpu"), ("--base", "refpmu")])
def test_target_loads(tree: pathlib.Path, words: tuple[str, ...]) -> None:
    file, *_ = new(tree, "target", "yours", *words)
    assert file == "conformance/targets/yours.toml"
    done = execute(BINARY, "list", "--target", tree / file, cwd=tree)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Counting.DisabledTimeIsNotCounted" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("case", "Counting.OneIsOne", "--rule", "CNT-999"),
            "unknown rule 'CNT-999'; nearest: CNT-",
        ),
        (("case", "Nowhere.OneIsOne", "--rule", "CNT-001"), "(known: Attr, AttrParser, "),
        (("rule", "NIL", *RULE), "unknown area 'NIL' (known: ABI, AUX"),
        (("target", "refpmu"), "conformance/targets/refpmu.toml exists already"),
    ],
)
def test_refusal_is_one_line_and_changes_nothing(
    tree: pathlib.Path, words: tuple[str, ...], said: str
) -> None:
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*")}
    done = execute(BINARY, "new", *words, cwd=tree)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*")} == before


def test_other_folder_is_refused(tree: pathlib.Path, tmp_path: pathlib.Path) -> None:
    done = execute(BINARY, "new", "target", "yours", "--root", "/usr", cwd=tree)
    assert done.returncode == 2
    assert done.stderr.startswith("pmuconf: '/usr' is not a checkout of pmuconf")
    away = tmp_path / "empty"
    away.mkdir()
    done = execute(BINARY, "new", "target", "yours", "--root", tree, cwd=away)
    assert done.returncode == 0
    assert f"next: cd {tree} && " in done.stdout
