# SPDX-License-Identifier: Apache-2.0
"""The libraries of another architecture are fetched once, completely or not at all."""

from __future__ import annotations

import pathlib

import pytest

from pmubase.errors import UserError
from vm import arch, suite, sysroot
from vm.testing.stubs import write_script

APT_CACHE = """
for name; do
    case $name in
    libelf-dev | busybox-static) printf 'Package: %s\\nVersion: 1\\nSHA256: 00\\n\\n' "$name" ;;
    esac
done
"""
APT_GET = """
echo "$@" >>"$APT_LOG"
case " $* " in
*" download "*) for name; do case $name in *=*) touch "${name%%=*}.deb" ;; esac; done ;;
esac
"""
DPKG = 'mkdir -p "$3/usr" && touch "$3/usr/$(basename "$2" .deb)"'


@pytest.fixture
def apt_log(
    apt_log: pathlib.Path, fakes: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> pathlib.Path:
    """A fake distribution of two packages. The file lists the calls of apt-get."""
    monkeypatch.setattr(sysroot, "WANTED", ("libelf-dev",))
    for name, text in (("apt-cache", APT_CACHE), ("apt-get", APT_GET), ("dpkg", DPKG)):
        write_script(fakes, name, text)
    return apt_log


def test_sysroot_is_fetched_once(apt_log: pathlib.Path) -> None:
    root = sysroot.find(arch.ARM64)
    assert [path.name for path in (root / "usr").iterdir()] == ["libelf-dev"]
    calls = apt_log.read_text("utf-8")
    assert sysroot.find(arch.ARM64) == root
    assert apt_log.read_text("utf-8") == calls


def test_another_list_of_packages_is_another_folder(
    apt_log: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = sysroot.find(arch.ARM64)
    monkeypatch.setattr(sysroot, "WANTED", ("libelf-dev", "busybox-static"))
    assert (sysroot.find(arch.ARM64) / "usr" / "busybox-static").is_file()
    assert sysroot.find(arch.ARM64) != old


def test_options_of_cmake_come_from_the_file_of_the_architecture(apt_log: pathlib.Path) -> None:
    root = sysroot.find(arch.ARM64)
    assert sysroot.for_cmake(arch.ARM64) == [
        f"-DPMUCONF_SYSROOT={root}",
        "-DPMUCONF_PROCESSOR=aarch64",
        "-DPMUCONF_TRIPLE=aarch64-linux-gnu",
        "-DPMUCONF_LIBRARIES=",
        "-DPMUCONF_NEWER_LIBRARIES=OFF",
    ]


def test_failed_fetch_leaves_nothing(apt_log: pathlib.Path, cache: pathlib.Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sysroot, "WANTED", ("libelf-dev", "libnothing-dev"))
        with pytest.raises(UserError, match="no package 'libnothing-dev'"):
            sysroot.find(arch.ARM64)
    assert [path.name for path in (cache / "sysroot").iterdir()] == [".lock"]


def test_missing_foreign_suite_error_has_the_build_command(tmp_path: pathlib.Path) -> None:
    foreign = next(one for one in arch.ARCHES.values() if arch.foreign(one))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pmubase.store.ROOT", tmp_path)
        with pytest.raises(UserError, match=f"build it with ci/build guest-{foreign.name}"):
            suite.agent(foreign)
