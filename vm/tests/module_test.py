# SPDX-License-Identifier: Apache-2.0
"""A module is built from a copy of its sources after each change, and the error shows why a build failed."""

from __future__ import annotations

import os
import pathlib
import time

import pytest

from pmubase.errors import UserError
from vm import arch, kernel, module
from vm.testing.stubs import module_file

# A fake build system. It makes a module from the changed sources and counts them.
MAKEFILE = """
count := $(dir $(lastword $(MAKEFILE_LIST)))count
objects := $(patsubst %.c,%.o,$(sort $(wildcard $(M)/core/*.c)))
modules: $(objects)
\tcat $^ $(M)/Kbuild > $(M)/refpmu.ko
\techo built >> $(count)
%.o: %.c
\t! grep error $<
\tcp $< $@
\techo $(notdir $<) >> $(count)
"""


@pytest.fixture
def stock(tmp_path: pathlib.Path) -> kernel.Kernel:
    build = tmp_path / "headers"
    build.mkdir()
    (build / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    return kernel.Kernel("6.12", "6.12.1", arch.AMD64, tmp_path / "bzImage", build)


@pytest.fixture
def source(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "driver"
    (folder / "core").mkdir(parents=True)
    (folder / "Kbuild").write_text("obj-m := refpmu.o\n", encoding="utf-8")
    (folder / "core" / "a.c").write_text("int a;\n", encoding="utf-8")
    return folder


def builds(stock: kernel.Kernel) -> int:
    assert stock.build is not None
    return (stock.build / "count").read_text("utf-8").splitlines().count("built")


def compiled(stock: kernel.Kernel) -> list[str]:
    """The sources that were compiled since the last call."""
    assert stock.build is not None
    count = stock.build / "count"
    names = [name for name in count.read_text("utf-8").splitlines() if name != "built"]
    count.write_text("", encoding="utf-8")
    return sorted(names)


def test_the_sources_stay_clean(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    before = sorted(source.rglob("*"))
    built = module.build(stock, source, tmp_path / "out")
    assert built.read_text("utf-8") == "int a;\nobj-m := refpmu.o\n"
    assert sorted(source.rglob("*")) == before


def test_a_module_is_built_again_only_when_a_source_changed(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    module.build(stock, source, tmp_path / "out")
    (source / "core" / "a.c").touch()
    (source / "core" / "a.o").write_text("left by somebody", encoding="utf-8")
    module.build(stock, source, tmp_path / "out")
    assert builds(stock) == 1
    (source / "core" / "a.c").write_text("int b;\n", encoding="utf-8")
    assert module.build(stock, source, tmp_path / "out").read_text("utf-8").startswith("int b;")
    assert builds(stock) == 2


@pytest.fixture
def built(stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """The folder of a complete build of two sources."""
    (source / "core" / "b.c").write_text("int b;\n", encoding="utf-8")
    module.build(stock, source, tmp_path / "out")
    assert compiled(stock) == ["a.c", "b.c"]
    return tmp_path / "out"


def test_only_changed_sources_are_recompiled(
    stock: kernel.Kernel, source: pathlib.Path, built: pathlib.Path
) -> None:
    (source / "core" / "b.c").write_text("int c;\n", encoding="utf-8")
    assert "int c;" in module.build(stock, source, built).read_text("utf-8")
    assert compiled(stock) == ["b.c"]


def test_after_an_error_only_changed_sources_are_recompiled(
    stock: kernel.Kernel, source: pathlib.Path, built: pathlib.Path
) -> None:
    (source / "core" / "b.c").write_text("an error\n", encoding="utf-8")
    with pytest.raises(UserError, match="could not build"):
        module.build(stock, source, built)
    (source / "core" / "b.c").write_text("int c;\n", encoding="utf-8")
    assert "int c;" in module.build(stock, source, built).read_text("utf-8")
    assert compiled(stock) == ["b.c"]


@pytest.mark.parametrize("change", ["header", "gone", "Kbuild", "options", "killed", "clock"])
def test_change_that_make_does_not_track_recompiles_all(
    stock: kernel.Kernel, source: pathlib.Path, built: pathlib.Path, change: str
) -> None:
    expected = ["a.c", "b.c"]
    if change == "header":
        (source / "core" / "c.h").write_text("int c;\n", encoding="utf-8")
    elif change == "gone":
        (source / "core" / "b.c").unlink()
        expected = ["a.c"]
    elif change == "Kbuild":
        (source / "Kbuild").write_text("obj-m := refpmu.o # -DB\n", encoding="utf-8")
    elif change == "options":
        assert stock.build is not None
        options = stock.build / "include" / "generated" / "autoconf.h"
        options.parent.mkdir(parents=True)
        options.write_text("#define CONFIG_SMP 1\n", encoding="utf-8")
    elif change == "killed":
        # The files of a build that was killed.
        (built / module.BASIS).unlink()
        (built / module.KEY).unlink()
    elif change == "clock":
        (source / "core" / "b.c").write_text("int c;\n", encoding="utf-8")
        later = time.time() + 3600
        os.utime(built / "src" / "core" / "b.o", (later, later))
    product = module.build(stock, source, built).read_text("utf-8")
    assert compiled(stock) == expected
    assert ("int b;" in product) == (change not in ("gone", "clock"))


def test_killed_build_is_not_continued(
    stock: kernel.Kernel,
    source: pathlib.Path,
    built: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    (source / "core" / "b.c").write_text("int c;\n", encoding="utf-8")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(module, "make", killed)
        module.build(stock, source, built)
    assert not list(built.glob("*.ko"))
    module.build(stock, source, built)
    assert compiled(stock) == ["a.c", "b.c"]


def test_missing_product_is_a_one_line_error(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(UserError, match="builds no other.ko for 6.12, but refpmu$"):
        module.build(stock, source, tmp_path / "out", "other")
    assert stock.build is not None
    makefile = stock.build / "Makefile"
    makefile.write_text(
        makefile.read_text("utf-8") + "\techo 2 > $(M)/other.ko\n", encoding="utf-8"
    )
    (source / "core" / "a.c").write_text("int b;\n", encoding="utf-8")
    assert module.build(stock, source, tmp_path / "out", "other").read_text("utf-8") == "2\n"


def test_a_failure_shows_the_log_and_leaves_no_module(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    module.build(stock, source, tmp_path / "out")
    (source / "core" / "a.c").write_text("an error in line 1\n", encoding="utf-8")
    with pytest.raises(UserError, match="could not build refpmu.ko for 6.12.1") as error:
        module.build(stock, source, tmp_path / "out")
    assert "an error in line 1" in error.value.details
    assert not (tmp_path / "out" / "refpmu.ko").exists()


def test_a_kernel_without_headers_asks_for_a_module(
    source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    own = kernel.Kernel("bzImage", "6.12.1", arch.AMD64, tmp_path / "bzImage", None)
    with pytest.raises(UserError, match="name a module with --module"):
        module.build(own, source, tmp_path / "out")


def test_a_folder_without_a_driver_is_refused(stock: kernel.Kernel, tmp_path: pathlib.Path) -> None:
    with pytest.raises(UserError, match="has no driver"):
        module.build(stock, tmp_path, tmp_path / "out")


def test_a_path_with_a_space_is_refused(
    stock: kernel.Kernel, source: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(UserError, match="no path with a space"):
        module.build(stock, source, tmp_path / "my out")


def test_module_name_is_independent_of_the_file_name(
    stock: kernel.Kernel, tmp_path: pathlib.Path
) -> None:
    file = module_file(tmp_path / "my-driver.v2.ko", "my_driver")
    assert module.name_of(file) == "my_driver"
    assert module.guest_files([file], stock) == {"my_driver.ko": file}


def test_file_without_module_information_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "text").write_text("name=mine\n", encoding="utf-8")
    with pytest.raises(UserError, match="text is not a kernel module: it has no name"):
        module.name_of(tmp_path / "text")


@pytest.mark.parametrize(
    ("release", "says"), [("6.12.1", ""), ("6.1.9", "x.ko was built for Linux 6.1.9, but")]
)
def test_module_of_another_kernel_gives_a_warning(
    stock: kernel.Kernel,
    tmp_path: pathlib.Path,
    capfd: pytest.CaptureFixture[str],
    release: str,
    says: str,
) -> None:
    file = module_file(tmp_path / "x.ko", "x", f"{release} SMP mod_unload")
    module.guest_files([file], stock)
    said = capfd.readouterr().err
    assert says in said and (not says) == (not said)
