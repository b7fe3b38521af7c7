# SPDX-License-Identifier: Apache-2.0
"""The report for KCIDB: its exact content, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from results import __main__, document, kcidb

SCHEMA = json.loads((Path(__file__).parent / "kcidb_schema.json").read_text("utf-8"))
WAIVER = {
    "id": "WVR-007",
    "reason": "counts twice",
    "link": "https://example.org/7",
    "owner": "perf",
}
CASES: list[dict[str, Any]] = [
    {"id": "Counting.Passes", "result": "PASS", "message": ""},
    {"id": "Counting.Fails", "result": "FAIL", "message": "x.cpp:7: 3 & \0\n", "repro": "run it"},
    {"id": "Counting.Times/Out", "result": "TIMEOUT", "message": "no answer"},
    {"id": "Counting.Crashes", "result": "CRASH", "message": "oops", "runs": 2},
    {"id": "Counting.Waived", "result": "WAIVED", "message": "x.cpp:9", "waiver": WAIVER},
    {"id": "Counting.Broken", "result": "BROKEN", "message": "b", "skip_reason": "broken"},
    {"id": "Counting.Lost", "result": "NOT_RUN", "message": "lost"},
    {"id": "Counting.Fixed", "result": "UNEXPECTED_PASS", "message": "waiver"},
    {"id": "Counting.Lacks", "result": "SKIP", "message": "n", "skip_reason": "kernel_lacks"},
    {"id": "Counting.NoClaim", "result": "SKIP", "message": "n", "skip_reason": "not_claimed"},
    {"id": "Counting.NoRoot", "result": "SKIP", "message": "n", "skip_reason": "not_permitted"},
    {"id": "Counting.NoPmu", "result": "SKIP", "message": "n", "skip_reason": "no_such_pmu"},
    {"id": "Counting.Loud", "result": "SKIP", "message": "n", "skip_reason": "not_quiet"},
    {"id": "Counting.Newer", "result": "SKIP", "message": "n", "skip_reason": "kernel_newer"},
]
STATUSES = {
    **{"Passes": "PASS", "Fails": "FAIL", "Times_Out": "FAIL", "Crashes": "FAIL"},
    **{"Waived": "FAIL", "Broken": "ERROR", "Lost": "MISS", "Fixed": "FAIL"},
    **{"Lacks": "SKIP", "NoClaim": "SKIP", "NoRoot": "MISS", "NoPmu": "MISS"},
    **{"Loud": "MISS", "Newer": "DONE"},
}


def data(**changes: Any) -> dict[str, Any]:
    """The content of a results.json."""
    cases = [case | {"rules": ["CNT-002"], "duration_s": 0.25} for case in CASES]
    found = {"verdict": "NOT_CONFORMANT", "reason": "failed: CNT-002", "target": "cpu"}
    more = {"kernel": "6.12", "release": "6.12.9", "arch": "x86_64", "profile": ""}
    empty: dict[str, Any] = {
        "verdict_of": "target",
        "verdicts": [],
        "totals": {},
        "skip_reasons": {},
        "rules": [],
        "drafts": [],
    }
    return found | more | empty | {"problems": [], "cases": cases} | changes


def written(folder: Path, name: str = "results.json", **changes: Any) -> Path:
    """A results.json."""
    file = folder / name
    file.write_text(json.dumps(data(**changes)), encoding="utf-8")
    return file


def printed(capsys: pytest.CaptureFixture[str], *words: str | Path) -> dict[str, Any]:
    """The report that the command prints, checked by the schema."""
    assert __main__.main(["kcidb", *map(str, words)]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert isinstance(found, dict)
    return found


def refusal(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """The only line of the error."""
    assert __main__.main(["kcidb", *map(str, words)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    return err


def test_report_has_the_kernel_the_cases_and_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, cases=data()["cases"][:2])
    found = printed(capsys, file, "--origin", "lab_1", "--machine", "board 3")
    run = found["tests"][0]["id"].split(":")[1]
    environment = {"comment": "board 3", "misc": {"target": "cpu"}}
    test = {"build_id": "lab_1:linux-6.12.9-x86_64", "origin": "lab_1", "environment": environment}
    rules = {"rules": ["CNT-002"]}
    assert found == {
        "version": {"major": 5, "minor": 3},
        "checkouts": [
            {
                "id": "lab_1:linux-6.12.9",
                "origin": "lab_1",
                "comment": "Linux 6.12.9",
                "valid": True,
            }
        ],
        "builds": [
            {
                "checkout_id": "lab_1:linux-6.12.9",
                "id": "lab_1:linux-6.12.9-x86_64",
                "origin": "lab_1",
                "architecture": "x86_64",
                "status": "PASS",
            }
        ],
        "tests": [
            test
            | {
                "id": f"lab_1:{run}:Counting.Passes",
                "path": "pmuconf.Counting.Passes",
                "status": "PASS",
                "duration": 0.25,
                "misc": {"result": "PASS"} | rules,
            },
            test
            | {
                "id": f"lab_1:{run}:Counting.Fails",
                "path": "pmuconf.Counting.Fails",
                "status": "FAIL",
                "log_excerpt": "x.cpp:7: 3 & ?\n",
                "duration": 0.25,
                "misc": {"result": "FAIL"} | rules | {"repro": "run it"},
            },
            test
            | {
                "id": f"lab_1:{run}:verdict",
                "path": "pmuconf.verdict",
                "status": "FAIL",
                "log_excerpt": "failed: CNT-002",
                "misc": {"verdict": "NOT_CONFORMANT", "verdicts": {}},
            },
        ],
    }


def test_each_result_and_skip_reason_has_its_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, written(tmp_path))
    statuses = {test["path"].split(".")[-1]: test["status"] for test in found["tests"]}
    assert statuses == STATUSES | {"verdict": "FAIL"}


def test_waived_case_is_an_incident_of_the_issue_of_its_waiver(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, written(tmp_path))
    (test,) = [one for one in found["tests"] if one["path"] == "pmuconf.Counting.Waived"]
    issue = {"id": "pmuconf:WVR-007", "version": 1, "origin": "pmuconf"}
    assert found["issues"] == [
        issue | {"report_url": "https://example.org/7", "comment": "counts twice"}
    ]
    (incident,) = found["incidents"]
    assert (incident["issue_id"], incident["test_id"]) == (issue["id"], test["id"])


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        *(("CONFORMANT", "PASS"), ("PARTIAL", "PASS")),
        *(("NOT_CONFORMANT", "FAIL"), ("NOT_JUDGED", "MISS")),
    ],
)
def test_verdict_is_a_test(
    verdict: str, status: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, written(tmp_path, verdict=verdict, cases=[]))
    assert [(test["path"], test["status"]) for test in found["tests"]] == [
        ("pmuconf.verdict", status)
    ]


def test_tests_of_other_layers_have_paths_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = {"id": "vm/tests/a_test.py::test_x[1]", "rules": [], "result": "PASS", "message": ""}
    layers = [{"layer": "vm", "cases": [case]}]
    found = printed(capsys, written(tmp_path, cases=[], layers=layers))
    assert found["tests"][0]["path"] == "pmuconf.vm.vm_tests_a_test.py__test_x_1_"


def test_runs_on_one_kernel_share_a_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = written(tmp_path, "1.json")
    found = printed(capsys, one, written(tmp_path, "2.json", target="uncore"))
    assert (len(found["checkouts"]), len(found["builds"])) == (1, 1)
    ids = [test["id"] for test in found["tests"]]
    assert len(ids) == len(set(ids)) == 2 * (len(CASES) + 1)


def test_known_build_replaces_checkout_and_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = printed(capsys, written(tmp_path), "--build", "maestro:65f")
    assert not found.keys() & {"checkouts", "builds"}
    assert {test["build_id"] for test in found["tests"]} == {"maestro:65f"}


def test_long_message_is_cut(tmp_path: Path) -> None:
    case = data()["cases"][1] | {"message": "x" * 20000}
    report = kcidb.report([document.read(written(tmp_path, cases=[case]))], "lab")
    assert len(report["tests"][0]["log_excerpt"]) == kcidb.EXCERPT
    jsonschema.validate(report, SCHEMA)


def test_bad_input_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = written(tmp_path)
    assert "--origin 'Lab 1': only a-z, 0-9 and _" in refusal(capsys, good, "--origin", "Lab 1")
    assert "--build 'x': not ORIGIN:ID" in refusal(capsys, good, "--build", "x")
    assert "the same run as" in refusal(capsys, good, good)
    assert "No such file" in refusal(capsys, tmp_path / "none.json")
    bad = tmp_path / "bad.json"
    bad.write_text("{", encoding="utf-8")
    assert f"{bad}: no JSON" in refusal(capsys, bad)
    fine = data()["cases"][0] | {"result": "FINE"}
    file = written(tmp_path, "fine.json", cases=[fine])
    assert "case Counting.Passes: unknown result 'FINE'" in refusal(capsys, file)
    file = written(tmp_path, "verdict.json", verdict="GOOD")
    assert "unknown verdict 'GOOD'" in refusal(capsys, file)
