# SPDX-License-Identifier: GPL-2.0-only
"""Adds the folders of pmukunit and pmuvm to the path, so that pytest can start in any folder."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "vm")]
