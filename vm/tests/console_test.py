# SPDX-License-Identifier: Apache-2.0
"""The console's scan detects kernel crashes in recorded logs, and reports no others."""

from __future__ import annotations

import pathlib

import pytest

from vm import console, qemu

LOGS = pathlib.Path(__file__).parent / "logs"

DEATHS = {
    "panic.log": "Kernel panic - not syncing: sysrq triggered crash",
    "oops.log": "BUG: kernel NULL pointer dereference, address: 0000000000000000",
    "bug.log": "kernel BUG at refpmu/pmu.c:120!",
}
ALIVE = ["clean.log", "warning.log", "shouting_case.log", "segfault.log"]


def scan(name: str, size: int = 4096) -> console.Console:
    text = (LOGS / name).read_bytes()
    found = console.Console()
    for start in range(0, len(text), size):
        found.feed(text[start : start + size])
    return found


@pytest.mark.parametrize("name", DEATHS)
@pytest.mark.parametrize("size", [1, 5, 4096])
def test_crash_is_detected_with_its_first_line(name: str, size: int) -> None:
    assert scan(name, size).death == DEATHS[name]


@pytest.mark.parametrize("name", ALIVE)
def test_log_without_crash_has_no_finding(name: str) -> None:
    assert scan(name).death == ""


def test_stall_is_recorded_but_no_crash() -> None:
    found = scan("lockup.log")
    assert found.stall.startswith("watchdog: BUG: soft lockup - CPU#1")
    assert found.death == ""


def test_tail_has_no_control_characters() -> None:
    found = console.Console()
    found.feed(b"one\n\x1b[31mtwo\x07\n\nthree")
    assert found.tail(2) == "[31mtwo\nthree"
    assert found.tail(2).replace("\n", "").isprintable()


def test_console_is_limited_in_size(tmp_path: pathlib.Path) -> None:
    found = console.Console()
    for _ in range(10):
        found.feed(b"x" * (1 << 20))
    found.feed(b"\n[    1.0] Kernel panic - not syncing: late\n")
    found.save(tmp_path / "log")
    assert (tmp_path / "log").stat().st_size == qemu.CONSOLE_LIMIT
    assert found.death == "Kernel panic - not syncing: late"
