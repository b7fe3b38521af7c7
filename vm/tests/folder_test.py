# SPDX-License-Identifier: Apache-2.0
"""`pmuvm module --folder` builds each module of a folder from a copy, and the error shows why a build failed."""

from __future__ import annotations

import pathlib

import pytest

from pmubase.errors import UserError
from vm import arch, folder, kernel

# A fake build system: each module is a copy of its source.
MAKEFILE = """
objects := $(patsubst %.c,%.ko,$(wildcard $(M)/*.c))
modules: $(objects)
%.ko: %.c
\t! grep error $<
\tcp $< $@
"""


@pytest.fixture
def stock(tmp_path: pathlib.Path) -> kernel.Kernel:
    build = tmp_path / "headers"
    build.mkdir()
    (build / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    return kernel.Kernel("6.12", "6.12.1", arch.AMD64, tmp_path / "bzImage", build)


@pytest.fixture
def source(tmp_path: pathlib.Path) -> pathlib.Path:
    made = tmp_path / "mine"
    made.mkdir()
    (made / "Kbuild").write_text("obj-m := a.o b.o\n", encoding="utf-8")
    for name in "ab":
        (made / f"{name}.c").write_text(f"int {name};\n", encoding="utf-8")
    return made


def test_each_module_is_built_and_the_sources_stay_clean(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    before = sorted(source.rglob("*"))
    built = folder.build(stock, source, tmp_path / "out")
    assert built == [tmp_path / "out" / "a.ko", tmp_path / "out" / "b.ko"]
    assert [file.read_text("utf-8") for file in built] == ["int a;\n", "int b;\n"]
    assert sorted(source.rglob("*")) == before


def test_module_of_a_removed_source_disappears(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    folder.build(stock, source, tmp_path / "out")
    (source / "b.c").unlink()
    (source / "b.ko").write_text("from a build in the folder itself", encoding="utf-8")
    assert folder.build(stock, source, tmp_path / "out") == [tmp_path / "out" / "a.ko"]
    assert not (tmp_path / "out" / "b.ko").exists()


def test_failure_shows_the_log_and_leaves_no_module(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    folder.build(stock, source, tmp_path / "out")
    (source / "b.c").write_text("an error in line 1\n", encoding="utf-8")
    with pytest.raises(UserError, match="could not build .*mine for 6.12.1") as error:
        folder.build(stock, source, tmp_path / "out")
    assert "an error in line 1" in error.value.details
    assert not list((tmp_path / "out").glob("*.ko"))


def test_other_files_in_the_output_folder_survive(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    kept = tmp_path / "out" / "notes"
    kept.parent.mkdir()
    kept.write_text("mine", encoding="utf-8")
    folder.build(stock, source, tmp_path / "out")
    assert kept.read_text("utf-8") == "mine"


def test_folder_that_cannot_be_built_is_a_one_line_error(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(UserError, match="is in .*mine"):
        folder.build(stock, source, source / "out")
    with pytest.raises(UserError, match="no path with a space"):
        folder.build(stock, source, tmp_path / "my out")
    for file in source.glob("*.c"):
        file.unlink()
    with pytest.raises(UserError, match="no module comes from .*mine"):
        folder.build(stock, source, tmp_path / "out")
    (source / "Kbuild").unlink()
    with pytest.raises(UserError, match="mine has no file Kbuild or Makefile"):
        folder.build(stock, source, tmp_path / "out")
    own = kernel.Kernel("bzImage", "6.12.1", arch.AMD64, tmp_path / "bzImage", None)
    with pytest.raises(UserError, match="no headers for kernel bzImage"):
        folder.build(own, source, tmp_path / "out")
