# SPDX-License-Identifier: GPL-2.0-only
"""The kernel tree: which options were dropped, what is copied, and what a failed build says."""

from pathlib import Path

import pytest

from pmukunit import cli, tree
from pmuvm.errors import PmuvmError

CONFIG = "CONFIG_KUNIT=y\nCONFIG_SMP=y\n# CONFIG_VT is not set\n"


def test_options_that_are_there_are_not_dropped() -> None:
    assert tree.dropped_options("# why\nCONFIG_SMP=y\n# CONFIG_VT is not set\n", CONFIG) == []


@pytest.mark.parametrize(
    "line", ["CONFIG_KUNIT=m", "CONFIG_PROVE_LOCKING=y", "# CONFIG_SMP is not set"]
)
def test_dropped_option_is_named(line: str) -> None:
    assert tree.dropped_options(line, CONFIG) == [line]


def test_unknown_option_may_well_be_off() -> None:
    assert tree.dropped_options("# CONFIG_NEVER_HEARD is not set", CONFIG) == []


def inputs_of(root: Path) -> tree.Inputs:
    for part in ("driver", "kunit"):
        (root / part / "sub").mkdir(parents=True)
        (root / part / "Kbuild").write_text("obj-y += a.o\n")
        (root / part / "sub" / "a.c").write_text("int a;\n")
        (root / part / "sub" / "a.py").write_text("a = 1\n")
    return tree.Inputs("6.12", root / "kunit/.kunitconfig", root / "driver", root / "kunit", root)


def test_overlay_touches_only_what_changed(tmp_path: Path) -> None:
    inputs, target = inputs_of(tmp_path), tmp_path / "target"
    tree._overlay(inputs, target)
    copies = {path.relative_to(target) for path in target.rglob("*") if path.is_file()}
    assert Path("driver/sub/a.c") in copies
    assert Path("driver/sub/a.py") not in copies
    before = {path: (target / path).stat().st_mtime_ns for path in copies}

    (tmp_path / "driver/sub/a.c").write_text("int a = 1;\n")
    tree._overlay(inputs, target)
    changed = {path for path in copies if (target / path).stat().st_mtime_ns != before[path]}
    assert changed == {Path("driver/sub/a.c")}


def test_overlay_drops_sources_that_are_gone_and_keeps_objects(tmp_path: Path) -> None:
    inputs, target = inputs_of(tmp_path), tmp_path / "target"
    tree._overlay(inputs, target)
    (target / "driver/sub/a.o").touch()
    (tmp_path / "driver/sub/a.c").unlink()
    tree._overlay(inputs, target)
    assert not (target / "driver/sub/a.c").exists()
    assert (target / "driver/sub/a.o").exists()


def test_folder_without_kbuild_is_named(tmp_path: Path) -> None:
    inputs = inputs_of(tmp_path)
    (tmp_path / "driver/Kbuild").unlink()
    with pytest.raises(PmuvmError, match="driver: has no Kbuild"):
        tree._overlay(inputs, tmp_path / "target")


def test_first_error_of_a_build_is_what_is_told() -> None:
    log = "  CC a.o\na.c:3:1: error: expected ';'\na.c:9:1: error: more\nmake: *** [a.o] Error 1\n"
    assert tree.first_error(log) == "a.c:3:1: error: expected ';'"
    assert tree.first_error("") == "make failed and said nothing"


def test_full_disk_is_told_and_leaves_no_tree(tmp_path: Path) -> None:
    kernel = tmp_path / "tree"
    kernel.mkdir()
    (kernel / "Makefile").write_text("bzImage:\n\t@echo 'cc: No space left on device'; exit 1\n")
    with pytest.raises(PmuvmError, match=r"cannot write to .*tree: No space left on device"):
        tree._make(kernel, ["bzImage"], tmp_path / "log")
    assert not kernel.exists()


@pytest.mark.parametrize("glob", ["none*", "refpmu_state;reboot", "a b"])
def test_bad_filter_is_refused_before_anything_is_built(
    glob: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--filter", glob, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("kunit: --filter") and said.count("\n") == 1
    assert not (tmp_path / "out").exists()
