# SPDX-License-Identifier: Apache-2.0
"""The command line: page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from results import document, page
from results.errors import ResultsError
from vm.errors import PmuvmError


class Parser(argparse.ArgumentParser):
    """Reports an error in the arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"results: {message}; see {self.prog} --help\n")


def main(argv: Sequence[str]) -> int:
    """Runs one command. Status 2: the command could not run."""
    parser = Parser(prog="python3 -m results", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    shown = commands.add_parser("page", help="write runs as one HTML file")
    shown.add_argument("runs", nargs="+", type=Path, help="results.json, or its folder")
    shown.add_argument("--out", type=Path, required=True, help="the HTML file")
    shown.set_defaults(command=_page)
    options = parser.parse_args(argv)
    try:
        return int(options.command(options))
    except (ResultsError, PmuvmError) as error:
        print(f"results: {error}", file=sys.stderr)
        return 2


def _page(options: argparse.Namespace) -> int:
    page.write(document.read_all(options.runs), options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
