# SPDX-License-Identifier: Apache-2.0
"""Shared fixtures: a private cache, programs on PATH, a fake machine."""

from __future__ import annotations

import os
import pathlib

import pytest

from pmubase import store
from vm import arch, qemu
from vm.testing.stubs import TESTS


@pytest.fixture(autouse=True)
def target_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program that describes targets for the stub of pmuconf."""
    program = store.ROOT / "build" / "guest" / "conformance" / "pmuconf"
    monkeypatch.setenv("PMUCONF_REAL", str(program))


@pytest.fixture
def cache(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """An empty cache for this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return store.cache()


@pytest.fixture
def fakes(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder in front of PATH. It has the fake QEMU."""
    folder = tmp_path / "fakes"
    folder.mkdir()
    (folder / "qemu-system-x86_64").symlink_to(TESTS / "fakes" / "qemu-system-x86_64")
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def apt_log(
    cache: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> pathlib.Path:
    """The file in which a fake apt-get lists its calls. The tests provide the distribution."""
    log = tmp_path / "apt.log"
    log.touch()
    monkeypatch.setenv("APT_LOG", str(log))
    return log


@pytest.fixture
def machine(fakes: pathlib.Path, tmp_path: pathlib.Path) -> qemu.Machine:
    """A machine that the fake QEMU runs."""
    return qemu.Machine(arch.AMD64, kernel=tmp_path / "bzImage", initrd=tmp_path / "initrd")
