# SPDX-License-Identifier: Apache-2.0
"""Writes the generated part of docs/regressions.md, from the patches and the results that the project keeps.

`python3 -m ci.regression_page`. It runs no regression: `python3 -m ci.regressions --write` does.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ci.regression import page
from pmubase import store
from pmubase.errors import UserError


def main(arguments: Sequence[str]) -> int:
    """Writes the page."""
    parser = argparse.ArgumentParser(
        prog="python3 -m ci.regression_page",
        description=f"Writes the generated part of {page.PAGE}.",
    )
    parser.parse_args(arguments)
    path = store.ROOT / page.PAGE
    try:
        part = page.generated(store.ROOT)
        store.write(path, page.replaced(path.read_text(encoding="utf-8"), part).encode())
    except (OSError, UserError) as error:
        print(f"regression_page: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
