# SPDX-License-Identifier: GPL-2.0-only
"""The files that are copied over a kernel tree, and their options."""

from pathlib import Path

import pytest

from kunit.pmukunit import cli, tree
from pmubase.errors import UserError


def inputs_of(root: Path) -> tree.Inputs:
    for part in ("driver", "kunit"):
        (root / part / "sub").mkdir(parents=True)
        (root / part / "Kbuild").write_text("obj-y += a.o\n")
        (root / part / "sub" / "a.c").write_text("int a;\n")
        (root / part / "sub" / "a.py").write_text("a = 1\n")
    return tree.Inputs("6.12", root / "kunit/.kunitconfig", root / "driver", root / "kunit", root)


def test_overlay_writes_only_changed_files(tmp_path: Path) -> None:
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


def test_overlay_removes_deleted_sources_and_keeps_objects(tmp_path: Path) -> None:
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
    with pytest.raises(UserError, match="driver: has no Kbuild"):
        tree._overlay(inputs, tmp_path / "target")


def test_options_of_the_driver_are_separated_from_those_of_the_kernel() -> None:
    text = (
        "# why\nCONFIG_SMP=y\nCONFIG_REFPMU=y\nCONFIG_REFPMU_KUNIT_TEST=y\n# CONFIG_VT is not set\n"
    )
    assert tree.overlaid_options(text) == "CONFIG_REFPMU=y\nCONFIG_REFPMU_KUNIT_TEST=y\n"


@pytest.mark.parametrize("glob", ["none*", "refpmu_state;reboot", "a b"])
def test_invalid_filter_is_rejected_before_the_build(
    glob: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["--filter", glob, "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("kunit: --filter") and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_debug_kernel_is_no_stock_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--stock", "--pmu", "software", "--event", "0", "--debug"]
    assert cli.main([*asked, "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err == (
        "kunit: --stock is the distribution's kernel, --debug another one\n"
    )
