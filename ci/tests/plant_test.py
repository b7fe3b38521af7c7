# SPDX-License-Identifier: Apache-2.0
"""Seeded faults depend only on the seed, are removed afterwards, and count only if they build."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path

import pytest

from ci import plant
from ci.mutation.mutate import Mutation

CHECK = """import json, pathlib
text = pathlib.Path("driver/core/a.c").read_text()
units = [{"name": "unit/a", "failed": []}]
if "a != 1" in text:
    units = [{"name": "unit/a", "failed": ["A.IsOne"]}]
if "a + 2" in text:
    units = [{"name": "build/asan", "failed": ["build/asan"]}]
out = pathlib.Path("build/check")
out.mkdir(parents=True, exist_ok=True)
(out / "results.json").write_text(json.dumps({"units": units}))
"""


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path) -> Path:
    """A small project with a check that detects one fault."""
    for name, text in (
        ("driver/core/a.c", "int f(int a)\n{\n\treturn a == 1 ? a + 1 : 5;\n}\n"),
        ("conformance/main.cpp", "int main() { return 0 + 1; }\n"),
        ("ci/a.py", "A = 1 + 2\n"),
        ("ci/tests/a_test.py", "A = 1 + 2\n"),
        ("ci/check.py", CHECK),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    return tmp_path


def fault(before: str, after: str) -> plant.Fault:
    begin = "int f(int a)\n{\n\treturn a == 1 ? a + 1 : 5;\n}\n".index(before)
    return plant.Fault(1, "driver", "driver/core/a.c", Mutation(begin, before, after), 3)


def test_seed_determines_the_faults_of_each_area(tree: Path) -> None:
    first, again = (list(itertools.islice(plant.faults(tree, 7), 30)) for _ in range(2))
    assert first == again
    assert [each.area for each in first[:3]] == ["driver", "suite", "scripts"]
    assert {each.file for each in first} >= {"driver/core/a.c", "conformance/main.cpp", "ci/a.py"}
    assert not any("test" in each.file for each in first)
    assert list(itertools.islice(plant.faults(tree, 8), 30)) != first


@pytest.mark.parametrize(
    ("before", "after", "result", "by"),
    [
        ("==", "!=", "CAUGHT", "unit/a: A.IsOne"),
        ("1 :", "2 :", "INVALID", "build/asan"),
        ("5", "6", "MISSED", ""),
    ],
)
def test_fault_is_judged_by_the_first_failure_and_removed(
    tree: Path, before: str, after: str, result: str, by: str
) -> None:
    text = (tree / "driver/core/a.c").read_text(encoding="utf-8")
    row = plant.Tree(tree).judge(fault(before, after))
    assert (row["result"], row["by"]) == (result, by)
    assert (tree / "driver/core/a.c").read_text(encoding="utf-8") == text


def test_a_fault_that_breaks_the_check_itself_is_caught(tree: Path) -> None:
    (tree / "ci/check.py").write_text("raise ValueError('broken')\n", encoding="utf-8")
    assert plant.Tree(tree).check() == ("CAUGHT", "make check: ValueError: broken")


def test_results_of_other_faults_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"commit": "a", "seed": 1, "faults": [{"number": 1}]}), "utf-8")
    assert plant.read(path, "a", 1) == [{"number": 1}]
    assert plant.read(path, "b", 1) == plant.read(path, "a", 2) == []
    path.write_text("{", encoding="utf-8")
    assert plant.read(path, "a", 1) == []


def test_summary_counts_each_area_without_invalid_faults() -> None:
    rows = [
        {"area": "driver", "result": "CAUGHT"},
        {"area": "driver", "result": "MISSED"},
        {"area": "suite", "result": "INVALID"},
    ]
    assert plant.summary(rows).splitlines() == [
        "driver: 1 of 2 caught",
        "suite: 0 of 0 caught",
        "scripts: 0 of 0 caught",
        "all: 1 of 2 caught",
    ]
