# SPDX-License-Identifier: Apache-2.0
"""A kernel tree reports dropped options and the cause of a failed build."""

from __future__ import annotations

import contextlib
import dataclasses
import pathlib

import pytest

from pmubase import store
from pmubase.errors import UserError
from vm import arch, source, tree

CONFIG = "CONFIG_KUNIT=y\nCONFIG_SMP=y\n# CONFIG_VT is not set\n"
OPTIONS = "# why\nCONFIG_SMP=y\n# CONFIG_VT is not set\n"


def test_present_options_are_not_dropped() -> None:
    assert tree.dropped_options(OPTIONS, CONFIG) == []


@pytest.mark.parametrize(
    "line", ["CONFIG_KUNIT=m", "CONFIG_PROVE_LOCKING=y", "# CONFIG_SMP is not set"]
)
def test_dropped_option_is_named(line: str) -> None:
    assert tree.dropped_options(line, CONFIG) == [line]


def test_last_value_of_an_option_counts() -> None:
    said = "CONFIG_HZ_250=y\nCONFIG_SMP=y\n# CONFIG_HZ_250 is not set\nCONFIG_HZ_100=y\n"
    wanted = ["# CONFIG_HZ_250 is not set", "CONFIG_SMP=y", "CONFIG_HZ_100=y"]
    assert tree.wanted_options(said) == wanted
    assert tree.dropped_options(said, CONFIG + "CONFIG_HZ_100=y\n") == []
    assert tree.dropped_options(said, CONFIG + "CONFIG_HZ_250=y\n") == [wanted[0], wanted[2]]


def test_option_with_a_new_name_is_not_dropped() -> None:
    line = "CONFIG_PROC_SYSCTL=y"
    assert tree.dropped_options(line, "CONFIG_SYSCTL=y\n") == []
    assert tree.dropped_options(line, "# CONFIG_SYSCTL is not set\n") == [line]


def test_unknown_option_counts_as_off() -> None:
    assert tree.dropped_options("# CONFIG_NEVER_HEARD is not set", CONFIG) == []


def test_first_error_of_a_build_is_reported() -> None:
    log = "  CC a.o\na.c:3:1: error: expected ';'\na.c:9:1: error: more\nmake: *** [a.o] Error 1\n"
    assert tree.first_error(log) == "a.c:3:1: error: expected ';'"
    assert tree.first_error("") == "make failed without output"


def of_makefile(path: pathlib.Path, rules: str) -> tree.Tree:
    path.mkdir()
    (path / "Makefile").write_text(rules)
    return tree.Tree(path, path.parent / "log")


def test_full_disk_is_reported_and_leaves_no_tree(tmp_path: pathlib.Path) -> None:
    full = "bzImage:\n\t@echo 'cc: No space left on device'; exit 1\n"
    kernel = of_makefile(tmp_path / "tree", full)
    with pytest.raises(UserError, match=r"cannot write to .*tree: No space left on device"):
        kernel.make("bzImage")
    assert not kernel.path.exists()


def test_tree_of_another_architecture_is_built_by_a_cross_compiler(tmp_path: pathlib.Path) -> None:
    rule = "Image bzImage:\n\t@echo $(ARCH) $(CROSS_COMPILE) >made\n"
    plain = of_makefile(tmp_path / "tree", rule)
    for on, expected in ((arch.AMD64, "x86_64"), (arch.ARM64, "arm64 aarch64-linux-gnu-")):
        kernel = dataclasses.replace(plain, on=on)
        kernel.make(kernel.image_target)
        assert (kernel.path / "made").read_text().strip() == expected
    assert kernel.image == kernel.path / "arch/arm64/boot/Image"


CONFIGURES = "tinyconfig:\n\t@echo >.config\nolddefconfig:\n\t@echo x >>count\n"


def test_configuration_is_made_again_only_for_other_options(tmp_path: pathlib.Path) -> None:
    kernel = of_makefile(tmp_path / "tree", CONFIGURES)
    for options in ("CONFIG_A=y\n", "CONFIG_A=y\n", "CONFIG_B=y\n"):
        kernel.configure(options)
    assert (kernel.path / "count").read_text() == "x\nx\n"


