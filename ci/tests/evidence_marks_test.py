# SPDX-License-Identifier: Apache-2.0
"""Each rule that a Python test names has a test in make check."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ci import check

PLUGIN = """
import json, os, pathlib

def pytest_collection_finish(session):
    found = [
        [item.nodeid, [mark.name for mark in item.iter_markers()],
         [rule for mark in item.iter_markers("rule") for rule in mark.args]]
        for item in session.items
    ]
    pathlib.Path(os.environ["FOUND"]).write_text(json.dumps(found))
"""


def collected(folder: Path) -> list[tuple[str, list[str], list[str]]]:
    """Each test, whether nightly or not: its id, its marks, its rules."""
    (folder / "telling.py").write_text(PLUGIN, encoding="utf-8")
    known = os.environ | {"PYTHONPATH": str(folder), "FOUND": str(folder / "found.json")}
    argv = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", "", "-p", "telling"]
    done = subprocess.run(
        argv, cwd=check.ROOT, env=known, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [(str(i), m, r) for i, m, r in json.loads((folder / "found.json").read_text())]


def nightly_only_rules(tests: list[tuple[str, list[str], list[str]]]) -> set[str]:
    """The rules that only nightly tests name."""
    night = {rule for _, marks, rules in tests if "nightly" in marks for rule in rules}
    day = {rule for _, marks, rules in tests if "nightly" not in marks for rule in rules}
    return night - day


def test_each_rule_that_a_test_names_has_one_in_make_check(tmp_path: Path) -> None:
    tests = collected(tmp_path)
    assert any("nightly" in marks for _, marks, _ in tests)
    assert any(rules for _, _, rules in tests)
    assert nightly_only_rules(tests) == set()


@pytest.mark.parametrize(
    ("marks", "left"), [([[], ["nightly"]], set()), ([["nightly"], ["nightly"]], {"CNT-001"})]
)
def test_rule_of_nightly_tests_alone_is_reported(marks: list[list[str]], left: set[str]) -> None:
    assert nightly_only_rules([("test", each, ["CNT-001"]) for each in marks]) == left
