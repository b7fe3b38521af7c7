# SPDX-License-Identifier: Apache-2.0
"""A release is verified before it is used, and nothing is built then."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys

import pytest

from pmubase import store
from pmubase.errors import UserError
from vm import arch, module, release, runs, suite
from vm.kernel import Kernel
from vm.machine_options import MachineOptions
from vm.testing.stubs import TESTS, boot_image


@pytest.fixture
def found(tmp_path: pathlib.Path) -> Kernel:
    image = boot_image(tmp_path / "bzImage")
    return Kernel("6.12", "6.12.1-test", arch.AMD64, image, tmp_path)


@pytest.fixture
def folder(tmp_path: pathlib.Path, found: Kernel, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A release with a program and a module. The environment is restored after the test."""
    for name in (release.VARIABLE, "PMUCONF_BINARY"):
        monkeypatch.setenv(name, "")
    made = tmp_path / "release"
    module_file = made / release.place(found) / "refpmu.ko"
    module_file.parent.mkdir(parents=True)
    module_file.write_bytes(b"module")
    program = made / "pmuconf-amd64"
    program.write_bytes((TESTS / "agents/pmuconf").read_bytes())
    program.chmod(0o755)
    names = [str(path.relative_to(made)) for path in (program, module_file)]
    done = subprocess.run(["sha256sum", *names], cwd=made, capture_output=True, check=True)
    (made / release.SUMS).write_bytes(done.stdout)
    return made


def test_programs_and_modules_of_a_release_are_used(
    folder: pathlib.Path, found: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "build", lambda *_: pytest.fail("a module was built"))
    release.use(folder)
    assert suite.binary() == suite.agent(arch.AMD64) == folder / "pmuconf-amd64"
    target = suite.Target(
        "toy", folder, "refpmu", (), 1.0, MachineOptions(), arch=None, kind=None, merged=""
    )
    assert runs.modules_of(found, target)[0].read_bytes() == b"module"


def test_changed_or_missing_file_is_named(folder: pathlib.Path, found: Kernel) -> None:
    file = folder / release.place(found) / "refpmu.ko"
    file.write_bytes(b"other")
    with pytest.raises(
        UserError, match="refpmu.ko was changed: its SHA-256 is not that in SHA256SUMS"
    ):
        release.use(folder)
    file.unlink()
    with pytest.raises(UserError, match="the release lacks .*/refpmu.ko: No such file"):
        release.use(folder)
    assert not os.environ[release.VARIABLE]


def test_file_that_no_sum_names_is_not_used(folder: pathlib.Path, found: Kernel) -> None:
    (folder / "pmuconf-arm64").write_bytes(b"")
    release.use(folder)
    with pytest.raises(UserError, match="no program for arm64; known: pmuconf-amd64"):
        suite.agent(arch.ARM64)


def test_module_of_another_build_of_the_kernel_is_not_used(
    folder: pathlib.Path, found: Kernel
) -> None:
    release.use(folder)
    found.image.write_bytes(found.image.read_bytes() + b"rebuilt")
    with pytest.raises(UserError, match="no refpmu.ko for 6.12.1-test; known: modules/6.12.1-test"):
        release.module(found, "refpmu")


def test_folder_without_a_release_ends_a_run_with_one_line(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "vm", "run", "--target", "refpmu", "--release", str(tmp_path)],
        cwd=store.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    why = "is no release: SHA256SUMS: No such file or directory"
    assert done.stderr == f"pmuvm: RELEASE={tmp_path} {why}\n"


def test_malformed_sums_are_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / release.SUMS).write_text(f"{hashlib.sha256().hexdigest()} x\n", encoding="utf-8")
    with pytest.raises(UserError, match="SHA256SUMS:1: not a line of sha256sum"):
        release.read_sums(tmp_path)
