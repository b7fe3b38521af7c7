# SPDX-License-Identifier: GPL-2.0-only
"""Runs the KUnit suites of refpmu in a kernel that is built for them: see kunit/README.md."""

import sys

from kunit.pmukunit.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
