# SPDX-License-Identifier: Apache-2.0
"""`pmuconf explain` prints the evidence for rules and cases of this checkout, and writes pages whose links work."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
from collections.abc import Iterable
from typing import Any

import pytest

from ci import judged
from ci.checks.guide import LINK, anchors

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = ROOT / "build" / "guest" / "conformance" / "pmuconf"
# Tests give --evidence, since the results in build/ change with each run of make check.
EVIDENCE = BINARY.with_name("evidence.json")
ID = "Counting.DisabledTimeIsNotCounted"
TIMEOUT_S = 60
LINE = re.compile(r"L([1-9][0-9]*)")
RUN = {"observer": "cases", "target": "refpmu", "kernel": "6.12", "arch": "x86_64", "when": "now"}


def pmuconf(*words: str, program: pathlib.Path = BINARY) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program, "explain", *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )


@pytest.fixture(name="evidence")
def fixture_evidence(tmp_path: pathlib.Path) -> str:
    """This checkout's evidence.json, with results that do not depend on earlier runs: fault M01-1 was seen to fail
    CNT-007, and its case passed on refpmu."""
    document = json.loads(EVIDENCE.read_text("utf-8")) | {"results": "runs"}
    (tmp_path / "evidence.json").write_text(json.dumps(document), "utf-8")
    (tmp_path / "runs" / "faults").mkdir(parents=True)
    row = {"kind": "driver", "id": "M01-1", "observer": "suite", "test": "Counting.X"}
    seen = {"CNT-007": [row | {"kernel": "6.12"}]}
    (tmp_path / "runs/faults/rules.json").write_text(json.dumps(seen), "utf-8")
    runs = [RUN | {"bad": [], "rules": {"CNT-007": "PASSED", "DRV-001": "PASSED"}}]
    (tmp_path / "runs/judged.json").write_text(json.dumps({"runs": runs}), "utf-8")
    return str(tmp_path / "evidence.json")


def facts_of(identifier: str, evidence: str) -> dict[str, Any]:
    done = pmuconf("--json", identifier, "--evidence", evidence)
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert isinstance(facts, dict)
    return facts


def lines_of(identifier: str, evidence: str, *labels: str) -> list[str]:
    """The lines with these labels."""
    done = pmuconf(identifier, "--evidence", evidence)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith(labels)]


def test_rule_with_faults_names_those_that_were_seen(evidence: str) -> None:
    (line,) = lines_of("CNT-007", evidence, "can fail:")
    assert line == "can fail: failed by 1 driver fault (M01-1)"
    (seen,) = [text for text in lines_of("CNT-007", evidence, "fault:") if "M01-1 " in text]
    assert seen == (
        "fault:    M01-1 on refpmu: The driver does not mask the delta of two counter readings to "
        "the counter's width. After a wrap or a reload, the count is wrong by 2^64 - 2^48."
        "  (seen: Counting.X on 6.12)"
    )
    assert lines_of("CNT-007", evidence, "judged:") == ["judged:   PASSED on refpmu (6.12)"]


def test_rule_that_only_a_fault_of_the_kernel_fails_names_it(evidence: str) -> None:
    document = json.loads(pathlib.Path(evidence).read_text("utf-8"))
    bug: dict[str, Any] = {"kind": "kernel", "id": "B001", "text": "A count is lost."}
    bug |= {"file": "x.patch", "rules": ["CTX-013"], "cases": [], "target": "intel"}
    document["faults"] = [bug | {"observers": ["suite"], "kernels": ["6.1", "6.12"]}]
    pathlib.Path(evidence).write_text(json.dumps(document), "utf-8")
    assert lines_of("CTX-013", evidence, "can fail:", "fault:") == [
        "can fail: failed by 1 kernel fault (B001); claimed, no result is recorded",
        "fault:    B001 on intel, 6.1, 6.12: A count is lost.  (claimed)",
    ]


def test_rule_without_faults_has_the_reason(evidence: str) -> None:
    assert lines_of("CTX-013", evidence, "can fail:", "fault:", "judged:", "finding:") == [
        "can fail: nothing was seen to fail it: Its case needs a guest that boots with nohz_full=, "
        "and no run of the lies has one."
    ]


def test_rule_of_kunit_has_its_tests_and_its_profiles(evidence: str) -> None:
    document = json.loads(pathlib.Path(evidence).read_text("utf-8"))
    facts = facts_of("DRC-014", evidence)
    tests = [test for test in document["tests"] if test["rule"] == "DRC-014"]
    assert {test["layer"] for test in tests} == {"kunit"}
    assert lines_of("DRC-014", evidence, "KUnit:") == [
        f"KUnit:    {test['name']}  {test['file']}" for test in tests
    ]
    assert [test["name"] for test in facts["tests"]] == [test["name"] for test in tests]
    assert facts["layer"] == ["kunit"] and facts["profiles"] == ["driver-1.0"]


def test_rule_with_a_finding_has_its_link_and_waiver(evidence: str) -> None:
    facts = facts_of("RDP-007", evidence)
    title = "cap_user_time_zero-is-set-for-an-event-with-use_clockid"
    assert [finding["link"] for finding in facts["findings"]] == [
        f"docs/findings.md#{title}",
        f"docs/findings.md#riscv64-{title}",
    ]
    assert [(waiver["id"], waiver["case"]) for waiver in facts["waivers"]] == [
        ("ARM64-1", "UserPage.ClockidEventHasNoTimeZero"),
        ("RISCV-1", "UserPage.ClockidEventHasNoTimeZero"),
    ]


def write_stream(path: pathlib.Path, cases: list[dict[str, Any]], failed: str) -> None:
    """The record of a run of refpmu on 6.1, in which all cases but one passed."""
    run = {"t": "run", "target": "refpmu", "kernel": "6.1", "release": "6.1.192", "arch": "x86_64"}
    selected = [case["id"] for case in cases]
    lines: list[dict[str, Any]] = [run | {"profile": "", "selected": selected, "partial": False}]
    for case in cases:
        result, message = ("FAIL", "7, not 8\nat x") if case["id"] == failed else ("PASS", "")
        line = {"t": "result", "id": case["id"], "result": result, "message": message}
        lines.append(line | {"duration_s": 0.1, "rules": case["rules"]})
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"t": "end"}]), "utf-8")


def test_recorded_report_of_the_suite_is_explained(evidence: str, tmp_path: pathlib.Path) -> None:
    target = ROOT / "conformance" / "targets" / "refpmu.toml"
    done = subprocess.run(
        [BINARY, "list", "--json", "--target", target],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    stream, report = tmp_path / "stream.jsonl", tmp_path / "report"
    write_stream(stream, json.loads(done.stdout)["cases"], ID)
    words = ("--stream", stream, "--target", target, "--out", report)
    status = subprocess.run([BINARY, "report", *words], timeout=TIMEOUT_S, check=False).returncode
    assert status == 1
    record = str(tmp_path / "runs" / "judged.json")
    assert judged.main(["--out", record, str(report / "results.json")]) == 0
    assert lines_of("CNT-007", evidence, "judged:") == ["judged:   PASSED on refpmu (6.1, 6.12)"]
    assert lines_of("CNT-002", evidence, "judged:") == ["judged:   FAILED on refpmu (6.1)"]
    (failed,) = lines_of(ID, evidence, "failed:")
    assert re.fullmatch(r"failed:   FAIL on refpmu, 6\.1 x86_64, [\d:T-]{19}: 7, not 8", failed)


def test_case_is_explained_with_its_rules(evidence: str) -> None:
    done = pmuconf(ID, "--evidence", evidence)
    lines = done.stdout.splitlines()
    assert lines[0] == f"{ID}  case"
    assert lines[1].startswith("file:     conformance/cases/counting/enable_disable_test.cpp:")
    assert [line.split()[1] for line in lines if line.startswith("rule:")] == ["CNT-002", "CNT-005"]
    assert facts_of(ID, evidence)["needs"] == ["stimulus"]


def test_kunit_test_is_explained_with_its_rules(evidence: str) -> None:
    tests = json.loads(pathlib.Path(evidence).read_text("utf-8"))["tests"]
    test = next(test for test in tests if test["layer"] == "kunit")
    facts = facts_of(test["name"], evidence)
    assert facts["file"] == test["file"]
    assert test["rule"] in [rule["id"] for rule in facts["rules"]]


def test_json_of_all_rules_equals_that_of_each_rule(evidence: str) -> None:
    rules = {
        rule["id"]: rule
        for rule in json.loads(pmuconf("--json", "--evidence", evidence).stdout)["rules"]
    }
    assert rules["CNT-007"] == facts_of("CNT-007", evidence)
    assert len(rules) > 700


def test_unproven_rules_are_those_without_fault_and_reason(evidence: str) -> None:
    rules = json.loads(pmuconf("--json", "--evidence", evidence).stdout)["rules"]
    active = [rule for rule in rules if rule["status"] == "active"]
    none = [rule for rule in active if rule["proof"]["state"] == "none"]
    *lines, last = pmuconf("--unproven", "--evidence", evidence).stdout.splitlines()
    assert [line.split()[0] for line in lines] == [rule["id"] for rule in none]
    assert last.startswith(f"{len(none)} of {len(active)} active rules: nothing was seen")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("CNT-9999",), "unknown rule 'CNT-9999'; nearest: CNT-"),
        (("Counting.DisabledTimeIsNotCountd",), f"nearest: {ID}"),
        (("CNT-*",), "not the id of one rule or case: 'CNT-*'"),
        ((), "no rule: give its id"),
        (("CNT-002", "--unproven"), "give one of: an id, --markdown, --unproven"),
        (("CNT-002", "--out", "x"), "--out needs --markdown"),
        (("--json", "--unproven"), "without --markdown, --unproven"),
        (("--markdown", "--out", "/dev/null/x"), "/dev/null/x/"),
    ],
)
def test_invalid_request_is_one_line_and_status_2(
    words: tuple[str, ...], said: str, evidence: str
) -> None:
    done = pmuconf("--evidence", evidence, *words)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert said in line


def test_unreadable_evidence_is_one_line_and_status_2(tmp_path: pathlib.Path) -> None:
    done = pmuconf("CNT-002", "--evidence", f"{tmp_path}/none")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"pmuconf: {tmp_path}/none: cannot be read\n"


def test_program_alone_explains_rule_and_cases_and_reports_what_is_missing(
    tmp_path: pathlib.Path,
) -> None:
    alone = pathlib.Path(shutil.copy2(BINARY, tmp_path / "pmuconf"))
    done = pmuconf("CNT-002", program=alone)
    assert done.returncode == 0
    assert f"\ncase:     {ID}  conformance/cases/counting/enable_disable_test.cpp:" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("missing:  there is no evidence.json next to")
    done = pmuconf("--markdown", program=alone)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pmuconf: no evidence.json next to the program: give --evidence\n"


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_used_on_a_terminal_only(
    variables: dict[str, str], coloured: bool, evidence: str
) -> None:
    command = [str(BINARY), "explain", ID, "--evidence", evidence]
    ours, theirs = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | variables
    try:
        subprocess.run(command, stdout=theirs, env=env, timeout=TIMEOUT_S, check=True)
        assert (b"\x1b[1m" in os.read(ours, 4096)) == coloured
    finally:
        os.close(ours)
        os.close(theirs)
    assert "\x1b" not in pmuconf(ID, "--evidence", evidence).stdout


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with the files of the checkout, and an empty folder build."""
    tree = tmp_path / "tree"
    (tree / "build").mkdir(parents=True)
    for path in ROOT.iterdir():
        if path.name != "build":
            (tree / path.name).symlink_to(path)
    return tree


