# SPDX-License-Identifier: GPL-2.0-only
"""The command: its kernel parameters, and a clear one-line error for each invalid option."""

from pathlib import Path

import pytest

from kunit.pmukunit import cli, results


@pytest.mark.parametrize(
    "argv, said",
    [
        (["--pmu", "refpmu"], "--event ''"),
        (["--pmu", "refpmu", "--event", "cycles"], "--event 'cycles'"),
        (["--pmu", "refpmu", "--event", str(1 << 64)], "--event '18446744073709551616'"),
        (["--pmu", "a b", "--event", "1"], "--pmu 'a b'"),
        (["--event", "1"], "the PMU that --pmu names"),
        (["--idle"], "the PMU that --pmu names"),
        (["--stock"], "the PMU that --pmu names"),
        (["--pmu", "refpmu", "--event", "1", "--filter", "refpmu_*"], "without --filter"),
        (["--param", "panic"], "MODULE.NAME=VALUE"),
        (["--param", "a.b=c d"], "MODULE.NAME=VALUE"),
    ],
)
def test_invalid_option_is_a_one_line_error(
    argv: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*argv, "--out", str(tmp_path)]) == results.NOT_JUDGED
    complaint = capsys.readouterr().err
    assert said in complaint
    assert complaint.count("\n") == 1


def test_pmu_and_event_become_parameters_of_the_suite() -> None:
    options = cli._options(["--pmu", "x", "--event", "0x3c", "--param", "refpmu.hybrid=1"])
    assert cli._parameters(options) == [
        "pmu_contract.pmu=x",
        "pmu_contract.event=0x3c",
        "pmu_contract.idle=0",
        "refpmu.hybrid=1",
    ]
