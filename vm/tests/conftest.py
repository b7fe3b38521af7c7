# SPDX-License-Identifier: Apache-2.0
"""Fixtures that the tests share: a private cache, programs on PATH, a machine that is not real."""

from __future__ import annotations

import os
import pathlib

import pytest

from pmuvm import arch, qemu, store

from stubs import TESTS


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
def apt_log(
    cache: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> pathlib.Path:
    """Where a stand-in for apt-get lists its calls; the tests bring the distribution."""
    log = tmp_path / "apt.log"
    log.touch()
    monkeypatch.setenv("APT_LOG", str(log))
    return log


@pytest.fixture
def machine(fakes: pathlib.Path, tmp_path: pathlib.Path) -> qemu.Machine:
    """A machine that the stand-in plays."""
    return qemu.Machine(arch.AMD64, kernel=tmp_path / "bzImage", initrd=tmp_path / "initrd")
