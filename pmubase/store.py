# SPDX-License-Identifier: Apache-2.0
"""The cache folder: paths, locks between processes, and entries that are complete or absent."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pathlib
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator

from .errors import UserError

HERE = pathlib.Path(__file__).resolve().parents[1]
"""The folder with this package: the checkout, unless the package is installed."""
FOLDERS = ("vm", "conformance")
"""A folder that has these is a checkout."""


def _is_checkout(folder: pathlib.Path) -> bool:
    return all((folder / name).is_dir() for name in FOLDERS)


def find_checkout() -> pathlib.Path:
    """The checkout that this package is in. For an installed package: PMUCONF_ROOT, or the nearest parent of the
    working directory. UserError if there is none."""
    if _is_checkout(HERE):
        return HERE
    if given := os.environ.get("PMUCONF_ROOT"):
        if not _is_checkout(pathlib.Path(given)):
            raise UserError(
                f"PMUCONF_ROOT={given}: no checkout of pmuconf, which has vm/ and conformance/"
            )
        return pathlib.Path(given).resolve()
    here = pathlib.Path.cwd()
    for folder in (here, *here.parents):
        if _is_checkout(folder):
            return folder
    raise UserError(
        f"{here} is in no checkout of pmuconf: change to one, or set PMUCONF_ROOT to it"
    )


ROOT = find_checkout()
"""The checkout."""


def cache() -> pathlib.Path:
    """The folder for data that outlives a checkout: ${XDG_CACHE_HOME:-~/.cache}/pmuconf."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "pmuconf"


@contextlib.contextmanager
def locked(path: pathlib.Path) -> Iterator[int]:
    """Holds the lock file `path` (created if missing) against other processes.

    Yields its descriptor. A child that inherits it (`pass_fds`) keeps the lock while it lives, also if this process is
    killed.
    """
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(path, "w", encoding="ascii")  # noqa: SIM115 - closed below
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock.fileno()


@contextlib.contextmanager
def locked_now(path: pathlib.Path) -> Iterator[bool]:
    """Tries to lock the file `path`. Yields whether it is locked."""
    with open(path, "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


@contextlib.contextmanager
def writing(where: pathlib.Path) -> Iterator[None]:
    """Converts a write error (full disk, no permission) into a one-line error that names the folder."""
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot write to {where}: {error.strerror or error}") from error


@contextlib.contextmanager
def scratch(parent: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder below `parent` that is removed at the end."""
    with writing(parent):
        parent.mkdir(parents=True, exist_ok=True)
        temporary = pathlib.Path(tempfile.mkdtemp(prefix=".scratch.", dir=parent))
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def new_folder(final: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder to fill. At the end it becomes `final` in one step, or is removed after an error."""
    with writing(final.parent):
        final.parent.mkdir(parents=True, exist_ok=True)
        temporary = pathlib.Path(tempfile.mkdtemp(prefix=f".{final.name}.", dir=final.parent))
    try:
        with writing(final.parent):
            yield temporary
            temporary.chmod(0o755)
            if final.exists():
                shutil.rmtree(final)
            temporary.rename(final)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write(path: pathlib.Path, data: bytes) -> None:
    """Writes a file so that a reader sees the old or the new content, never a part of it."""
    with writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with open(descriptor, "wb") as file:
                file.write(data)
            os.chmod(name, 0o644)
            os.rename(name, path)
        except BaseException:
            os.unlink(name)
            raise


def prune(folder: pathlib.Path, pattern: str, unused_days: float, kept_bytes: int) -> None:
    """Removes entries that were not touched for `unused_days`. Then removes the oldest ones until the rest has at most
    `kept_bytes`."""
    limit = time.time() - unused_days * 86400
    entries = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):  # Another process may remove it at the same time.
            status = path.stat()
            entries.append((status.st_mtime, status.st_size, path))
    total = 0
    for touched, size, path in sorted(entries, reverse=True):
        total += size
        if touched < limit or total > kept_bytes:
            with contextlib.suppress(OSError):
                path.unlink()


def digest(parts: Iterable[bytes]) -> str:
    """A digest of a sequence of byte strings. The boundaries between the strings count."""
    total = hashlib.sha256()
    for part in parts:
        total.update(len(part).to_bytes(8, "little"))
        total.update(part)
    return total.hexdigest()[:24]
