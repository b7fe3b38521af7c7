# SPDX-License-Identifier: Apache-2.0
"""The texts to copy in docs/adding.md: the catalogue accepts the rule, the case compiles, and the targets load."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conformance.rules.generate import read_catalogue

CONFORMANCE = pathlib.Path(__file__).parent.parent
ROOT = CONFORMANCE.parent
BINARY = ROOT / "build" / "guest" / "conformance" / "pmuconf"
INCLUDES = (ROOT, CONFORMANCE, ROOT / "driver" / "include")
SNIPPET = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
TIMEOUT_S = 300


def snippets() -> list[tuple[str, str]]:
    """Language and text of each, in the order of the page."""
    return SNIPPET.findall((ROOT / "docs" / "adding.md").read_text())


RULE, CASE, *TARGETS = (text for _, text in snippets())


def execute(*words: str | pathlib.Path) -> None:
    argv = [str(word) for word in words]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert (done.returncode, done.stderr) == (0, "")


def test_rule_is_a_draft_of_the_catalogue(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "CNT.toml"
    shutil.copy(CONFORMANCE / "rules" / "CNT.toml", file)
    file.write_text(file.read_text() + "\n" + RULE.replace("NNN", "999"))
    rule = read_catalogue([file])[-1]
    assert (rule.id, rule.status) == ("CNT-999", "draft")


def test_case_compiles_and_is_formatted(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "your_claim_test.cpp"
    file.write_text(CASE)
    execute("clang-format", f"--style=file:{ROOT}/.clang-format", "-n", file)
    generate = (sys.executable, "-m", "conformance.rules.generate", "--out", tmp_path)
    rules = sorted((CONFORMANCE / "rules").glob("*.toml"))
    execute(*generate, "--kernels", ROOT / "vm" / "kernels", *rules)
    includes = [f"-I{folder}" for folder in (tmp_path, *INCLUDES)]
    execute("g++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *includes, file)


@pytest.mark.skipif(not BINARY.exists(), reason="needs: ci/build guest pmuconf")
@pytest.mark.parametrize("text", TARGETS)
def test_target_loads(tmp_path: pathlib.Path, text: str) -> None:
    file = tmp_path / "yours.toml"
    file.write_text(text)
    execute(BINARY, "list", "--target", file)
