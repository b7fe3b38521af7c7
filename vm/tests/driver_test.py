# SPDX-License-Identifier: Apache-2.0
"""The kernel's own drivers become modules: from a source of its tree, or from its package."""

from __future__ import annotations

import pathlib

import pytest

from pmubase.errors import UserError
from vm import arch, driver, folder, kernel

WITH_LICENCE = 'MODULE_LICENSE("GPL");\n'


@pytest.fixture
def stock(tmp_path: pathlib.Path) -> kernel.Kernel:
    image = tmp_path / "boot" / "vmlinuz"
    image.parent.mkdir()
    image.touch()
    modules = tmp_path / "lib" / "modules" / "6.12.1" / "kernel"
    modules.mkdir(parents=True)
    (modules / "stock-pmu.ko").write_bytes(b"ELF")
    return kernel.Kernel("6.12", "6.12.1", arch.AMD64, image, tmp_path / "headers")


@pytest.fixture
def sources(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The kernel's tree. Kbuild becomes the content of each module."""
    perf = tmp_path / "tree" / "drivers" / "perf"
    perf.mkdir(parents=True)
    (perf / "mine.c").write_text(WITH_LICENCE, encoding="utf-8")
    (perf / "built_in.c").write_text("int built_in;\n", encoding="utf-8")
    (perf / "mine.h").write_text("int mine;\n", encoding="utf-8")

    def build(_kernel: kernel.Kernel, copy: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
        out.mkdir(parents=True, exist_ok=True)
        assert (copy / "mine.h").is_file()
        rules = (copy / "Kbuild").read_text("utf-8").splitlines()
        made = [rule.split()[2].replace(".o", ".ko") for rule in rules if "obj-m" in rule]
        for name in made:
            (out / name).write_text("\n".join(rules), encoding="utf-8")
        return [out / name for name in made]

    monkeypatch.setattr(driver, "tree_of", lambda _name, _kernel: tmp_path / "tree")
    monkeypatch.setattr(folder, "build", build)
    return perf


def test_module_of_the_package_is_taken_as_it_is(cache: pathlib.Path, stock: kernel.Kernel) -> None:
    (file,) = driver.modules(["stock-pmu.ko"], stock)
    assert file.is_relative_to(cache) and file.read_bytes() == b"ELF"


def test_module_that_the_package_lacks_is_named(cache: pathlib.Path, stock: kernel.Kernel) -> None:
    with pytest.raises(UserError, match="^the kernel 6.12 has no module other.ko$"):
        driver.modules(["other.ko"], stock)


@pytest.mark.usefixtures("cache", "sources")
def test_drivers_come_in_the_order_of_their_names(stock: kernel.Kernel) -> None:
    names = ["stock-pmu.ko", "drivers/perf/mine.c"]
    assert [file.name for file in driver.modules(names, stock)] == ["stock-pmu.ko", "mine.ko"]


@pytest.mark.usefixtures("cache", "sources")
def test_driver_without_a_licence_gets_a_second_file(stock: kernel.Kernel) -> None:
    (file,) = driver.modules(["drivers/perf/built_in.c"], stock)
    assert file.name == "built_in_module.ko"
    assert file.read_text("utf-8").splitlines() == [
        "obj-m += built_in_module.o",
        "built_in_module-y := built_in.o licence.o",
    ]


@pytest.mark.usefixtures("cache")
def test_module_has_the_sources_that_the_makefile_of_their_folder_states(
    stock: kernel.Kernel, sources: pathlib.Path
) -> None:
    lines = "obj-$(CONFIG_MINE) += whole.o\nwhole-y := mine.o \\\n\tbuilt_in.o\n"
    (sources / "Makefile").write_text(lines, encoding="utf-8")
    (file,) = driver.modules(["drivers/perf/built_in.c"], stock)
    assert file.name == "whole.ko"
    assert file.read_text("utf-8").splitlines() == [
        "obj-m += whole.o",
        "whole-y := mine.o built_in.o",
    ]


@pytest.mark.usefixtures("cache", "sources")
def test_missing_source_is_named(stock: kernel.Kernel) -> None:
    wanted = "^the sources of the kernel 6.12 have no file drivers/perf/none.c$"
    with pytest.raises(UserError, match=wanted):
        driver.modules(["drivers/perf/none.c"], stock)


@pytest.mark.usefixtures("cache")
def test_headers_of_the_folder_above_are_on_the_include_path(
    stock: kernel.Kernel, sources: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = folder.build

    def look(found: kernel.Kernel, copy: pathlib.Path, out: pathlib.Path) -> list[pathlib.Path]:
        assert (copy / driver.BELOW / "../above.h").read_text("utf-8") == "int above;\n"
        return build(found, copy, out)

    monkeypatch.setattr(folder, "build", look)
    (sources.parent / "above.h").write_text("int above;\n", encoding="utf-8")
    (file,) = driver.modules(["drivers/perf/mine.c"], stock)
    assert file.read_text("utf-8").splitlines() == [
        "obj-m += mine.o",
        f"ccflags-y += -I$(src)/{driver.BELOW}",
    ]


def test_module_of_a_source_is_the_one_of_its_makefile(
    stock: kernel.Kernel, sources: pathlib.Path
) -> None:
    (sources / "Makefile").write_text("whole-objs := mine.o\n", encoding="utf-8")
    names = [driver.module_of(f"drivers/perf/{name}.c", stock) for name in ("mine", "built_in")]
    assert names == ["whole", "built_in_module"]
