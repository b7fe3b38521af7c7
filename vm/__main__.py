# SPDX-License-Identifier: Apache-2.0
"""Starts the command line, or reports in one line that an installed pmuvm finds no checkout."""

from __future__ import annotations

import sys

from pmubase.errors import UserError


def main() -> int:
    """Runs the command of this process's arguments and returns its exit status."""
    try:
        from . import cli  # It looks for the checkout.
    except UserError as error:
        print(f"pmuvm: {error}", file=sys.stderr)
        return 2
    return cli.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
