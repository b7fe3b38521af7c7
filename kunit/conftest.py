# SPDX-License-Identifier: GPL-2.0-only
"""Lets the tests find pmukunit and pmuvm wherever pytest is started."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "vm")]
