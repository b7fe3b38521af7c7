# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a private cache, stand-ins for programs, a machine that is not real."""

from __future__ import annotations

import os
import pathlib

import pytest

from pmuvm import arch, qemu, store

TESTS = pathlib.Path(__file__).parent
REAL_CACHE = os.environ.get("XDG_CACHE_HOME", "")


@pytest.fixture
def cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An empty cache of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return store.cache()


@pytest.fixture
def fakes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder before all others on PATH; it holds the stand-in for QEMU."""
    folder = tmp_path / "fakes"
    folder.mkdir()
    (folder / "qemu-system-x86_64").symlink_to(TESTS / "fakes" / "qemu-system-x86_64")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def machine(fakes: pathlib.Path, tmp_path: pathlib.Path) -> qemu.Machine:
    """A machine that the stand-in plays."""
    return qemu.Machine(arch.AMD64, kernel=tmp_path / "bzImage", initrd=tmp_path / "initrd")


def script(folder: pathlib.Path, name: str, text: str) -> pathlib.Path:
    """Put a shell script into a folder."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def boot_image(path: pathlib.Path, release: str = "6.12.1-test") -> pathlib.Path:
    """A file with the boot header of an x86 kernel, and nothing else."""
    data = bytearray(0x1000)
    data[0x202:0x206] = b"HdrS"
    data[0x20E:0x210] = (0x600).to_bytes(2, "little")
    text = f"{release} (someone@somewhere) #1 SMP".encode()
    data[0x800 : 0x800 + len(text)] = text
    path.write_bytes(data)
    return path
