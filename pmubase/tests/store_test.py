# SPDX-License-Identifier: Apache-2.0
"""A cache entry is complete or absent, and only one process at a time makes it."""

from __future__ import annotations

import multiprocessing
import os
import pathlib
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from pmubase import store
from pmubase.errors import UserError


@pytest.fixture
def small_files() -> Iterator[int]:
    """Limits the size of this process's files, which simulates a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield 4096
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_cache_folder_follows_the_environment(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert store.cache() == tmp_path / "cache" / "pmuconf"


def test_a_new_folder_appears_whole(tmp_path: pathlib.Path) -> None:
    final = tmp_path / "deep" / "entry"
    with store.new_folder(final) as folder:
        (folder / "file").write_text("x", encoding="ascii")
        assert not final.exists()
    assert (final / "file").read_text("ascii") == "x"
    assert [path.name for path in final.parent.iterdir()] == ["entry"]


def test_a_new_folder_that_fails_leaves_nothing(tmp_path: pathlib.Path) -> None:
    with pytest.raises(KeyError):
        with store.new_folder(tmp_path / "entry") as folder:
            (folder / "file").touch()
            raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(
    tmp_path: pathlib.Path, small_files: int
) -> None:
    with pytest.raises(UserError, match=f"cannot write to {tmp_path}: File too large"):
        with store.new_folder(tmp_path / "entry") as folder:
            (folder / "file").write_bytes(b"x" * (small_files + 1))
    with pytest.raises(UserError, match="cannot write to"):
        store.write(tmp_path / "file", b"x" * (small_files + 1))
    assert list(tmp_path.iterdir()) == []


def test_an_old_file_survives_a_write_that_fails(tmp_path: pathlib.Path, small_files: int) -> None:
    store.write(tmp_path / "file", b"old")
    with pytest.raises(UserError):
        store.write(tmp_path / "file", b"x" * (small_files + 1))
    assert (tmp_path / "file").read_bytes() == b"old"


def _append(path: pathlib.Path, rounds: int) -> None:
    for _ in range(rounds):
        with store.locked(path.parent / ".lock"):
            count = int(path.read_text("ascii"))
            path.write_text(str(count + 1), encoding="ascii")


def test_lock_serialises_two_processes(tmp_path: pathlib.Path) -> None:
    counter = tmp_path / "counter"
    counter.write_text("0", encoding="ascii")
    pair = [multiprocessing.Process(target=_append, args=(counter, 200)) for _ in range(2)]
    for process in pair:
        process.start()
    for process in pair:
        process.join(60)
    assert counter.read_text("ascii") == "400"


def test_child_keeps_the_lock_of_a_killed_process(tmp_path: pathlib.Path) -> None:
    """Otherwise the next build would change the sources of a make that still runs."""
    path = tmp_path / "lock"
    program = (
        "import pathlib, subprocess, sys; from pmubase import store\n"
        f"with store.locked(pathlib.Path({str(path)!r})) as lock:\n"
        "    child = subprocess.Popen(['sleep', '60'], pass_fds=(lock,), stdout=subprocess.DEVNULL)\n"
        "    print(child.pid, flush=True)\n"
        "    child.wait()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=store.ROOT, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        holder.kill()
        holder.wait()
    with store.locked_now(path) as mine:
        assert not mine
    end = os.pidfd_open(child)
    signal.pidfd_send_signal(end, signal.SIGKILL)
    assert select.select([end], [], [], 10)[0]
    os.close(end)
    with store.locked_now(path) as mine:
        assert mine


def test_the_key_depends_on_every_byte_and_border() -> None:
    keys = {store.digest(parts) for parts in ([b"ab", b"c"], [b"a", b"bc"], [b"abc"], [b"abd"])}
    assert len(keys) == 4


def entries(folder: pathlib.Path, ages_s: list[float]) -> list[pathlib.Path]:
    """Entries of 100 bytes, last touched at the given ages."""
    made = []
    for number, age in enumerate(ages_s):
        path = folder / f"{number}.entry"
        path.write_bytes(b"x" * 100)
        touched = time.time() - age
        os.utime(path, (touched, touched))
        made.append(path)
    return made


def test_unused_entries_are_removed(tmp_path: pathlib.Path) -> None:
    fresh, old = entries(tmp_path, [0, 3 * 86400])
    store.prune(tmp_path, "*.entry", unused_days=2, kept_bytes=1000)
    assert fresh.is_file() and not old.exists()


def test_cache_has_a_maximum_size(tmp_path: pathlib.Path) -> None:
    oldest, newest, middle = entries(tmp_path, [300, 0, 200])
    (tmp_path / "other").write_bytes(b"x" * 500)
    store.prune(tmp_path, "*.entry", unused_days=2, kept_bytes=200)
    assert newest.is_file() and middle.is_file() and not oldest.exists()
    assert (tmp_path / "other").is_file()
