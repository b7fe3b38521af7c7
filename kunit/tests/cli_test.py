# SPDX-License-Identifier: GPL-2.0-only
"""The command: its kernel parameters, and a clear one-line error for each invalid option."""

import json
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
        (["--log", "x"], "--log needs --pmu"),
        (["--log", "/no/such", "--pmu", "x"], "--log /no/such: No such file or directory"),
        (["--arch", "arm64"], "--arch arm64 needs --stock: no kernel is built for it"),
        (["--arch", "vax"], "unknown ARCH 'vax'; known: amd64, arm64"),
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


LOG = """[    0.000000] Linux version 6.6.1-board (a@b) #1 SMP
[    1.000000] WARNING: CPU: 0 PID: 1 at boot.c:1
[  100.000000] KTAP version 1
[  100.000000] 1..1
[  100.000000]     KTAP version 1
[  100.000000]     # Subtest: pmu_contract
[  100.000000]     1..1
[  100.000000]     # start_counts: verifies DRC-053
[  100.000000]     {}ok 1 start_counts
[  100.000000] {}ok 1 pmu_contract
"""


@pytest.mark.parametrize(("word", "status"), [("", 0), ("not ", 1)])
def test_log_of_a_machine_is_judged(word: str, status: int, tmp_path: Path) -> None:
    log = tmp_path / "dmesg"
    log.write_text(LOG.format(word, word), encoding="utf-8")
    out = tmp_path / "out"
    assert cli.main(["--log", str(log), "--pmu", "mine", "--out", str(out)]) == status
    document = json.loads((out / "results.json").read_text("utf-8"))
    assert (document["pmu"], document["release"], document["driver"]) == ("mine", "6.6.1-board", "")
    assert document["cases"][0]["rules"] == ["DRC-053"]
    assert document["problems"] == []


def test_log_without_results_is_not_judged(tmp_path: Path) -> None:
    log = tmp_path / "dmesg"
    log.write_text("[    0.000000] Linux version 6.6.1-board (a@b) #1 SMP\n", encoding="utf-8")
    words = ["--log", str(log), "--pmu", "mine", "--out", str(tmp_path / "out")]
    assert cli.main(words) == results.NOT_JUDGED
