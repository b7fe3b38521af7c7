# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the archive of a bundle: a tar file, compressed with gzip, whose members have fixed names."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from pmubase import store
from results.errors import ResultsError

MANIFEST = "manifest.json"
NEEDED = ("stream.jsonl", "results.json", "target.toml")
OPTIONAL = ("console.log", "kernel.config")
MEMBERS = (MANIFEST, *NEEDED, *OPTIONAL)
MOST_BYTES = 64 << 20
"""The largest sum of the sizes of all members."""


def write(path: Path, files: Mapping[str, bytes]) -> None:
    """Writes an archive. The same files always give the same bytes."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(name)
            entry.size = len(files[name])
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    store.write(path, gzip.compress(plain.getvalue(), mtime=0))


def read(path: Path) -> dict[str, bytes]:
    """The members of an archive. ResultsError if it has other members than a bundle has, or is damaged."""
    try:
        data = _unpacked(path)
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror or error}") from error
    except (EOFError, zlib.error) as error:
        raise ResultsError(f"{path}: the archive is damaged: {error}") from error
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for entry in archive:
                _check(path, entry, files)
                member = archive.extractfile(entry)
                assert member is not None  # The entry is a regular file.
                files[entry.name] = member.read()
    except tarfile.TarError as error:
        raise ResultsError(f"{path}: the archive is damaged: {error}") from error
    for name in (MANIFEST, *NEEDED):
        if name not in files:
            raise ResultsError(f"{path}: the bundle has no {name}")
    return files


def _unpacked(path: Path) -> bytes:
    """The tar file. A larger one than any bundle's is not read to its end."""
    with gzip.open(path) as packed:
        data = packed.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ResultsError(f"{path}: the archive is larger than {MOST_BYTES >> 20} MiB")
    return data


def _check(path: Path, entry: tarfile.TarInfo, files: Mapping[str, bytes]) -> None:
    if entry.name not in MEMBERS:
        raise ResultsError(f"{path}: unknown member '{entry.name}'")
    if not entry.isreg():
        raise ResultsError(f"{path}: member '{entry.name}' is no regular file")
    if entry.name in files:
        raise ResultsError(f"{path}: member '{entry.name}' occurs twice")
