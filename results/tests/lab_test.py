# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/results.md, "In a lab": what the formats for labs have for each result and verdict."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from results import document, kcidb
from results.tests import runs, signals

PAGE = runs.ROOT / "docs" / "results.md"
WAIVER = """
[[waiver]]
id = "WVR-1"
owner = "perf"
reason = "known"
link = "https://example.org/1"
expires = "2099-12-31"
[waiver.scope]
case = ["{waived}", "{unexpected}"]
target = "*"
"""
NO_VERDICT = "none: the command could not run"


def table(heading: str) -> dict[str, dict[str, str]]:
    """The rows of the table of the page whose first heading is `heading`, by their first cell."""
    lines = PAGE.read_text("utf-8").splitlines()
    (start,) = [n for n, line in enumerate(lines) if line.startswith(f"| {heading} |")]
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().strip("`") for cell in line.strip("|").split("|")])
    return {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]}


def reported(
    folder: Path, results: dict[str, str], partial: bool, target: str = "refpmu"
) -> tuple[int, str]:
    """The exit status and the output of `pmuconf report --lava`. `results`: by case; NOT_RUN has no result."""
    head: dict[str, Any] = {"t": "run", "target": "refpmu", "kernel": "6.12", "release": "6.12.9"}
    head |= {"arch": "x86_64", "profile": "", "partial": partial, "selected": list(results)}
    lines = [head]
    for case, result in results.items():
        line = {"t": "result", "id": case, "rules": [], "duration_s": 0.25, "message": "m"}
        if result == "SKIP":
            line["skip_reason"] = "not_claimed"
        if result != "NOT_RUN":
            lines.append(line | {"result": result})
    text = "".join(json.dumps(line) + "\n" for line in [*lines, {"t": "end"}])
    stream = folder / "stream.jsonl"
    stream.write_text(text, encoding="utf-8")
    words: list[str | Path] = [
        "report",
        "--lava",
        "--stream",
        stream,
        "--target",
        target,
        "--out",
        folder,
    ]
    done = subprocess.run(
        [runs.PMUCONF, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=runs.TIMEOUT_S,
    )
    return done.returncode, done.stdout


def test_each_result_is_as_documented(tmp_path: Path) -> None:
    rows = table("result")
    names = [case["id"] for case in runs.cases()]
    cases = dict(zip(rows, names, strict=False))
    target = tmp_path / "targets" / "refpmu.toml"
    target.parent.mkdir()
    (tmp_path / "waivers").mkdir()
    shutil.copy(runs.ROOT / "conformance" / "targets" / target.name, target)
    waiver = WAIVER.format(waived=cases["WAIVED"], unexpected=cases["UNEXPECTED_PASS"])
    (tmp_path / "waivers" / "w.toml").write_text(waiver, encoding="utf-8")
    raw = {"WAIVED": "FAIL", "UNEXPECTED_PASS": "PASS"}
    _, console = reported(
        tmp_path, {cases[row]: raw.get(row, row) for row in rows}, True, str(target)
    )
    run = document.read(tmp_path)
    assert [case["result"] for case in run.data["cases"]] == list(rows)
    lava = {name: result for (_, name), result in signals.cases(console).items()}
    paths = {test["path"]: test["status"] for test in kcidb.report([run], "lab")["tests"]}
    junit = {
        f"{case.get('classname')}.{case.get('name')}": case[0].tag if len(case) else "passed"
        for case in ElementTree.parse(tmp_path / "junit.xml").iter("testcase")
    }
    ktap = (tmp_path / "results.ktap").read_text("utf-8")
    for row, case in cases.items():
        found = re.search(rf"^((?:not )?ok) \d+ {re.escape(case)}(?: # (SKIP|XFAIL))?", ktap, re.M)
        assert found
        assert rows[row] == {
            "result": row,
            "LAVA": lava[case],
            "KCIDB": paths[f"pmuconf.{case}"],
            "JUnit": junit[case],
            "KTAP": ", ".join(word for word in found.groups() if word),
        }


def test_each_verdict_is_as_documented(tmp_path: Path) -> None:
    names = [case["id"] for case in runs.cases()]
    streams = {
        "CONFORMANT": ({name: "PASS" for name in names}, False),
        "PARTIAL": ({names[0]: "PASS"}, True),
        "NOT_CONFORMANT": ({names[0]: "FAIL"}, True),
        "NOT_JUDGED": ({names[0]: "BROKEN"}, True),
    }
    rows = table("verdict")
    found = {}
    for verdict, (results, partial) in streams.items():
        status, console = reported(tmp_path, results, partial)
        run = document.read(tmp_path)
        assert run.data["verdict"] == verdict, run.data["reason"]
        (last,) = kcidb.report([run], "lab")["tests"][-1:]
        assert last["path"] == "pmuconf.verdict"
        found[verdict] = [verdict, str(status), signals.verdict(console), last["status"]]
    status, console = reported(tmp_path, {"No.Such": "PASS"}, True)
    found[NO_VERDICT] = [NO_VERDICT, str(status), signals.verdict(console), "no report"]
    assert [list(row.values()) for row in rows.values()] == list(found.values())


@pytest.mark.parametrize("word", ["--pmu=nosuch", "--target=nosuch", "--case=No.Such"])
def test_run_that_cannot_start_has_an_unknown_verdict(word: str) -> None:
    base = [] if "=nosuch" in word else ["--target=software"]
    done = subprocess.run(
        [runs.PMUCONF, "run", "--lava", *base, word],
        capture_output=True,
        text=True,
        check=False,
        timeout=runs.TIMEOUT_S,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert signals.cases(done.stdout) == {("", "verdict"): "unknown"}


def test_signals_during_a_run_have_the_waivers_applied(tmp_path: Path) -> None:
    case = "Sysfs.EventAttributesBelongToAnEventAndParse"
    target = tmp_path / "targets" / "software.toml"
    target.parent.mkdir()
    (tmp_path / "waivers").mkdir()
    shutil.copy(runs.ROOT / "conformance" / "targets" / target.name, target)
    waiver = WAIVER.format(waived=case, unexpected=case)
    (tmp_path / "waivers" / "w.toml").write_text(waiver, encoding="utf-8")
    words = ["run", "--lava", "--target", target, "--case", "Sysfs.[AEN]*", "--out", tmp_path]
    done = subprocess.run(
        [runs.PMUCONF, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=runs.TIMEOUT_S,
    )
    results = {one["id"]: one["result"] for one in document.read(tmp_path).data["cases"]}
    assert results[case] in ("UNEXPECTED_PASS", "SKIP")
    rows = table("result")
    found = {name: result for (_, name), result in signals.cases(done.stdout).items()}
    assert found.pop("verdict") == ("pass", "fail", "unknown")[done.returncode]
    assert found == {name: rows[result]["LAVA"] for name, result in results.items()}


def test_results_before_a_crash_are_on_the_console() -> None:
    words = [str(runs.PMUCONF), "run", "--lava", "--target", "software", "--case", "OpenErrno.*"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        before = ""
        for line in process.stdout:
            before += line
            if "TESTCASE" in line:
                break
        os.killpg(process.pid, signal.SIGKILL)
        after = process.stdout.read()
    assert before.count("<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=OpenErrno.") == 1
    assert "TEST_CASE_ID=verdict" not in after
