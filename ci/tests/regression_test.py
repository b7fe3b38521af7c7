# SPDX-License-Identifier: Apache-2.0
"""Regressions are read and built as documented. No kernel tree stays patched."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from ci.regression import recipes, workshop
from ci.regression.workshop import Workshop
from faults import regression_file
from faults.mutant_file import PatchError
from faults.regression_file import Regression
from pmubase.errors import UserError
from vm import arch, kernel, tree

HEADER = """Id: B001
Fix: 7f612a7f0bc1 perf/x86: Fix full width counter, counter overflow
Kernels: 6.1, 6.12
Targets: intel, amd
Rules: CNT-003, SMP-005

The driver loses a carry,
so counts are wrong.

"""
NAME = "arch/x86/events/core.c"
SOURCE = "one\ntwo\nthree\n"
DIFF = f"--- a/{NAME}\n+++ b/{NAME}\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n"


def written(folder: Path, text: str = HEADER + DIFF, name: str = "B001-carry.patch") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def regression(folder: Path, **values: object) -> Regression:
    return replace(regression_file.read(written(folder / "patches")), **values)


def laid_out(folder: Path, text: str = SOURCE) -> Path:
    """A kernel tree with one source."""
    path = folder / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_header_is_read(tmp_path: Path) -> None:
    one = regression_file.read(written(tmp_path))
    assert (one.id, one.bug, one.commit) == ("B001", "B001", "7f612a7f0bc1")
    assert one.subject == "perf/x86: Fix full width counter, counter overflow"
    assert (one.kernels, one.targets) == (("6.1", "6.12"), ("intel", "amd"))
    assert (one.rules, one.kill, one.missed) == (("CNT-003", "SMP-005"), ("FAIL",), "")
    assert one.text == "The driver loses a carry, so counts are wrong."
    assert one.files == (NAME,) and not one.changes_headers


def test_fix_may_have_no_commit_and_rules_may_be_none(tmp_path: Path) -> None:
    text = HEADER.replace("7f612a7f0bc1 ", "").replace("CNT-003, SMP-005", "none")
    one = regression_file.read(
        written(tmp_path, text.replace("B001", "L001a") + DIFF, "L001a-x.patch")
    )
    assert (one.commit, one.subject[:8], one.rules) == ("", "perf/x86", ())
    assert (one.id, one.bug) == ("L001a", "L001")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (HEADER.replace("Fix: ", "fix ") + DIFF, "Fix: is missing"),
        (HEADER.replace("B001", "M001") + DIFF, "Id: 'M001' is not like B001"),
        (HEADER.replace("B001", "B002") + DIFF, "not how the file begins"),
        (HEADER.replace("6.1,", "new,") + DIFF, "Kernels: 'new' is not like 6.12"),
        (HEADER.replace("CNT-003", "CNT3") + DIFF, "Rules: 'CNT3' is not a rule id"),
        (HEADER + "Kill: LOSE\n" + DIFF, "Kill: 'LOSE' must be one of FAIL, CRASH, TIMEOUT"),
        (HEADER, "not a patch"),
        (HEADER + DIFF.replace("arch/", "scripts/"), "changes scripts/x86/events/core.c, which"),
        (HEADER + DIFF.replace("arch/x86", "arch/.."), "changes arch/../events/core.c, which"),
        (HEADER + DIFF.replace(f"a/{NAME}", "/dev/null"), "adds or removes a file"),
    ],
)
def test_malformed_patch_is_a_one_line_error(tmp_path: Path, text: str, complaint: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(PatchError) as caught:
        regression_file.read(path)
    assert complaint in str(caught.value) and "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_one_id_may_have_a_patch_for_each_kernel_but_not_two(tmp_path: Path) -> None:
    for name, series, line in (("B001-x", "6.12", "2"), ("B001-x.6.1", "6.1", "3")):
        text = HEADER.replace("6.1, 6.12", series) + DIFF.replace("TWO", line)
        written(tmp_path, text, f"{name}.patch")
    found, errors = regression_file.collect(tmp_path)
    assert [one.kernels for one in found] == [("6.1",), ("6.12",)] and not errors
    written(tmp_path, HEADER + DIFF, "B001-y.patch")
    _, errors = regression_file.collect(tmp_path)
    assert "Id B001 on 6.1 is also B001-x.6.1.patch" in str(errors[0])


def test_same_change_twice_is_an_error(tmp_path: Path) -> None:
    written(tmp_path)
    written(tmp_path, HEADER.replace("B001", "B002") + DIFF, "B002-x.patch")
    _, errors = regression_file.collect(tmp_path)
    assert "B001-carry.patch has the same change on 6.1" in str(errors[0])


def test_patched_tree_is_restored_with_newer_files(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "tree")
    os.utime(source, (1, 1))
    with workshop.patched(tmp_path / "tree", regression(tmp_path)):
        assert source.read_text() == "one\nTWO\nthree\n"
        inside = source.stat().st_mtime_ns
    assert source.read_text() == SOURCE
    assert source.stat().st_mtime_ns >= inside
    assert not (tmp_path / "tree" / workshop.SAVED).exists()


@pytest.mark.parametrize("error", [UserError("no build"), KeyboardInterrupt()])
def test_tree_is_restored_after_an_error(tmp_path: Path, error: BaseException) -> None:
    source = laid_out(tmp_path / "tree")
    with pytest.raises(type(error)), workshop.patched(tmp_path / "tree", regression(tmp_path)):
        raise error
    assert source.read_text() == SOURCE


def test_patch_that_does_not_apply_leaves_the_tree_unchanged(tmp_path: Path) -> None:
    source = laid_out(tmp_path / "tree", "ONE\ntwo\nthree\n")
    with pytest.raises(PatchError, match="does not apply"):
        with workshop.patched(tmp_path / "tree", regression(tmp_path)):
            raise AssertionError
    assert source.read_text() == "ONE\ntwo\nthree\n"
    source.unlink()
    with pytest.raises(PatchError, match=f"does not apply: the kernel has no {NAME}"):
        with workshop.patched(tmp_path / "tree", regression(tmp_path)):
            raise AssertionError
    assert not (tmp_path / "tree" / workshop.SAVED).exists()


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
        (self.path / arch.AMD64.image).parent.mkdir(parents=True, exist_ok=True)
        (self.path / arch.AMD64.image).write_bytes(b"image")


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
    place = Workshop("6.12", arch.AMD64, tmp_path / "out")
    clean = place.build(None, ["refpmu"])
    built = place.build(regression(tmp_path), ["refpmu"], clean)
    assert shop.built == [SOURCE, "one\nTWO\nthree\n"]
    assert (shop.path / NAME).read_text() == SOURCE
    assert shop.uses == [workshop.USE] * 2
    assert built.kernel.name == "6.12-msr" and built.kernel.image != clean.kernel.image
    assert built.kernel.image.read_bytes() == b"image"
    workshop.remove_image(built)
    assert not built.kernel.image.exists()


def test_kernel_for_arm64_has_the_common_options_that_exist_there() -> None:
    options = recipes.recipe(arch.ARM64).options
    names = tree.wanted_options(options)
    assert "CONFIG_CGROUP_PERF=y" in names and "CONFIG_ARM_PMU=y" in names
    assert 'CONFIG_LOCALVERSION="-arm64"' in names and "CONFIG_ACPI=y" not in names
    assert recipes.recipe(arch.AMD64) == kernel.recipe("msr")
    assert recipes.kernel_name("6.12", arch.ARM64) == "6.12-arm64"


def test_module_is_built_again_only_for_a_changed_header(tmp_path: Path, shop: FakeTree) -> None:
    place = Workshop("6.12", arch.AMD64, tmp_path / "out")
    clean = place.build(None, ["refpmu"])
    plain = regression(tmp_path)
    assert place.build(plain, ["refpmu"], clean).modules == clean.modules
    header = "include/linux/perf_event.h"
    (shop.path / header).parent.mkdir(parents=True)
    (shop.path / header).write_text(SOURCE)
    path = written(tmp_path / "more", HEADER + DIFF.replace(NAME, header))
    assert place.build(regression_file.read(path), ["refpmu"], clean).modules != clean.modules


def test_build_after_a_killed_run_restores_the_tree_first(tmp_path: Path, shop: FakeTree) -> None:
    killed = workshop.patched(shop.path, regression(tmp_path))
    killed.__enter__()  # A killed process never leaves the block.
    assert (shop.path / NAME).read_text() != SOURCE
    Workshop("6.12", arch.AMD64, tmp_path / "out").build(None, [])
    assert shop.built == [SOURCE]
    assert not (shop.path / workshop.SAVED).exists()


def test_tree_is_restored_after_a_failed_build(tmp_path: Path, shop: FakeTree) -> None:
    shop.fails = True
    with pytest.raises(UserError, match="no such thing"):
        Workshop("6.12", arch.AMD64, tmp_path / "out").build(regression(tmp_path), [])
    assert (shop.path / NAME).read_text() == SOURCE
