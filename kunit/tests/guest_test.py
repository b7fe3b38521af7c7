# SPDX-License-Identifier: GPL-2.0-only
"""The boot: every way in which QEMU can end, simulated by a script."""

from pathlib import Path
from typing import Protocol

import pytest

from kunit.pmukunit import guest
from pmubase.errors import UserError
from vm.arch import AMD64


class Booter(Protocol):
    def __call__(self, script: str, deadline_s: float = 60) -> guest.Boot:
        ...


@pytest.fixture(name="boot")
def fake_qemu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Booter:
    def boot(script: str, deadline_s: float = 60) -> guest.Boot:
        program = tmp_path / AMD64.qemu
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        return guest.boot(tmp_path / "bzImage", "", deadline_s, tmp_path / "log")

    return boot


def test_console_is_recorded_completely(boot: Booter, tmp_path: Path) -> None:
    booted = boot("printf 'KTAP version 1\\n1..1'")
    assert (booted.console, booted.cut) == (b"KTAP version 1\n1..1", "")
    assert (tmp_path / "log").read_bytes() == booted.console


def test_guest_that_hangs_is_cut_at_the_deadline(boot: Booter) -> None:
    booted = boot("echo started; exec sleep 600", 0.5)
    assert (booted.console, booted.cut) == (b"started\n", "the guest was not done at its deadline")
    assert booted.duration_s < 30


def test_guest_that_floods_its_console_is_cut(boot: Booter) -> None:
    assert "flooded" in boot("exec yes").cut


def test_error_of_qemu_is_reported(boot: Booter) -> None:
    assert boot("echo no such image >&2; exit 1").cut == "QEMU ended with status 1: no such image"


def test_missing_qemu_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="no program 'qemu-system-x86_64'"):
        guest.boot(tmp_path / "bzImage", "", 1, tmp_path / "log")
