# SPDX-License-Identifier: Apache-2.0
"""A release in a folder: its programs and modules are used, and nothing is built. docs/release.md describes the files."""

from __future__ import annotations

import hashlib
import os
import pathlib
import re
import shlex

from pmubase.errors import UserError

from . import arch
from .arch import Arch
from .kernel import Kernel

VARIABLE = "PMUCONF_RELEASE"
"""The environment variable with the folder of the release."""
SUMS = "SHA256SUMS"
LINE = re.compile(r"([0-9a-f]{64})  (\S+)")
ID_DIGITS = 16


def use(folder: pathlib.Path) -> None:
    """Verifies the release in a folder. From now on, this process uses it. UserError, which names the file, if one is
    missing or changed."""
    for name, wanted in read_sums(folder).items():
        try:
            found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except OSError as error:
            raise UserError(f"the release lacks {folder / name}: {error.strerror}") from error
        if found != wanted:
            raise UserError(f"{folder / name} was changed: its SHA-256 is not that in {SUMS}")
    os.environ[VARIABLE] = str(folder.resolve())
    os.environ["PMUCONF_BINARY"] = str(program(arch.host()))


def folder_in_use() -> pathlib.Path | None:
    """The folder of the release that is used; None if programs and modules are built."""
    given = os.environ.get(VARIABLE)
    return pathlib.Path(given) if given else None


def read_sums(folder: pathlib.Path) -> dict[str, str]:
    """The SHA-256 of each file of a release by its path in the folder. UserError if the folder has no release."""
    path = folder / SUMS
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise UserError(f"RELEASE={folder} is no release: {SUMS}: {error.strerror}") from error
    found = {}
    for number, line in enumerate(lines, 1):
        match = LINE.fullmatch(line)
        if match is None:
            raise UserError(f"{path}:{number}: not a line of sha256sum: '{line}'")
        found[match[2]] = match[1]
    return found


def program(of: Arch) -> pathlib.Path:
    """The static pmuconf for an architecture. UserError if the release has none."""
    return _find(f"pmuconf-{of.name}", f"program for {of.name}", "pmuconf-")


def module(found: Kernel, name: str) -> pathlib.Path:
    """The module `name` for exactly this kernel. UserError if the release has none."""
    return _find(f"{place(found)}/{name}.ko", f"{name}.ko for {found.release}", "modules/")


def place(found: Kernel) -> str:
    """The folder of the modules for a kernel, in a release. Two builds of a kernel may have the same release name, so the
    digest of the image identifies it."""
    digest = hashlib.sha256(found.image.read_bytes()).hexdigest()
    return f"modules/{found.release}-{found.arch.name}-{digest[:ID_DIGITS]}"


def _find(name: str, what: str, like: str) -> pathlib.Path:
    folder = folder_in_use()
    assert folder is not None
    names = read_sums(folder)
    if name not in names:
        known = ", ".join(sorted(other for other in names if other.startswith(like))) or "none"
        raise UserError(f"the release in {shlex.quote(str(folder))} has no {what}; known: {known}")
    return folder / name
