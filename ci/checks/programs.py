# SPDX-License-Identifier: Apache-2.0
"""Finds programs whose output depends on their version."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from pathlib import Path


class NotFitting(Exception):
    """This machine has no version of a program that fits. The message is one line."""


@functools.cache
def find(name: str, oldest: int, newest: int = 99) -> str:
    """The path of the newest program `name` or `name-VERSION` whose major version fits."""
    folders = [Path(folder) for folder in os.get_exec_path() if Path(folder).is_dir()]
    named = re.compile(rf"{name}(-\d+)?")
    paths = [path for folder in folders for path in folder.glob(f"{name}*")]
    found = {version(path): str(path) for path in paths if named.fullmatch(path.name)}
    fitting = [number for number in found if oldest <= number <= newest]
    if not fitting:
        wanted = str(oldest) if oldest == newest else f"{oldest} or later"
        present = ", ".join(map(str, sorted(found))) or "none"
        raise NotFitting(f"{name} {wanted} is needed; this machine has {present}")
    return found[max(fitting)]


def version(path: Path) -> int:
    """The major version that a program states; 0 if it states none."""
    if shutil.which(path) is None:
        return 0
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    number = re.search(r"(\d+)\.", done.stdout)
    return int(number[1]) if number else 0
