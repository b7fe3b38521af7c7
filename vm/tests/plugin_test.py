# SPDX-License-Identifier: Apache-2.0
"""pytest has one item for each case and kernel. Collecting starts no machine."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import junitparser
import pytest

from pmubase import store
from vm.testing.stubs import TESTS, boot_image, target_text


@pytest.fixture
def folder(
    tmp_path: pathlib.Path,
    fakes: pathlib.Path,
    cache: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> pathlib.Path:
    """A folder with a target and two kernels, for a separate pytest process."""
    monkeypatch.setenv("PMUCONF_BINARY", str(TESTS / "agents/pmuconf"))
    monkeypatch.setenv("PMUCONF_ACCEL", "tcg")
    monkeypatch.setenv("PYTHONPATH", str(store.ROOT))
    monkeypatch.setenv("CASES", "Stand.Passes Stand.Oopses Stand.Works")
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "soft.toml").write_text(target_text("soft"), encoding="utf-8")
    for name in ("one", "behave=warn"):
        boot_image(folder / name)
    return folder


def run_pytest(folder: pathlib.Path, *words: str) -> tuple[int, str]:
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        os.environ.pop(name)
    argv = [sys.executable, "-m", "pytest", "-p", "vm.plugin", "-q", "soft.toml", *words]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def test_collecting_names_every_case_and_starts_no_machine(
    folder: pathlib.Path, fakes: pathlib.Path
) -> None:
    (fakes / "qemu-system-x86_64").unlink()
    (fakes / "qemu-system-x86_64").symlink_to("/bin/false")
    kernels = ["--pmuconf-kernel", "6.1", "--pmuconf-kernel", "6.12"]
    status, text = run_pytest(folder, "--collect-only", *kernels, "-k", "Passes or Works")
    assert status == 0
    assert text.split("\n")[:4] == [
        "soft.toml::6.1-amd64::Stand.Passes",
        "soft.toml::6.1-amd64::Stand.Works",
        "soft.toml::6.12-amd64::Stand.Passes",
        "soft.toml::6.12-amd64::Stand.Works",
    ]


@pytest.mark.parametrize("workers", [[], pytest.param(["-n", "2"], marks=pytest.mark.nightly)])
def test_each_case_is_an_item_of_its_own(folder: pathlib.Path, workers: list[str]) -> None:
    status, text = run_pytest(
        folder, "--pmuconf-kernel", "./one", "--junitxml", "junit.xml", *workers
    )
    assert status == 1
    assert "CRASH (CNT-002): guest lost: Oops: 0002" in text
    assert "repro: make run TARGET=soft KERNEL=./one CASE=Stand.Oopses" in text
    xml = junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))
    assert (xml.tests, xml.failures, xml.errors) == (3, 1, 0)


@pytest.mark.parametrize("workers", [[], pytest.param(["-n", "2"], marks=pytest.mark.nightly)])
def test_kernel_report_at_the_end_fails_the_run(folder: pathlib.Path, workers: list[str]) -> None:
    status, text = run_pytest(folder, "--pmuconf-kernel", "./behave=warn", "-k", "Passes", *workers)
    assert "1 passed" in text
    assert "WARNING: at x.c:1" in text
    assert status == 1


def test_a_target_that_is_malformed_is_a_collection_error(folder: pathlib.Path) -> None:
    (folder / "soft.toml").write_text("[target\n", encoding="utf-8")
    status, text = run_pytest(folder)
    assert status == 2
    assert "soft.toml:1: " in text


def test_selected_cases_use_a_snapshot_and_all_cases_boot(
    folder: pathlib.Path, cache: pathlib.Path
) -> None:
    def states(*words: str) -> int:
        for _ in range(2):
            run_pytest(folder, "--pmuconf-kernel", "./one", *words)
        return len(list((cache / "states").glob("*.state")))

    assert states() == 0
    assert states("-k", "Passes", "--pmuconf-boot") == 0
    assert states("-k", "Passes") == 1
