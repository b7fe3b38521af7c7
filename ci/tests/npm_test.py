# SPDX-License-Identifier: Apache-2.0
"""Packages of npm are installed once for each lock file, and a failure is one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ci import npm as installer
from pmubase.errors import UserError

TOOL = installer.ROOT / "results" / "browser"


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a fake npm that the test writes. The cache is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    path = tmp_path / "npm"
    path.touch(0o755)
    return path


def entries(tmp_path: Path) -> list[str]:
    """The names in the folder of installed packages, except locks."""
    folder = tmp_path / "cache" / "pmuconf" / "npm"
    return [path.name for path in folder.iterdir() if path.suffix != ".lock"]


def test_packages_are_installed_once_for_each_lock_file(npm: Path, tmp_path: Path) -> None:
    npm.write_text("#!/bin/sh\n[ $1 = ci ] && [ -s package-lock.json ] && mkdir node_modules\n")
    first = installer.modules(TOOL)
    assert first.is_dir() and entries(tmp_path) == [first.parent.name]
    npm.write_text("#!/bin/sh\nexit 1\n")
    assert installer.modules(TOOL) == first
    other = tmp_path / "tool"
    shutil.copytree(TOOL, other)
    (other / "package-lock.json").write_text("{}")
    with pytest.raises(UserError, match="status 1"):
        installer.modules(other)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("mkdir node_modules; exit 3", "failed: status 3"),
        ("echo 'npm error code EUSAGE' >&2; exit 1", "failed: code EUSAGE"),
        ("echo 'npm ERR! code ENOTFOUND' >&2; exit 1", "cannot reach its registry"),
        ("exec sleep 60", "did not end within 0.2 s"),
    ],
)
def test_a_failed_installation_is_one_line_and_leaves_nothing(
    npm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    monkeypatch.setattr(installer, "INSTALL_S", 0.2 if "sleep" in script else 30)
    npm.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(UserError, match=message) as error:
        installer.modules(TOOL)
    assert "\n" not in str(error.value) and not entries(tmp_path)


def test_a_missing_program_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert installer.main([str(TOOL)]) == 2
    assert "no program npm" in capsys.readouterr().err


def test_versions_are_exact_and_the_lock_file_names_no_registry() -> None:
    package = json.loads((TOOL / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((TOOL / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert lock[""]["dependencies"] == package["dependencies"]
    for name, version in package["dependencies"].items():
        assert lock[f"node_modules/{name}"]["version"] == version
    assert all("integrity" in entry for name, entry in lock.items() if name)
    assert not [name for name, entry in lock.items() if "resolved" in entry]


@pytest.mark.parametrize(("present", "wanted"), [((), {"npm"}), (("npm",), set())])
def test_the_package_of_npm_is_installed_where_it_is_missing(
    tmp_path: Path, present: tuple[str, ...], wanted: set[str]
) -> None:
    for name in ("bash", "id", "mktemp", "rm", "env", "grep"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    for name in ("dpkg-query", "apt-get", "sudo", *present):
        (tmp_path / name).write_text("#!/bin/bash\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "sudo").write_text('#!/bin/bash\n"$@"\n')
    done = subprocess.run(
        [str(tmp_path / "bash"), str(installer.ROOT / "ci" / "install-deps")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    listed = set(done.stderr.split())
    assert "strace" in listed and listed & {"npm"} == wanted
