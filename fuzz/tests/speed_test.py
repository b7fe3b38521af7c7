# SPDX-License-Identifier: Apache-2.0
"""The figures of the fuzzer are converted to rates, and compared with random calls."""

from __future__ import annotations

import pytest

from fuzz import speed
from fuzz.speed import Speed
from pmubase.errors import UserError


def fuzzer_output(operations: int, opened: int, seconds: float) -> str:
    return (
        f"syscall_fuzzer: programs=7 operations={operations} compared=900 opened={opened}"
        f" places=3 seconds={seconds:.1f}\n"
    )


def test_figures_are_rates_per_second() -> None:
    assert speed.speed("programs", "#2\n" + fuzzer_output(600, 30, 20.0)) == Speed(
        "programs", 30.0, 1.5
    )


def test_output_without_figures_is_not_judged() -> None:
    with pytest.raises(UserError, match="ended without figures: #2"):
        speed.speed("programs", "#2\n")


def test_table_compares_each_way_with_random_calls() -> None:
    lines = speed.table([Speed(speed.CHANCE, 40.0, 2.0), Speed("programs", 20.0, 8.0)]).splitlines()
    assert lines[1].split() == ["random", "calls", "40.0", "1.00x", "2.00", "1.00x"]
    assert lines[2].split() == ["programs", "20.0", "0.50x", "8.00", "4.00x"]


def test_zero_seconds_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert speed.main(["--seconds", "0"]) == 2
    assert capsys.readouterr().err == "speed: --seconds must be at least 1\n"