def test_option_that_kconfig_drops_is_named(tmp_path: pathlib.Path) -> None:
    drops = CONFIGURES.replace("@echo x >>count", "@echo >.config")
    kernel = of_makefile(tmp_path / "tree", drops)
    with pytest.raises(UserError, match="drops CONFIG_KASAN=y"):
        kernel.configure("CONFIG_KASAN=y\n")


@pytest.fixture(name="package")
def no_source(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A package whose tree only has the folder of the overlay."""

    def unpack(_package: pathlib.Path, into: pathlib.Path) -> None:
        (into / tree.OVERLAY.parent).mkdir(parents=True)

    package = tmp_path / "linux-source-6.12_6.12.9_all.deb"
    monkeypatch.setattr(source, "ensure", lambda series, folder: package)
    monkeypatch.setattr(source, "unpack", unpack)
    return package


def opened(folder: pathlib.Path, options: str) -> contextlib.AbstractContextManager[tree.Tree]:
    return tree.opened("6.12", options, folder / "cache", folder / "log")


def test_only_the_latest_trees_are_cached_by_their_options(
    tmp_path: pathlib.Path, package: pathlib.Path
) -> None:
    def path_of(options: str) -> pathlib.Path:
        with opened(tmp_path, options) as kernel:
            return kernel.path

    first = path_of("CONFIG_A=y\n")
    assert path_of("# a comment\nCONFIG_A=y\n") == first
    assert "refpmu" in (first / tree.OVERLAY.parent / "Makefile").read_text()
    others = [path_of(f"CONFIG_{number}=y\n") for number in range(tree.KEPT_TREES)]
    assert [path.is_dir() for path in (first, *others)] == [False, *[True] * len(others)]
    assert package.stem in others[0].name
    assert store.ROOT not in first.parents


def test_tree_for_another_use_is_apart(tmp_path: pathlib.Path, package: pathlib.Path) -> None:
    assert package.name
    paths = set()
    for use in ("", "regressions", ""):
        with tree.opened(
            "6.12", "CONFIG_A=y\n", tmp_path / "cache", tmp_path / "log", use
        ) as kernel:
            paths.add(kernel.path)
    assert len(paths) == 2


def test_locked_tree_stays_and_blocks_no_other(
    tmp_path: pathlib.Path, package: pathlib.Path
) -> None:
    with opened(tmp_path, "CONFIG_DEBUG_KERNEL=y\n") as slow:
        for name in "ABCDE":
            with opened(tmp_path, f"CONFIG_{name}=y\n"):
                pass
        assert slow.path.is_dir()
        with store.locked_now(tree.lock(slow.path)) as free:
            assert not free
    with store.locked_now(tree.lock(slow.path)) as free:
        assert free


def test_overlay_has_only_the_sources_of_its_parts(tmp_path: pathlib.Path) -> None:
    for name in ("Kbuild", "model/a.c", "model/a.o", "port/b.c", "port/x.mod.c"):
        path = tmp_path / "driver" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    overlay = tree.overlay(tmp_path / "driver", ["Kbuild", "model"])
    own = {str(path): content for path, content in overlay.items() if path.parts[0] == "driver"}
    assert own == {"driver/Kbuild": b"Kbuild", "driver/model/a.c": b"model/a.c"}
    assert tree.overlay(tmp_path / "driver", []) == {}


def test_lay_replaces_changed_files_and_keeps_unchanged_ones(tmp_path: pathlib.Path) -> None:
    tree.update_sources(tmp_path, {pathlib.Path("a/b.c"): b"1", pathlib.Path("c.h"): b"2"})
    (tmp_path / "a" / "b.o").write_bytes(b"built")
    before = (tmp_path / "a" / "b.c").stat().st_mtime_ns
    tree.update_sources(tmp_path, {pathlib.Path("a/b.c"): b"1"})
    assert (tmp_path / "a" / "b.c").stat().st_mtime_ns == before
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["b.c", "b.o"]
