# SPDX-License-Identifier: Apache-2.0
"""The Makefile passes its variables to the programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ci.check import ROOT
from vm import arch
from vm.testing.stubs import write_script

LIMIT_S = 60


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs make as a user would, without the variables of an outer make."""
    ours = ("MAKE", "MFLAGS", "DEBUG", "KERNEL", "ARCH")
    env = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return subprocess.run(
        ["make", "-C", str(ROOT), "--no-print-directory", *words],
        env=env | {"LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.mark.parametrize("value", ["2", "yes", "1 1 0"])
@pytest.mark.parametrize("target", ["run", "kunit"])
def test_invalid_debug_is_a_one_line_error_and_runs_nothing(target: str, value: str) -> None:
    done = make(target, f"DEBUG={value}")
    assert done.returncode != 0
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert f"DEBUG='{value}': 1 for a debug kernel, or nothing" in line


@pytest.mark.parametrize("value", ["", "0"])
def test_without_debug_the_stock_kernel_runs(value: str) -> None:
    assert "--kernel '6.1'" in make("-n", "run", "KERNEL=6.1", f"DEBUG={value}").stdout
    assert "--debug" not in make("-n", "kunit", f"DEBUG={value}").stdout


def test_debug_selects_the_debug_kernel_of_the_series() -> None:
    assert "--kernel '6.1-debug'" in make("-n", "run", "KERNEL=6.1", "DEBUG=1").stdout
    assert "--kernel '6.1' --debug" in make("-n", "kunit", "KERNEL=6.1", "DEBUG=1").stdout


def test_packages_for_another_architecture_are_installed_only_on_request() -> None:
    assert "ARCH='arm64' ci/install-deps" in make("-n", "run", "ARCH=arm64").stdout
    assert "ARCH='amd64' ci/install-deps" in make("-n", "run").stdout
    done = make("deps", "ARCH=vax")
    assert done.returncode != 0
    line = done.stderr.splitlines()[0]
    assert line == f"ci/install-deps: unknown ARCH 'vax'; known: {', '.join(arch.ARCHES)}"


@pytest.mark.parametrize("name", arch.ARCHES)
def test_packages_of_an_architecture_are_those_of_its_file(name: str, tmp_path: Path) -> None:
    # No package is installed, so the script would install all of them.
    write_script(tmp_path, "dpkg-query", "exit 1")
    write_script(tmp_path, "id", "echo 1")
    for program in ("bash", "dirname", "sed", "tr"):
        (tmp_path / program).symlink_to(f"/usr/bin/{program}")
    done = subprocess.run(
        [str(tmp_path / "bash"), str(ROOT / "ci" / "install-deps")],
        env={"PATH": str(tmp_path), "ARCH": name},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 2
    assert set(arch.ARCHES[name].host_packages) <= set(done.stderr.split())


def test_layers_variable_selects_layers() -> None:
    assert "--layers 'suite,kunit'" in make("-n", "run", "LAYERS=suite,kunit").stdout
    assert "--layers" not in make("-n", "run").stdout


def test_boot_variable_requests_a_boot() -> None:
    assert "--boot" in make("-n", "run", "RULE=CNT-007", "BOOT=1").stdout
    assert "--boot" not in make("-n", "run", "RULE=CNT-007").stdout


def test_jobs_variable_selects_jobs() -> None:
    assert "-m ci.matrix --jobs '6.1/*'" in make("-n", "matrix", "JOBS=6.1/*").stdout
    assert "--jobs" not in make("-n", "matrix").stdout
