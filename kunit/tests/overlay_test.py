# SPDX-License-Identifier: GPL-2.0-only
"""The overlay: a kernel tree has one copy after repeated calls; other folders are rejected."""

import re
from pathlib import Path

import pytest

from kunit import overlay

KUNIT = Path(__file__).resolve().parents[1]


@pytest.fixture(name="tree")
def kernel_tree(tmp_path: Path) -> Path:
    for name in ("drivers/perf/Kconfig", "drivers/perf/Makefile", "tools/testing/kunit/kunit.py"):
        path = tmp_path / "linux" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("# the kernel's\n")
    return tmp_path / "linux"


def test_tree_has_the_files_that_kunit_py_needs(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert overlay.main([str(tree)]) == 0
    command = capsys.readouterr().out
    config = re.search(r"--kunitconfig (\S+)", command)
    assert config is not None
    assert (tree / config[1] / ".kunitconfig").is_file()
    for folder in ("driver", "kunit"):
        kbuild = (tree / overlay.PLACE / folder / "Kbuild").read_text()
        for made in re.findall(r"^\t(\S+)\.o", kbuild, re.MULTILINE):
            assert (tree / overlay.PLACE / folder / f"{made}.c").is_file()


def test_second_installation_replaces_the_first(tree: Path) -> None:
    overlay.main([str(tree)])
    stale = tree / overlay.PLACE / "kunit" / "stale_kunit.c"
    stale.write_text("")
    overlay.main([str(tree)])
    assert not stale.exists()
    for name, line in overlay.HOOKS.items():
        assert (tree / name).read_text().splitlines().count(line) == 1


def test_folder_without_a_kernel_is_a_one_line_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert overlay.main([str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and str(tmp_path) in said
    assert not list(tmp_path.iterdir())
