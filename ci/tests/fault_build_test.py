# SPDX-License-Identifier: Apache-2.0
"""ci/faults builds faults in copies and trees that it restores."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ci.faults import host, kernels, kunit, modules
from ci.faults.host import Host
from ci.faults.kernels import Workshop
from ci.faults.kunit import Kunit, KunitResults
from ci.faults.strategies import WithDriver
from ci.faults.trial import Goal, Planned
from faults import patch
from faults.fault import Fault
from pmubase.errors import UserError
from vm import arch, driver, kernel, tree

NAME = "arch/x86/events/core.c"
SOURCE = "one\ntwo\nthree\n"


def fault(folder: Path, name: str = NAME) -> Fault:
    diff = f"--- a/{name}\n+++ b/{name}\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"
    path = folder / "patches" / "B001-carry.patch"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(diff)
    return Fault("B001", path, "It loses a carry.", "kernel", ("CNT-001",), change=diff)


def laid_out(folder: Path, name: str = NAME) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(SOURCE)
    return folder / name


@dataclass
class FakeTree:
    """A kernel tree whose make only records the sources that it would compile."""

    path: Path
    built: list[str] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)
    fails: bool = False
    image_target: str = "bzImage"

    @property
    def image(self) -> Path:
        return self.path / arch.AMD64.image

    def configure(self, _options: str) -> None:
        pass

    def make(self, *_targets: str) -> None:
        self.built.append((self.path / NAME).read_text())
        if self.fails:
            raise UserError("core.c:1: error: no such thing")
        self.image.parent.mkdir(parents=True, exist_ok=True)
        self.image.write_bytes(b"image")


@pytest.fixture(name="shop")
def fake_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeTree:
    made = FakeTree(tmp_path / "tree")
    laid_out(made.path)
    (made.path / tree.OVERLAY).mkdir(parents=True)

    @contextlib.contextmanager
    def opened(_s: str, _o: str, _f: Path, _l: Path, use: str, on: arch.Arch) -> Iterator[FakeTree]:
        assert on == arch.AMD64
        made.uses.append(use)
        yield made

    monkeypatch.setattr(tree, "opened", opened)
    monkeypatch.setattr(tree, "overlay", lambda driver, parts: {})
    monkeypatch.setattr(kernel, "image_release", lambda image, on: "6.12.9-msr")
    monkeypatch.setattr("vm.module.build", lambda found, driver, out, name: out / name)
    return made


def test_kernel_is_built_with_the_patch_in_a_tree_of_its_own(
    tmp_path: Path, shop: FakeTree
) -> None:
    place = Workshop("6.12-msr", tmp_path / "out")
    clean = place.build(None, ["refpmu"])
    built = place.build(fault(tmp_path), ["refpmu"], clean)
    assert shop.built == [SOURCE, "one\nTWO\nthree\n"]
    assert (shop.path / NAME).read_text() == SOURCE
    assert shop.uses == [kernels.USE] * 2
    assert built.kernel.name == "6.12-msr" and built.kernel.image != clean.kernel.image
    kernels.remove_image(built)
    assert not built.kernel.image.exists() and clean.kernel.image.exists()


def test_module_is_built_again_only_for_a_changed_header(tmp_path: Path, shop: FakeTree) -> None:
    place = Workshop("6.12-msr", tmp_path / "out")
    clean = place.build(None, ["refpmu"])
    assert place.build(fault(tmp_path), ["refpmu"], clean).modules == clean.modules
    header = "include/linux/perf_event.h"
    laid_out(shop.path, header)
    assert place.build(fault(tmp_path, header), ["refpmu"], clean).modules != clean.modules


def test_tree_is_restored_after_a_failed_build_and_after_a_killed_run(
    tmp_path: Path, shop: FakeTree
) -> None:
    place = Workshop("6.12-msr", tmp_path / "out")
    shop.fails = True
    with pytest.raises(UserError, match="no such thing"):
        place.build(fault(tmp_path), ["refpmu"])
    assert (shop.path / NAME).read_text() == SOURCE
    shop.fails = False
    (shop.path / NAME).write_text("of a killed run")
    (shop.path / patch.SAVED / NAME).parent.mkdir(parents=True)
    (shop.path / patch.SAVED / NAME).write_text(SOURCE)
    place.build(None, [])
    assert shop.built[-1] == SOURCE


def test_kernel_for_arm64_has_the_common_options_that_exist_there() -> None:
    names = tree.wanted_options(kernels.recipe(arch.ARM64).options)
    assert "CONFIG_CGROUP_PERF=y" in names and "CONFIG_ARM_PMU=y" in names
    assert 'CONFIG_LOCALVERSION="-arm64"' in names and "CONFIG_ACPI=y" not in names
    assert kernels.recipe(arch.AMD64) == kernel.recipe("msr")
    assert kernels.place(kernels.kernel_name("6.12", arch.ARM64)) == ("6.12", arch.ARM64)


def test_module_is_built_in_a_copy_in_which_only_changed_files_are_new(tmp_path: Path) -> None:
    source = tmp_path / "driver"
    for name in ("period.c", "state.c", "gone.c"):
        (source / "core").mkdir(parents=True, exist_ok=True)
        (source / "core" / name).write_text(SOURCE)
    copy = modules.restore(source, tmp_path / "copy")
    (copy / "core" / "state.o").touch()
    old = (copy / "core" / "state.c").stat().st_mtime_ns
    (copy / "core" / "period.c").write_text("changed by a fault")
    (source / "core" / "gone.c").unlink()
    modules.restore(source, tmp_path / "copy")
    assert (copy / "core" / "period.c").read_text() == SOURCE
    assert (copy / "core" / "state.c").stat().st_mtime_ns == old
    names = sorted(path.name for path in (copy / "core").iterdir())
    assert names == ["period.c", "state.c", "state.o"]


DEVICE = "drivers/perf/mine.c"


def driver_texts(folder: Path, monkeypatch: pytest.MonkeyPatch, *names: str) -> list[str]:
    """The texts of the drivers of a target, as the strategy builds them with a fault of DEVICE."""
    laid_out(folder / "sources", DEVICE)
    laid_out(folder / "sources", "drivers/perf/other.c")
    monkeypatch.setattr(driver, "tree_of", lambda name, found: folder / "sources")

    def texts(names: list[str], _found: Any, sources: Path = folder / "sources") -> tuple[str, ...]:
        return tuple((sources / n).read_text() if n.endswith(".c") else n for n in names)

    monkeypatch.setattr(driver, "modules", texts)
    monkeypatch.setattr(driver, "module_of", lambda name, found: Path(name).stem)
    how = object.__new__(WithDriver)
    how.request = cast(Any, SimpleNamespace(out=folder))
    target = cast(Any, SimpleNamespace(name="mine", driver=names))
    return [*map(str, how._modules(target, cast(Any, None), fault(folder, DEVICE)))]


def test_driver_of_a_device_is_built_from_a_changed_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = driver_texts(tmp_path, monkeypatch, "drivers/perf/other.c", DEVICE)
    assert built == [SOURCE, "one\nTWO\nthree\n"]
    assert (tmp_path / "sources" / DEVICE).read_text() == SOURCE


def test_module_of_the_package_is_replaced_by_its_changed_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = driver_texts(tmp_path, monkeypatch, "other.ko", "mine.ko")
    assert built == ["other.ko", "one\nTWO\nthree\n"]


def test_fault_must_change_a_driver_of_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="changes no driver of the target mine"):
        driver_texts(tmp_path, monkeypatch, "drivers/perf/other.c")
    with pytest.raises(UserError, match="the driver of the target mine is no module"):
        driver_texts(tmp_path, monkeypatch)


def test_guest_has_the_architecture_of_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    monkeypatch.setattr(kernel, "find", lambda name, on: asked.append((name, on.name)))
    monkeypatch.setattr("ci.faults.strategies.Bench", lambda *words: None)
    how = object.__new__(WithDriver)
    how.request = cast(Any, SimpleNamespace(out=tmp_path))
    for of in (None, "arm64"):
        how.open_bench("6.12", cast(Any, SimpleNamespace(name="mine", arch=of)))
    assert asked == [("6.12", "amd64"), ("6.12", "arm64")]


@pytest.fixture(name="root")
def fixture_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose build script writes the source into the program."""
    root = tmp_path / "root"
    laid_out(root, "driver/core/period.c")
    script = root / "ci/build"
    script.parent.mkdir()
    script.write_text(
        '#!/bin/sh\ncd "$(dirname "$0")/.."\ngrep -q broken driver/core/period.c && '
        '{ echo "x.c: error: no" >&2; exit 2; }\nmkdir -p build/$1/driver/unit build/$1/fuzz\n'
        "cat driver/core/period.c > build/$1/driver/unit/$2\n"
        "cat driver/core/period.c > build/$1/fuzz/$2\n"
    )
    script.chmod(0o755)
    (root / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(toy LANGUAGES NONE)\n"
    )
    presets = [
        {"name": name, "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"}
        for name in ("dev", "fuzz")
    ]
    text = json.dumps({"version": 6, "configurePresets": presets})
    (root / "CMakePresets.json").write_text(text)

    class Files:
        def __init__(self, of: Path) -> None:
            self.files = [
                str(p.relative_to(of)) for p in of.rglob("*") if p.is_file() and p.suffix != ".o"
            ]

    monkeypatch.setattr(host, "Inputs", Files)
    return root


