# SPDX-License-Identifier: Apache-2.0
"""Pages, history and bundles of results. The package `results` of the checkout does the work."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError

NAME = "index.html"
COMMANDS = {
    "history": "keep the results of runs, and compare commits",
    "bundle": "pack a run for somebody else",
    "verify": "judge a bundle again",
    "kcidb": "print runs as a report for KernelCI",
}
"""Commands of the package `results`, with their purposes."""


def write(runs: Sequence[Path], out: Path) -> None:
    """Writes a page of files results.json, or of folders that have one. Several runs are columns."""
    _add_checkout()
    from results import document
    from results import page as results_page

    results_page.write(document.read_all(runs), out)


def command(words: Sequence[str]) -> int:
    """Runs one of COMMANDS with its arguments, and returns its exit status."""
    _add_checkout()
    from results import __main__ as program

    return program.main(words)


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


def _add_checkout() -> None:
    """Lets an installed pmuvm import the package `results`, which only a checkout has."""
    if str(store.ROOT) not in sys.path:
        sys.path.append(str(store.ROOT))
