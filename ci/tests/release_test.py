# SPDX-License-Identifier: Apache-2.0
"""A release is made of a commit, has only programs that run everywhere, and has the same bytes each time."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ci import commands
from ci.release import __main__ as command
from ci.release import programs, runner, source
from ci.release.source import Source
from pmubase import store
from pmubase.errors import UserError
from vm import arch
from vm.testing.stubs import write_script

SOURCE = Source(store.ROOT, "0123456789ab", 1_700_000_000, "0.9.0")
SAYS = 'case $1 in --version) echo "pmuconf 0.9.0, commit 0123456789ab, x";; *) echo CNT-001;; esac'


def repository(folder: Path) -> Path:
    """A checkout with one commit."""
    (folder / "CMakeLists.txt").write_text("project(pmuconf VERSION 1.2.3 LANGUAGES C)\n")
    source.git(folder, "init", "--quiet")
    source.git(folder, "add", ".")
    words = ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "x"]
    source.git(folder, *words)
    return folder


def test_release_is_made_only_of_a_commit(tmp_path: Path) -> None:
    root = repository(tmp_path)
    found = source.read(root)
    assert (found.version, len(found.commit)) == ("1.2.3", source.COMMIT_DIGITS)
    (root / "CMakeLists.txt").write_text("changed")
    with pytest.raises(UserError, match="commit CMakeLists.txt first"):
        source.read(root)


def test_program_of_another_commit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "run", _without_readelf(programs.run))
    programs.check(write_script(tmp_path, "good", SAYS), arch.host(), SOURCE)
    other = write_script(tmp_path, "other", SAYS.replace("0123456789ab", "ba9876543210"))
    with pytest.raises(UserError, match="--version prints 'pmuconf 0.9.0, commit ba98"):
        programs.check(other, arch.host(), SOURCE)


def _without_readelf(real: object) -> object:
    """`run` for scripts, which have no program headers."""
    return lambda words, **_: "" if words[0] == "readelf" else real(words)  # type: ignore[operator]


def test_program_with_shared_libraries_is_refused() -> None:
    with pytest.raises(UserError, match="is not static"):
        programs.check(Path("/usr/bin/readelf"), arch.host(), SOURCE)


def test_large_program_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(programs.MAX_BYTES)
    with pytest.raises(UserError, match="has 10000000 bytes"):
        programs.check(large, arch.host(), SOURCE)


def test_tar_does_not_depend_on_times_modes_and_folders(tmp_path: Path) -> None:
    made = []
    for name, mode in (("a", 0o755), ("b", 0o700)):
        top = tmp_path / name / "top"
        top.mkdir(parents=True)
        (top / "file").write_text("text")
        (top / "file").chmod(mode)
        made.append(tmp_path / f"{name}.tar.xz")
        runner.tar(tmp_path / name, "top", made[-1], SOURCE)
    assert made[0].read_bytes() == made[1].read_bytes()


def test_failed_release_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Path:
        raise UserError("no program")

    monkeypatch.setattr(programs, "build", fail)
    with pytest.raises(UserError, match="no program"):
        command.make(SOURCE, tmp_path / "out", ["amd64"], [])
    assert not list(tmp_path.iterdir())


def test_run_of_a_release_builds_nothing() -> None:
    flags = {"MAKEFLAGS": "s -- RELEASE=DIR", "RELEASE": "DIR", "ARCH": "arm64"}
    first, last = commands.steps("run", flags)
    assert first == ["ci/install-deps", "guest"]
    assert last[1:4] == ["-m", "vm", "run"] and "--release" in last
    # Other programs set a variable of this name, too.
    assert len(commands.steps("run", {"RELEASE": "DIR"})) == 3
    assert commands.steps("release", {})[0] == ["ci/install-deps", "release"]


def test_packages_have_the_version_of_the_project() -> None:
    found = source.VERSION.search((store.ROOT / "CMakeLists.txt").read_text("utf-8"))
    assert found is not None
    changes = (store.ROOT / "debian" / "changelog").read_text("utf-8")
    assert changes.startswith(f"pmuconf ({found[1]}) ")
    assert re.search(
        rf"^## {re.escape(found[1])}$", (store.ROOT / "CHANGELOG.md").read_text(), re.M
    )


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_builds_in_two_folders_without_a_cache_are_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CCACHE_DISABLE", "1")
    made = []
    for name in ("a", "another"):
        root = tmp_path / name
        source.git(tmp_path, "clone", "--quiet", str(store.ROOT), str(root))
        made.append(programs.build(arch.AMD64, source.read(root), root.parent))
        made[-1] = Path(shutil.move(made[-1], tmp_path / f"{name}.program"))
        subprocess.run(["rm", "-rf", str(root)], check=True)
    assert made[0].read_bytes() == made[1].read_bytes()
