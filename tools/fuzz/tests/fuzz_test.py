# SPDX-License-Identifier: Apache-2.0
"""`pmuconf fuzz` names invalid input in one line."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = str(ROOT / "build" / "guest" / "conformance" / "pmuconf")
TIMEOUT_S = 60


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--pmu", "nosuch"), "no PMU 'nosuch' in /sys/bus/event_source/devices"),
        (("--pmu", "../devices/software"), "no PMU '../devices/software' in /sys"),
        (("--pmu", "uprobe"), "PMU 'uprobe' "),
    ],
)
def test_pmu_that_cannot_be_fuzzed_is_one_line_and_status_2(
    words: tuple[str, ...], said: str
) -> None:
    argv = [BINARY, "fuzz", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
