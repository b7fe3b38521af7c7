# SPDX-License-Identifier: Apache-2.0
"""A change of an input changes its own digest and no other."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ci.units import inputs
from ci.units.inputs import Inputs
from vm import suite
from vm.machine_options import MachineOptions


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small project."""
    for name, text in (
        ("driver/irq.c", "int irq;\n"),
        ("driver/irq.h", "int irq;\n"),
        ("docs/a.md", "a\n"),
        (".gitignore", "build/\n"),
        ("build/guest/conformance/CMakeFiles/pmuconf_cases.dir/cases/a/b_test.cpp.o", "object"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    return tmp_path


NAMES = (
    "file:driver/irq.c",
    "file:driver/absent.c",
    "exists:driver/absent.c",
    "names:/",
    "names:driver",
    "glob:driver/*.c",
    "glob:docs/*",
    "case:conformance/cases/a/b_test.cpp",
    "package:python3",
    "text:make",
)


def changed_by(checkout: Path, name: str, text: str) -> set[str]:
    before = Inputs(checkout).digests(NAMES)
    path = checkout / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return set(Inputs(checkout).changed(before))


def test_changed_file_changes_its_digest_and_those_of_matching_globs(checkout: Path) -> None:
    changed = changed_by(checkout, "driver/irq.c", "int irq = 1;\n")
    assert changed == {"file:driver/irq.c", "glob:driver/*.c"}


def test_new_file_changes_the_names_of_its_folder_and_its_own_digest(checkout: Path) -> None:
    changed = changed_by(checkout, "driver/absent.c", "int x;\n")
    assert changed == {name for name in NAMES if "absent" in name} | {
        *("names:/", "names:driver", "glob:driver/*.c")
    }


def test_ignored_file_does_not_change_the_names_of_its_folder(checkout: Path) -> None:
    assert changed_by(checkout, "build/driver.log", "x") == set()


def test_object_of_cases_changes_only_its_own_digest(checkout: Path) -> None:
    name = "build/guest/conformance/CMakeFiles/pmuconf_cases.dir/cases/a/b_test.cpp.o"
    assert changed_by(checkout, name, "other") == {"case:conformance/cases/a/b_test.cpp"}


def test_a_new_version_of_a_package_changes_its_readers(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Inputs(checkout).digests(NAMES)
    monkeypatch.setattr(inputs, "packages", lambda: {"python3": "4.0"})
    assert Inputs(checkout).changed(before) == ["package:python3"]


def test_lost_executable_bit_changes_the_digest(checkout: Path) -> None:
    path = checkout / "driver" / "irq.c"
    path.chmod(0o755)
    before = inputs.content(path)
    path.chmod(0o644)
    assert inputs.content(path) != before


def test_forget_recomputes_digests_of_built_inputs(checkout: Path) -> None:
    now = Inputs(checkout)
    name = "product:build/tool"
    assert now.digest(name) == inputs.ABSENT
    (checkout / "build" / "tool").write_text("x", encoding="utf-8")
    assert now.digest(name) == inputs.ABSENT
    now.forget("product")
    assert now.digest(name) != inputs.ABSENT


def test_target_input_depends_on_the_driver_only_if_its_module_is_the_driver(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = {"refpmu": "refpmu", "software": None}

    def find(name: str) -> suite.Target:
        machine = MachineOptions()
        return suite.Target(name, checkout, module[name], (), 1.0, machine, None, None, name)

    monkeypatch.setattr(suite, "find_target", find)
    names = ("target:refpmu", "target:software")
    before = Inputs(checkout).digests(names)
    (checkout / "driver").mkdir(exist_ok=True)
    (checkout / "driver" / "module.c").write_text("int a;\n", encoding="utf-8")
    assert Inputs(checkout).changed(before) == ["target:refpmu"]


def test_target_input_without_the_program_that_reads_targets_is_absent(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", str(checkout / "pmuconf"))
    assert Inputs(checkout).digest("target:refpmu") == inputs.ABSENT


@pytest.mark.parametrize("name", ["colour:red", "file", "suite:red"])
def test_an_unknown_input_is_named(checkout: Path, name: str) -> None:
    with pytest.raises(inputs.InputError, match=f"unknown input '{name}'"):
        Inputs(checkout).digest(name)
