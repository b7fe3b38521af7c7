# SPDX-License-Identifier: Apache-2.0
"""The installed command works in any folder below a checkout, and reports in one line that it finds none."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from pmubase import store
from vm import stock

SOURCES = ("pyproject.toml", "pmubase", "vm")
DATA = ("initrd", "kernels")
Done = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module", name="site")
def fixture_site(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with the installed package. Nothing is downloaded, and the build uses a copy of the sources."""
    folder = tmp_path_factory.mktemp("installed")
    copy, site = folder / "copy", folder / "site"
    copy.mkdir()
    for name in SOURCES:
        source = store.ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, copy / name)
    offline = ("--no-index", "--no-build-isolation", "--no-deps", "--no-compile")
    argv = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        *offline,
        "--target",
        str(site),
        str(copy),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return site


def pmuvm(site: pathlib.Path, here: pathlib.Path, *words: str, root: str = "") -> Done:
    """Runs the installed command in the folder `here`. `root`: the value of PMUCONF_ROOT."""
    # The command's folder is no folder of the system, so Python must know it.
    environment = os.environ | {"PYTHONPATH": str(site), "PMUCONF_ROOT": root}
    return subprocess.run(
        [site / "bin" / "pmuvm", *words],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def files(folder: pathlib.Path) -> dict[str, bool]:
    """The files below a folder, and whether each is executable."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): os.access(path, os.X_OK) for path in paths}


def test_installed_package_has_its_data_and_no_tests(site: pathlib.Path) -> None:
    package = site / "pmuvm"
    for name in DATA:
        assert files(package / name) == files(store.ROOT / "vm" / name) != {}
    assert (package / "channel_schema.json").is_file()
    assert not (package / "tests").exists() and not (package / "testing").exists()


def test_command_finds_the_checkout_above_the_working_directory(site: pathlib.Path) -> None:
    done = pmuvm(site, store.ROOT / "conformance" / "rules", "kernels")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == stock.names()


def test_command_finds_the_checkout_of_the_environment(
    site: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    done = pmuvm(site, tmp_path, "--help", root=str(store.ROOT))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: pmuvm ")


def test_command_without_a_checkout_is_one_line_and_status_2(
    site: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    done = pmuvm(site, tmp_path, "kernels")
    wanted = f"{tmp_path} is in no checkout of pmuconf: change to one, or set PMUCONF_ROOT to it"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"pmuvm: {wanted}\n")


def test_wrong_variable_is_one_line_and_status_2(
    site: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    done = pmuvm(site, store.ROOT, "kernels", root=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    wanted = f"PMUCONF_ROOT={tmp_path}: no checkout of pmuconf, which has vm/ and conformance/"
    assert done.stderr == f"pmuvm: {wanted}\n"
