# SPDX-License-Identifier: Apache-2.0
"""Kernels are built by the recipe of their kind, and series have an order."""

from __future__ import annotations

import dataclasses
import pathlib
import re

import pytest

from pmubase import store
from pmubase.errors import UserError
from vm import kernel, stock, tree
from vm.testing.stubs import FakeBuilds


def test_kind_of_kernels_has_its_recipe() -> None:
    how = kernel.recipe("msr")
    assert "msr" in how.overlay and "CONFIG_REFPMU_MSR=y" in how.options and not how.needs.debug
    assert kernel.recipe("debug").overlay == () and kernel.recipe("debug").needs.debug
    assert set(kernel.debug_known()) < set(kernel.built_known())


def test_kind_can_extend_another_kind() -> None:
    how, debug = kernel.recipe("kcov"), kernel.recipe("debug")
    more = how.options.removeprefix('CONFIG_LOCALVERSION="-kcov"\n')
    assert more.startswith(debug.options.removeprefix('CONFIG_LOCALVERSION="-debug"\n'))
    assert "CONFIG_KCOV=y" in more and "KCOV" not in debug.options
    assert how.needs == debug.needs
    assert debug.make == () and [word.split("=")[0] for word in how.make] == ["KCOV_INSTRUMENT"]


def test_kernel_is_rebuilt_after_a_change_of_make_arguments(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = FakeBuilds(monkeypatch, tmp_path, "6.12.9-kcov")
    how = kernel.recipe("kcov")
    for words in (how.make, how.make, ("KCOV_INSTRUMENT=y",)):
        monkeypatch.setattr(
            kernel, "recipe", lambda _, words=words: dataclasses.replace(how, make=words)
        )
        kernel.find("6.12-kcov")
    assert builds.made == [
        (*how.make, "bzImage", "modules"),
        ("KCOV_INSTRUMENT=y", "bzImage", "modules"),
    ]


def test_unknown_kind_is_a_one_line_error() -> None:
    with pytest.raises(UserError, match="vm/kernels/other/kernel.toml: No such file"):
        kernel.recipe("other")


def test_flavour_is_fetched_by_its_name() -> None:
    assert kernel.known() == ["6.1", "6.12"]
    assert set(stock.names()) - set(kernel.known()) == {
        *("6.12-rt", "6.16", "6.17", "6.18", "6.19", "7.0", "7.1", "7.2", "7.3"),
    }
    assert set(stock.series()) - set(stock.with_sources()) == {
        *("6.16", "6.17", "6.18", "6.19", "7.0", "7.1"),
    }
    assert {"amd64", "arm64"} <= set(kernel.arches_of("6.12"))
    assert kernel.arches_of("6.12-rt") == kernel.arches_of("6.12-debug") == ["amd64"]


def test_every_kind_has_the_common_options_and_its_own_release() -> None:
    common = (stock.KERNELS / "config").read_text(encoding="utf-8")
    for kind in kernel.kinds():
        options = kernel.recipe(kind).options
        assert options.startswith(f'CONFIG_LOCALVERSION="-{kind}"\n{common}')
        assert len(set(named(options))) == len(tree.wanted_options(options))


def named(options: str) -> list[str]:
    return re.findall(r"^(?:# )?(CONFIG_\w+)(?==| is not set)", options, re.MULTILINE)


def test_series_are_sorted_as_numbers(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stock, "KERNELS", tmp_path)
    for name in ("7.2", "6.12-rt", "6.2", "6.12"):
        (tmp_path / f"{name}.toml").write_text(f'[kernel]\nname = "{name}"\n', encoding="utf-8")
    (tmp_path / "7.2.toml").write_text('[kernel]\nname = "7.2"\nsuite = "sid"\n', encoding="utf-8")
    assert stock.series() == ["6.2", "6.12", "7.2"]
    assert [stock.suites(name) for name in ("6.12", "7.2", "8.0")] == [
        [None],
        [None, "sid"],
        [None],
    ]
    assert stock.suites("7.2", "trixie") == ["trixie", "sid"]


@pytest.mark.parametrize("path", sorted(stock.KERNELS.rglob("config")), ids=str)
def test_option_file_has_each_option_once(path: pathlib.Path) -> None:
    found = named(path.read_text(encoding="utf-8"))
    assert len(found) == len(set(found)) > 0


def test_built_kernel_has_parameters_that_end_the_guest() -> None:
    init = (store.ROOT / "vm" / "initrd" / "init").read_text(encoding="utf-8")
    assert "*reboot=t*) reboot -f" in init
    for kind in kernel.kinds():
        assert "reboot=t" in kernel.recipe(kind).needs.parameters.split()
