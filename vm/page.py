# SPDX-License-Identifier: Apache-2.0
"""Pages, history and bundles of results. The package `results` of the checkout does the work."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError

NAME = "index.html"
PROGRAM = (sys.executable, "-m", "results")
DEADLINE_S = 120
COMMANDS = {
    "history": "keep the results of runs, and compare commits",
    "bundle": "pack a run for somebody else",
    "verify": "judge a bundle again",
    "kcidb": "print runs as a report for KernelCI",
}
"""Commands of the package `results`, with their purposes."""


def write(runs: Sequence[Path], out: Path) -> None:
    """Writes a page of files results.json, or of folders that have one. Several runs are columns."""
    words = ["page", *map(_absolute, runs), "--out", _absolute(out)]
    try:
        done = subprocess.run(
            [*PROGRAM, *words],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{out}: the page did not end within {DEADLINE_S} s") from error
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"status {done.returncode}"]
        raise UserError(last[0].removeprefix("results: "))


def command(words: Sequence[str]) -> int:
    """Runs one of COMMANDS with its arguments, and returns its exit status."""
    return subprocess.run([*PROGRAM, *words], env=_environment(), check=False).returncode


def of_run(folder: Path) -> None:
    """Writes the page of a run, or of several runs whose folders are in `folder`. A run has its verdict without a page,
    so an error is only a line."""
    runs = [path.parent for path in sorted(folder.glob("*/results.json"))]
    if (folder / "results.json").is_file():
        runs = [folder]
    if not runs:
        return
    try:
        write(runs, folder / NAME)
        print(f"page: {folder / NAME}", file=sys.stderr)
    except UserError as error:
        print(f"pmuvm: no page: {error}", file=sys.stderr)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(store.ROOT)}


def _absolute(path: Path) -> str:
    return str(path.absolute())
