# SPDX-License-Identifier: Apache-2.0
"""A program and a module have their version, and nothing of the machine, the folder and the time of their build."""

from __future__ import annotations

import hashlib
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from pmubase import store
from vm import kernel, module, suite

VERSION = re.compile(r"^project\(pmuconf VERSION (\S+) ", re.M)


def version() -> str:
    """The version in CMakeLists.txt."""
    found = VERSION.search((store.ROOT / "CMakeLists.txt").read_text("utf-8"))
    assert found is not None
    return found[1]


def test_package_of_the_runner_has_the_same_version() -> None:
    project = tomllib.loads((store.ROOT / "pyproject.toml").read_text("utf-8"))
    assert project["project"]["version"] == version()


def test_program_of_tests_names_its_catalogue_and_no_commit() -> None:
    golden = (store.ROOT / "conformance" / "golden.txt").read_bytes()
    catalogue = hashlib.sha256(golden).hexdigest()[:12]
    done = subprocess.run([suite.binary(), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"pmuconf {version()}, catalogue {catalogue}\n"


def test_program_does_not_name_the_folder_of_its_build() -> None:
    found = suite.binary().read_bytes()
    assert b"conformance/cases/" in found
    for folder in (
        b"../../conformance",
        str(store.ROOT).encode() + b"/",
        str(store.cache()).encode(),
    ):
        assert folder not in found


@pytest.mark.nightly
def test_module_does_not_depend_on_the_folder_of_its_build(tmp_path: Path) -> None:
    found = kernel.find("6.12")
    built = [
        module.build(found, store.ROOT / "driver", tmp_path / name) for name in ("a", "folder")
    ]
    assert built[0].read_bytes() == built[1].read_bytes()
    assert str(store.cache()).encode() not in built[0].read_bytes()
