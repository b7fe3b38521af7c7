# SPDX-License-Identifier: Apache-2.0
"""`pmuconf explain` prints what the program knows about a rule or a case."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = ROOT / "build" / "guest" / "conformance" / "pmuconf"
ID = "Counting.DisabledTimeIsNotCounted"
TIMEOUT_S = 60


def explain(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BINARY, "explain", *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


def test_rule_is_printed_with_its_cases_profiles_and_waivers() -> None:
    lines = explain("RDP-007").stdout.splitlines()
    assert lines[0].startswith("RDP-007  MUST, active, subject: ")
    labels = [line.partition(":")[0] for line in lines[2:]]
    assert labels[:4] == ["why", "source", "applies", "kernels"]
    cases = [line for line in lines if line.startswith("case:     UserPage.")]
    assert all("conformance/cases/userpage/" in line for line in cases) and cases
    assert any(line.startswith("waiver:   ARM64-1: ") for line in lines)


def test_case_is_printed_with_its_rules_and_needs() -> None:
    lines = explain(ID).stdout.splitlines()
    assert lines[0] == f"{ID}  case"
    assert lines[1].startswith("file:     conformance/cases/counting/enable_disable_test.cpp:")
    assert [line.split()[1] for line in lines if line.startswith("rule:")] == ["CNT-002", "CNT-005"]
    assert "needs:    stimulus" in lines


def test_json_of_all_has_each_rule_and_case() -> None:
    facts = json.loads(explain("--json").stdout)
    rules = {rule["id"]: rule for rule in facts["rules"]}
    cases = {case["id"]: case for case in facts["cases"]}
    assert rules["CNT-002"] == json.loads(explain("CNT-002", "--json").stdout)
    assert cases[ID] == json.loads(explain(ID, "--json").stdout)
    assert ID in [case["id"] for case in rules["CNT-002"]["cases"]]
    assert cases[ID]["rules"] == ["CNT-002", "CNT-005"]
    assert len(rules) > 700 and len(cases) > 800


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("CNT-9999",), "unknown rule 'CNT-9999'; nearest: CNT-"),
        (("Counting.DisabledTimeIsNotCountd",), f"nearest: {ID}"),
        (("CNT-*",), "not the id of one rule or case: 'CNT-*'"),
        ((), "no rule: give its id, a case or --json"),
    ],
)
def test_invalid_request_is_one_line_and_status_2(words: tuple[str, ...], error: str) -> None:
    done = explain(*words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert error in line


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_used_on_a_terminal_only(variables: dict[str, str], coloured: bool) -> None:
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | variables
    try:
        command = [str(BINARY), "explain", ID]
        subprocess.run(command, stdout=theirs, env=env, timeout=TIMEOUT_S, check=True)
        assert (b"\x1b[1m" in os.read(ours, 4096)) == coloured
    finally:
        os.close(ours)
        os.close(theirs)
    assert "\x1b" not in explain(ID).stdout