def test_program_has_the_fault_only_while_it_is_judged(root: Path, tmp_path: Path) -> None:
    place = Host(root, tmp_path / "copy")
    bad = fault(tmp_path, "driver/core/period.c")
    with place.program(None, host.UNIT_TESTS) as program:
        assert program == tmp_path / "copy/build/dev/driver/unit/driver_tests"
        assert program.read_text() == SOURCE
    with place.program(bad, "period") as program:
        assert program == tmp_path / "copy/build/fuzz/fuzz/period_fuzzer"
        assert program.read_text() == "one\nTWO\nthree\n"
    assert (tmp_path / "copy/driver/core/period.c").read_text() == SOURCE
    assert (root / "driver/core/period.c").read_text() == SOURCE


def test_program_that_does_not_build_is_an_error_with_the_compilers_line(
    root: Path, tmp_path: Path
) -> None:
    (root / "driver/core/period.c").write_text("broken\n")
    with pytest.raises(UserError, match="driver_tests does not build: x.c: error: no"):
        with Host(root, tmp_path / "copy").program(None, host.UNIT_TESTS):
            raise AssertionError


def test_copy_follows_the_project_and_keeps_the_times_of_unchanged_files(
    root: Path, tmp_path: Path
) -> None:
    laid_out(root, "driver/core/gone.c")
    laid_out(root, "driver/core/other.c")
    laid_out(root, "docs/page.md")
    host.copy_sources(root, tmp_path / "copy")
    copy = tmp_path / "copy/driver/core"
    old = (copy / "other.c").stat().st_mtime_ns
    (root / "driver/core/gone.c").unlink()
    (root / "driver/core/period.c").write_text("new")
    laid_out(tmp_path / "copy", "build/dev/driver_tests")
    host.copy_sources(root, tmp_path / "copy")
    assert sorted(path.name for path in copy.iterdir()) == ["other.c", "period.c"]
    assert (copy / "period.c").read_text() == "new"
    assert (copy / "other.c").stat().st_mtime_ns == old
    assert (tmp_path / "copy/build/dev/driver_tests").exists()
    assert not (tmp_path / "copy/docs").exists()


