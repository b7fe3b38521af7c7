# SPDX-License-Identifier: Apache-2.0
"""The evidence joins the rules with tests, faults, findings and reports of this checkout. Its pages have working links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ci.checks.guide import LINK, anchors
from pmubase.errors import UserError
from results import __main__, evidence

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"L([1-9][0-9]*)")
CASE = "Counting.DisabledTimeIsNotCounted"


@pytest.fixture(name="build")
def fixture_build(tmp_path: Path) -> Path:
    """A folder of reports: one case of refpmu failed on 6.1, and selected cases ran on 6.12."""
    place = {"target": "refpmu", "arch": "x86_64"}
    row = {"id": CASE, "result": "FAIL", "message": "7, not 8\nat x"}
    whole = place | {"verdict": "NOT_CONFORMANT", "kernel": "6.1", "cases": [row]}
    whole |= {"rules": [{"id": "CNT-002", "result": "FAILED"}]}
    part = whole | {"verdict": "PARTIAL", "kernel": "6.12"}
    (tmp_path / "check" / "faults-sample").mkdir(parents=True)
    caught = {"CNT-007": [{"id": "M01-1", "test": "Counting.X", "kernel": "6.12"}]}
    (tmp_path / "check" / "faults-sample" / "rules.json").write_text(json.dumps(caught), "utf-8")
    for name, document in (("check/refpmu-6.1", whole), ("report", part)):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "results.json").write_text(json.dumps(document), "utf-8")
    return tmp_path


def by_id(rows: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows}


def test_rule_has_its_faults_tests_findings_and_judged_runs(build: Path) -> None:
    facts = evidence.read(ROOT, build)
    rules, cases = by_id(facts["rules"]), by_id(facts["cases"])
    (judged,) = rules["CNT-002"]["judged"]
    assert judged == {"result": "FAILED", "target": "refpmu", "kernel": "6.1", "arch": "x86_64"}
    assert [row["message"] for row in cases[CASE]["failures"]] == ["7, not 8\nat x"]
    faults = by_id(rules["CNT-007"]["faults"])
    assert faults["M01-1"]["caught"] == ["Counting.X on 6.12"]
    assert faults["M01-2"]["caught"] == []
    assert {test["layer"] for test in rules["DRC-014"]["tests"]} == {"kunit"}
    assert rules["CTX-013"]["exempt"].startswith("Its case needs a guest that boots with nohz_full")
    assert rules["RDP-007"]["findings"][0]["link"].startswith("docs/findings.md#cap_user_time_zero")


def test_rule_can_fail_by_faults_or_has_a_reason() -> None:
    rule: dict[str, Any] = {"faults": [], "exempt": "", "untested": ""}
    assert evidence.can_fail(rule) == "no fault, and no reason is given"
    assert evidence.can_fail(rule | {"untested": "needs two sockets"}) == (
        "no fault: needs two sockets"
    )
    faults = [
        {"kind": kind, "caught": caught}
        for kind, caught in (("driver", ["A.B on 6.12"]), ("answer", []), ("driver", []))
    ]
    assert evidence.can_fail(rule | {"faults": faults}) == (
        "by faults: 1 answer, 2 driver; 1 of 3 caught in runs below build/"
    )


def test_places_are_grouped_by_target() -> None:
    rows = [
        {"result": "PASSED", "target": target, "arch": "x86_64", "kernel": kernel}
        for target, kernel in (("intel", "6.1"), ("amd", "6.12"), ("intel", "6.12"))
    ]
    assert evidence.places(rows, "PASSED") == "amd x86_64 (6.12); intel x86_64 (6.1, 6.12)"
    assert evidence.places(rows, "FAILED") == ""


def test_report_that_is_not_json_is_named(build: Path) -> None:
    (build / "report" / "results.json").write_text("{", "utf-8")
    with pytest.raises(UserError, match=r"report/results\.json: "):
        evidence.read(ROOT, build)


def test_rule_and_case_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["explain", "--id", "CNT-007"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("CNT-007  MUST, active, subject: ")
    assert any(line.startswith("can fail: by faults: ") for line in lines)
    assert any(line.startswith("fault:    driver M01-1 on refpmu: ") for line in lines)
    assert __main__.main(["explain", "--id", CASE]) == 0
    assert "rules:    CNT-002, CNT-005" in capsys.readouterr().out.splitlines()


def test_unknown_id_is_one_line_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert __main__.main(["explain", "--id", "CNT-9999"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "unknown rule 'CNT-9999'; nearest: CNT-" in line


def lost_links(pages: Iterable[Path]) -> list[str]:
    """The links that lead to no file, no heading or no line."""
    texts: dict[Path, str] = {}
    marks: dict[Path, set[str]] = {}
    lost = []
    for page in pages:
        for name, anchor in LINK.findall(page.read_text("utf-8")):
            target = page.parent / name if name else page
            if not target.is_file():
                lost.append(f"{page.name}: {name}: no such file")
                continue
            text = texts.setdefault(target, target.read_text("utf-8"))
            line = LINE.fullmatch(anchor)
            if line:
                good = int(line[1]) <= text.count("\n")
            else:
                good = not anchor or anchor in marks.setdefault(target, anchors(text))
            lost += [] if good else [f"{page.name}: {name}#{anchor}: no such place"]
    return lost


def test_pages_have_every_rule_and_case_and_their_links_work(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "build").mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name != "build":
            (tree / path.name).symlink_to(path)
    folder = tree / "build" / "rules"
    evidence.write_pages(folder)
    rules = evidence.read()["rules"]
    areas = {rule["id"].partition("-")[0] for rule in rules}
    assert {path.name for path in folder.iterdir()} == {"README.md", *(f"{a}.md" for a in areas)}
    assert not lost_links(folder.iterdir())
    index = (folder / "README.md").read_text("utf-8")
    rows = [row for row in index.splitlines() if row.startswith("|")]
    assert all(row.count("|") == 7 for row in rows) and len(rows) == len(rules) + 2
    for rule in rules:
        text = (folder / f"{rule['id'].partition('-')[0]}.md").read_text("utf-8")
        assert f"\n## {rule['id']}\n\n**{rule['level']}**" in text
        for case in rule["cases"]:
            assert f"\n- Case [{case['id']}](../../{case['file']}#L{case['line']})" in text


def test_lost_links_are_found(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# A b\n[x](a.md#a-b) [x](a.md#L2) [x](b.md) [x](#c) [x](a.md#L9)\n", "utf-8")
    assert lost_links([page]) == [
        "a.md: b.md: no such file",
        "a.md: #c: no such place",
        "a.md: a.md#L9: no such place",
    ]
