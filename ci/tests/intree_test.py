# SPDX-License-Identifier: Apache-2.0
"""The driver is built in a kernel tree as its README describes, and make's warnings are reported."""

from __future__ import annotations

import pathlib

import pytest

from ci import intree
from pmubase import store
from pmubase.errors import UserError


def make(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str) -> intree.Tree:
    """A tree whose `make` is a shell script."""
    program = folder / "make"
    program.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return intree.Tree(folder, folder / "log")


def test_recipe_equals_that_of_the_readme() -> None:
    readme = (store.ROOT / "driver" / "README.md").read_text(encoding="utf-8")
    assert str(intree.PLACE) in readme
    for _, line in intree.LINES:
        assert f"\n{line}\n" in readme


def test_all_built_parts_of_the_driver_are_copied() -> None:
    kbuild = (store.ROOT / "driver" / "Kbuild").read_text(encoding="utf-8")
    folders = {word.split("/")[0] for word in kbuild.split() if word.endswith(".o") and "/" in word}
    assert {folder.split(",")[-1] for folder in folders} <= set(intree.PARTS)


def test_only_warnings_about_the_driver_are_reported(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [
        f"{intree.PLACE}/a.c:1: warning: unused",
        f"  CC  {intree.PLACE}/a.o",
        "b.c:1: warning:",
    ]
    lines = "; ".join(f"echo '{line}'" for line in said)
    assert make(tmp_path, monkeypatch, lines).complaints() == said[:1]


def test_failure_reports_the_first_error_and_the_log(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = make(tmp_path, monkeypatch, 'echo "b.c:2: error: no"; exit 2')
    with pytest.raises(UserError, match="make vmlinux: b.c:2: error: no"):
        built.make("vmlinux")
    assert "b.c:2" in built.log.read_text(encoding="utf-8")


def test_missing_module_is_reported(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = make(tmp_path, monkeypatch, 'echo "WARNING: modpost: \\"x\\" [refpmu.ko] undefined!"')
    assert intree.as_module(built) == [
        'WARNING: modpost: "x" [refpmu.ko] undefined!',
        "no drivers/perf/refpmu/refpmu.ko",
    ]


def test_kernel_without_the_driver_is_reported(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = make(tmp_path, monkeypatch, "exit 0")
    (tmp_path / "System.map").write_text("ffffffff81000000 T _text\n", encoding="ascii")
    assert intree.linked_in(built) == ["vmlinux does not have refpmu_devices"]
