# SPDX-License-Identifier: Apache-2.0
"""`pmuconf watch` finds nothing wrong with the driver, and names what is wrong with broken ones.

One guest takes the modules in turn: each is loaded, watched while some cases run, and unloaded.
"""

from __future__ import annotations

import functools
import json
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from typing import Any

import pytest

from pmuvm import guest, kernel, module, runs, store, suite

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("watch")]

SECONDS = 10
"""A breach is named within them."""
DEADLINE_S = 120


@dataclass(frozen=True)
class Broken:
    """A mutant of the driver, what runs meanwhile, and a breach that is named."""

    case: str
    breach: str


BROKEN: dict[str, Broken] = {}


def _mutated(name: str, folder: pathlib.Path) -> pathlib.Path:
    """A copy of the driver with a mutant's patch; "" is none."""
    copy = folder / (name or "right") / "driver"
    shutil.copytree(store.ROOT / "driver", copy)
    for patch in (store.ROOT / "driver/mutants").glob(f"{name}-*.patch") if name else ():
        words = ["patch", "--strip=1", "--fuzz=0", "--silent", f"--input={patch}"]
        subprocess.run(words, cwd=copy.parent, check=True)
    return copy
