# SPDX-License-Identifier: Apache-2.0
"""A soak distinguishes a case with changing results from one that is always bad, and reports the seeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci import soak
from pmubase.errors import UserError
from vm import runs


def test_changed_result_reports_its_seeds() -> None:
    seen = soak.Seen()
    seen.add("2cpu", 1, {"A.One": "PASS", "A.Two": "PASS"})
    seen.add("2cpu", 2, {"A.One": "FAIL", "A.Two": "PASS"})
    seen.add("2cpu", 3, {"A.One": "FAIL", "A.Two": "PASS"})
    assert seen.changed() == ["A.One on 2cpu: PASS with seed 1, FAIL with seed 2"]
    assert seen.bad() == []
    assert seen.figures()["totals"] == {"cases": 2, "passed": 1, "failed": 1, "skipped": 0}


def test_results_may_differ_between_machine_types() -> None:
    seen = soak.Seen()
    seen.add("2cpu", 1, {"A.One": "PASS"})
    seen.add("1cpu", 2, {"A.One": "SKIP"})
    assert seen.changed() == [] and seen.bad() == []


def test_case_that_always_fails_is_bad() -> None:
    seen = soak.Seen()
    seen.add("icount", 4, {"A.One": "TIMEOUT"})
    assert seen.bad() == ["A.One on icount: always TIMEOUT"]


def test_machine_types_take_turns_and_each_round_has_its_seed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rounds = []

    def run(request: runs.Request) -> int:
        rounds.append((request.machine.cpus, request.machine.icount, request.shuffle))
        request.out.mkdir(parents=True)
        (request.out / "results.json").write_text('{"cases": [{"id": "A", "result": "PASS"}]}')
        return 0

    monkeypatch.setattr(soak, "OUT", tmp_path)
    monkeypatch.setattr(runs, "run_target", run)
    assert soak.main(["-n", "5", "--seed", "9", "--load", "0"]) == 0
    assert rounds == [(2, None, 9), (1, None, 10), (4, None, 11), (1, 3, 12), (2, None, 13)]


def test_eight_single_rounds_use_every_machine_type() -> None:
    assert {soak.kind_of(seed, soak.KINDS) for seed in range(1, 9)} == {*soak.KINDS}


def test_interrupted_soak_has_the_results_of_its_rounds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(request: runs.Request) -> int:
        if request.shuffle == 3:
            raise KeyboardInterrupt
        request.out.mkdir(parents=True)
        (request.out / "results.json").write_text('{"cases": [{"id": "A", "result": "FAIL"}]}')
        return 1

    monkeypatch.setattr(soak, "OUT", tmp_path)
    monkeypatch.setattr(runs, "run_target", run)
    assert soak.main(["-n", "5", "--kind", "1cpu", "--load", "0"]) == 2
    left = json.loads((tmp_path / "results.json").read_text())
    assert left["rounds"] == 2 and left["bad"] == ["A on 1cpu: always FAIL"]


def test_run_that_does_not_start_is_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_request: runs.Request) -> int:
        raise UserError("no kernel '5.0'")

    monkeypatch.setattr(soak, "OUT", tmp_path)
    monkeypatch.setattr(runs, "run_target", run)
    assert soak.main(["-n", "1", "--load", "0"]) == 2
    assert capsys.readouterr().err == "soak: no kernel '5.0'\n"


def test_zero_rounds_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        soak.main(["-n", "0"])
    assert "argument -n: invalid positive_number value: '0'" in capsys.readouterr().err