CLEAN = KunitResults("6.12", "PASSED", {"PASS": {"s.own": ("CNT-001",), "t.x": ()}}, ())
FAILED = KunitResults("6.12", "FAILED", {"FAIL": {"s.own": ("CNT-001",)}}, ())


@pytest.mark.parametrize(("first", "boots"), [(FAILED, ["s"]), (CLEAN, ["s", ""])])
def test_likely_suite_boots_alone_and_all_suites_only_if_it_catches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: KunitResults, boots: list[str]
) -> None:
    asked: list[str] = []
    built: list[Path] = []

    def boot(_name: str, _image: Path, _folder: Path, suite: str = "") -> KunitResults:
        asked.append(suite)
        return first if suite else FAILED

    def build(_name: str, _driver: Path, suites: Path, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "image").touch()
        built.append(suites)
        return folder / "image"

    monkeypatch.setattr(kunit, "boot", boot)
    monkeypatch.setattr(kunit, "build", build)
    monkeypatch.setattr(Kunit, "clean", lambda self, suite="": CLEAN)
    monkeypatch.setattr(patch, "apply", lambda fault, folder: None)
    monkeypatch.setattr(modules, "restore", lambda driver, folder: folder)
    one = fault(tmp_path, "driver/core/period.c")
    judge = Kunit("6.12", tmp_path, tmp_path, print).judge
    assert judge(Planned(one, "6.12", "kunit"), Goal.CATCH, "").result == "caught"
    assert asked == boots and not list(tmp_path.rglob("image"))
    assert built == [kunit.SUITES]
    other = replace(one, change=one.change.replace("driver/core/period.c", "kunit/recorder.c"))
    judge(Planned(other, "6.12", "kunit"), Goal.CATCH, "")
    assert built[-1] == tmp_path / "workshop-kunit" / "kunit"


def test_invalid_kunit_results_are_a_one_line_error(tmp_path: Path) -> None:
    for text in ("", "[]", '{"cases": [{}], "verdict": "PASSED", "problems": []}'):
        (tmp_path / "results.json").write_text(text)
        with pytest.raises(UserError, match="results.json: no KUnit results"):
            kunit.read("6.12", tmp_path / "results.json")