def lost_links(pages: Iterable[pathlib.Path]) -> list[str]:
    """The links that lead to no file, no heading or no line."""
    texts: dict[pathlib.Path, str] = {}
    marks: dict[pathlib.Path, set[str]] = {}
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


def test_pages_have_every_rule_and_case_and_their_links_work(
    evidence: str, tree: pathlib.Path
) -> None:
    folder = tree / "build" / "rules"
    done = pmuconf("--markdown", "--out", str(folder), "--evidence", evidence)
    assert (done.returncode, done.stdout) == (0, "")
    rules = json.loads(pmuconf("--json", "--evidence", evidence).stdout)["rules"]
    index = (folder / "README.md").read_text("utf-8")
    assert "| [CNT-007](CNT.md#cnt-007) | MUST |" in index
    for rule in rules:
        assert f"\n| [{rule['id']}](" in index
    assert {path.name for path in folder.iterdir()} == {
        "README.md",
        *(f"{rule['id'].partition('-')[0]}.md" for rule in rules),
    }
    assert not lost_links(folder.iterdir())
    page = tree / "build" / "page" / "rules.md"
    page.parent.mkdir()
    page.write_text(pmuconf("--markdown", "--evidence", evidence).stdout, "utf-8")
    assert not lost_links([page])
    text = page.read_text("utf-8")
    for rule in rules:
        assert f"\n### {rule['id']}\n" in text
        for case in rule["cases"]:
            assert f"[{case['id']}](../../{case['file']}#L{case['line']})" in text


def test_lost_links_are_found(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# A b\n[x](a.md#a-b) [x](a.md#L2) [x](b.md) [x](#c) [x](a.md#L9)\n", "utf-8")
    assert lost_links([page]) == [
        "a.md: b.md: no such file",
        "a.md: #c: no such place",
        "a.md: a.md#L9: no such place",
    ]


def test_index_has_short_cells(evidence: str, tree: pathlib.Path) -> None:
    folder = tree / "build" / "rules"
    assert pmuconf("--markdown", "--out", str(folder), "--evidence", evidence).returncode == 0
    rows = [row for row in (folder / "README.md").read_text("utf-8").splitlines() if row[:1] == "|"]
    assert all(row.count("|") == 7 for row in rows)
    assert max(len(cell) for row in rows for cell in row.split("|")) <= 200
