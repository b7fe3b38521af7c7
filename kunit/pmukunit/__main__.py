#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs the KUnit suites of refpmu in a kernel that is built for them: see README.md."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "vm"))

from pmukunit.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
