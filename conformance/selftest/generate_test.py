# SPDX-License-Identifier: Apache-2.0
"""The rule generator rejects an invalid catalogue; the message names file, line and key."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULE = """[[rule]]
id = "TOY-001"
level = "MUST"
status = "active"
subject = "perf core"
text = "A \\"toy\\" MUST work."
why = "Toys matter."
source = ["man:toy(1)#x"]
applies = "true"
kernels = ">=6.1"
"""


def generate(tmp_path: pathlib.Path, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    catalogue = tmp_path / "TOY.toml"
    catalogue.write_text(text, encoding="utf-8")
    argv = [
        sys.executable,
        "-m",
        "conformance.rules.generate",
        "--out",
        str(tmp_path),
        str(catalogue),
        *more,
    ]
    return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_catalogue_becomes_cpp_constants(tmp_path: pathlib.Path) -> None:
    assert generate(tmp_path, RULE).returncode == 0
    assert "extern const Rule TOY_001;" in (tmp_path / "rules" / "TOY.h").read_text()
    source = (tmp_path / "rules.cpp").read_text()
    assert "constinit const Rule TOY_001{" in source
    assert '.text = "A \\"toy\\" MUST work."' in source
    assert '.layer = "case"' in source
    assert ".subject = RuleSubject::kPerfCore" in source
    assert "rule::TOY_001," in source


def test_newest_kernel_is_that_of_the_stock_kernels(tmp_path: pathlib.Path) -> None:
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    for name in ("6.2", "6.12", "6.12-rt"):
        (kernels / f"{name}.toml").touch()
    assert generate(tmp_path, RULE, "--kernels", str(kernels)).returncode == 0
    assert 'return "6.12";' in (tmp_path / "rules.cpp").read_text()
    (tmp_path / "none").mkdir()
    done = generate(tmp_path, RULE, "--kernels", str(tmp_path / "none"))
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "no file" in done.stderr


def test_changed_rule_text_rebuilds_no_case(tmp_path: pathlib.Path) -> None:
    generate(tmp_path, RULE)
    before = (tmp_path / "rules" / "TOY.h").stat().st_mtime_ns
    generate(tmp_path, RULE.replace("Toys matter.", "Toys are everything."))
    assert (tmp_path / "rules" / "TOY.h").stat().st_mtime_ns == before
    assert "Toys are everything." in (tmp_path / "rules.cpp").read_text()


def test_behaviours_become_data(tmp_path: pathlib.Path) -> None:
    more = 'behaviours = { size = { 128 = "before 6.12", 136 = "6.12" }, no = { 0 = "6.1", EINVAL = "7.2" } }'
    assert generate(tmp_path, RULE + more + "\n").returncode == 0
    source = (tmp_path / "rules.cpp").read_text()
    assert '{"size", 128, "before 6.12"},' in source
    assert '{"no", EINVAL, "7.2"},' in source
    assert ".behaviours = kTOY_001_values," in source


def test_unchanged_files_are_not_rewritten(tmp_path: pathlib.Path) -> None:
    generate(tmp_path, RULE)
    before = (tmp_path / "rules.cpp").stat().st_mtime_ns
    generate(tmp_path, RULE)
    assert (tmp_path / "rules.cpp").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"TOY-001"', '"TOY-1"', "TOY.toml:1: rule.id: 'TOY-1' is not TOY-NNN"),
        ('"TOY-001"', '"CAR-001"', "TOY.toml:1: rule.id: 'CAR-001' is not TOY-NNN"),
        ('"MUST"', '"MUSST"', "rule.level: 'MUSST' is not one of MUST, SHOULD, MAY"),
        ('"active"', '"on"', "rule.status: 'on' is not one of draft, "),
        ('why = "Toys matter."\n', "", "TOY.toml:1: rule: no key 'why'"),
        ("why =", "wy =", "TOY.toml:1: rule: unknown key 'wy'"),
        ('["man:toy(1)#x"]', "[]", "rule.source: has fewer than 1 entries"),
        ('">=6.1"', '"6.1"', "rule.kernels: '6.1' is not like '>=6.1' or "),
        ("id =", "id = =", "TOY.toml: "),
        ("[[rule]]", "[[rules]]", "unknown key 'rules'"),
        ("id =", 'layer = ["cases"]\nid =', "rule.layer[1]: 'cases' is not one of case, kunit"),
        (
            "id =",
            'behaviours = { x = { 1 = "6.1" } }\nid =',
            "rule.behaviours.x: {'1': '6.1'} is not a table of two",
        ),
        (
            "id =",
            'behaviours = { x = { 1 = "6.1", EFOO = "6.2" } }\nid =',
            "rule.behaviours.x: 'EFOO' is not a number or an errno",
        ),
        (
            "id =",
            'behaviours = { x = { 1 = "6.1", 0 = "" } }\nid =',
            "rule.behaviours.x.0: '' is not a text",
        ),
    ],
)
def test_invalid_rule_is_refused(tmp_path: pathlib.Path, old: str, new: str, said: str) -> None:
    done = generate(tmp_path, RULE.replace(old, new, 1))
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_duplicate_id_is_refused(tmp_path: pathlib.Path) -> None:
    done = generate(tmp_path, RULE + RULE)
    assert done.returncode == 1
    assert "TOY-001 occurs twice" in done.stderr
