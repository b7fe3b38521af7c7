# SPDX-License-Identifier: Apache-2.0
"""ci/build prints its progress, and the log only after a failure."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from pathlib import Path

import pytest

from pmubase import store
from vm.testing.stubs import write_script

CMAKE = """case $1 in
--build) echo "[1/2] Building x.o"; echo "[2/2] Linking x"; echo noise; exit ${STATUS:-0} ;;
*) mkdir -p build/dev && touch build/dev/build.ninja ;;
esac
"""


@pytest.fixture(name="build")
def fixture_build(tmp_path: Path) -> Path:
    """ci/build in a tree of its own, with a cmake that builds nothing."""
    (tmp_path / "ci").mkdir()
    shutil.copy(store.ROOT / "ci" / "build", tmp_path / "ci")
    (tmp_path / "bin").mkdir()
    write_script(tmp_path / "bin", "cmake", CMAKE)
    return tmp_path / "ci" / "build"


def environment(build: Path, status: int = 0) -> dict[str, str]:
    path = f"{build.parent.parent}/bin:{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "STATUS": str(status)}


def test_terminal_shows_the_steps_in_one_line(build: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [build, "dev"], env=environment(build), stderr=theirs, timeout=60, check=True
        )
        shown = os.read(ours, 4096).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "\r[1/2] dev\r[2/2] dev\r\x1b[K" in shown
    assert "noise" not in shown


@pytest.mark.parametrize("status", [0, 1])
def test_log_has_all_lines_and_is_printed_after_a_failure(build: Path, status: int) -> None:
    done = subprocess.run(
        [build, "dev"],
        env=environment(build, status),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    log = (build.parent.parent / "build" / "dev.log").read_text("utf-8")
    assert log == "[1/2] Building x.o\n[2/2] Linking x\nnoise\n"
    assert done.returncode == 2 * status
    assert ("noise" in done.stderr) == bool(status)
