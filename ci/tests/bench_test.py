# SPDX-License-Identifier: Apache-2.0
"""The benchmarks compare costs round by round. A missed goal is reported but not a failure; bad output is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ci import bench, costs
from ci.costs import COMPARISONS, Comparison, compare
from pmubase.errors import UserError


def rows(*ratios: float) -> list[dict[str, float]]:
    """Rounds with these ratios, each on a machine of a different speed."""
    return [{"cpu-clock": 10.0 * i, "pmu": 10.0 * i * r} for i, r in enumerate(ratios, start=1)]


def measured(switch: float = 1.2, samples: float = 1.0) -> dict[str, Any]:
    rates = {question.place[-1]: rows(*[samples] * 5) for question in COMPARISONS[1:]}
    said = {"context_switch_ns": rows(*[switch] * 5), "samples_per_s": rates}
    return {"kernel": "6.12.0", "accel": "tcg", "costs": said}


def program(folder: Path, text: str, status: int = 0) -> Path:
    """Replaces the program of the Google benchmarks."""
    path = folder / "core_bench"
    path.write_text(f"#!/bin/sh\ncat >\"${{1#*=}}\" <<'END'\n{text}\nEND\nexit {status}\n")
    path.chmod(0o755)
    return path


ROW = '{"benchmarks": [{"name": "a", "cpu_time": 1.5, "time_unit": "ns"}]}'


def test_ratios_are_computed_for_each_round() -> None:
    result = compare(Comparison("q", ("x",), at_most=1.3), {"x": rows(1.0, 1.1, 1.2, 1.3, 9.0)})
    assert result.median == pytest.approx(1.2)
    assert result.low < result.median < result.high
    assert result.rounds == 5


@pytest.mark.parametrize(
    ("question", "ratio", "met"),
    [
        (Comparison("q", ("x",), at_most=1.3), 1.29, True),
        (Comparison("q", ("x",), at_most=1.3), 1.31, False),
        (Comparison("q", ("x",), at_least=0.9), 0.91, True),
        (Comparison("q", ("x",), at_least=0.9), 0.89, False),
    ],
)
def test_goal_is_met_at_its_bound(question: Comparison, ratio: float, met: bool) -> None:
    result = compare(question, {"x": rows(ratio, ratio)})
    assert result.met is met
    assert str(result).endswith("met" if met else "missed")


@pytest.mark.parametrize("x", [None, [], rows(1.0), [{"pmu": 1}] * 3, [{"pmu": 1, "cpu-clock": 0}]])
def test_output_without_rounds_is_an_error_that_names_the_comparison(x: object) -> None:
    with pytest.raises(UserError, match="'of x'"):
        compare(Comparison("of x", ("x",), at_most=1.3), {"x": x})


def test_report_prints_every_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    result = costs.report(measured(switch=2.0))
    assert [ratio["met"] for ratio in result["ratios"]] == [False, True, True, True]
    printed = capsys.readouterr().out
    assert all(question.name in printed for question in COMPARISONS)
    assert "2.00 x" in printed and "missed" in printed


def test_missed_goal_is_reported_but_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "OUT", tmp_path)
    monkeypatch.setattr(bench, "PROGRAM", program(tmp_path, ROW))
    monkeypatch.setattr(costs, "run", lambda kernel, driver: measured(switch=3.0))
    assert bench.main([]) == 0
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["totals"] == {"cases": 1, "passed": 1, "failed": 0, "skipped": 0}
    assert found["guest"]["ratios"][0]["median"] == pytest.approx(3.0)


def test_no_vm_boots_no_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(kernel: str, driver: Path) -> dict[str, Any]:
        raise AssertionError(f"a guest of {kernel}")

    monkeypatch.setattr(bench, "OUT", tmp_path)
    monkeypatch.setattr(bench, "PROGRAM", program(tmp_path, ROW))
    monkeypatch.setattr(costs, "run", refuse)
    assert bench.main(["--no-vm"]) == 0
    assert "guest" not in json.loads((tmp_path / "results.json").read_text())


def test_guest_that_does_not_boot_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lose(kernel: str, driver: Path) -> dict[str, Any]:
        raise UserError(f"no kernel {kernel}")

    monkeypatch.setattr(bench, "OUT", tmp_path)
    monkeypatch.setattr(bench, "PROGRAM", program(tmp_path, ROW))
    monkeypatch.setattr(costs, "run", lose)
    assert bench.main(["--kernel", "9.9"]) == 2
    assert capsys.readouterr().err == "bench: no kernel 9.9\n"


@pytest.mark.parametrize(
    ("text", "status"), [("{", 0), ("{}", 0), ('{"benchmarks": []}', 0), (ROW, 1)]
)
def test_benchmarks_that_do_not_run_are_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    text: str,
    status: int,
) -> None:
    monkeypatch.setattr(bench, "OUT", tmp_path)
    monkeypatch.setattr(bench, "PROGRAM", program(tmp_path, text, status))
    assert bench.main(["--no-vm"]) == 2
    assert str(tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "results.json").exists()


def test_failed_benchmark_counts_as_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = '{"benchmarks": [{"name": "a", "error_occurred": true}]}'
    monkeypatch.setattr(bench, "OUT", tmp_path)
    monkeypatch.setattr(bench, "PROGRAM", program(tmp_path, text))
    assert bench.main(["--no-vm"]) == 1
    assert json.loads((tmp_path / "results.json").read_text())["totals"]["failed"] == 1
