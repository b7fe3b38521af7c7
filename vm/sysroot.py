# SPDX-License-Identifier: Apache-2.0
"""Libraries and programs of another architecture, from unpacked packages that are never installed."""

from __future__ import annotations

import json
import pathlib

from pmubase import store

from . import packages
from .arch import Arch

WANTED = (
    # Libraries that conformance/CMakeLists.txt needs. The cross compiler has the C library.
    "googletest",
    "libbpf-dev",
    "libbz2-dev",
    "libcli11-dev",
    "libdw-dev",
    "libelf-dev",
    "libgmock-dev",
    "libgtest-dev",
    "liblzma-dev",
    "libtomlplusplus-dev",
    "libzstd-dev",
    "nlohmann-json3-dev",
    "zlib1g-dev",
    # Programs that a guest runs in addition to the suite.
    "busybox-static",
)


def find(arch: Arch) -> pathlib.Path:
    """The folder with the files of WANTED for `arch`, at the paths of their packages. They are fetched once."""
    wanted = _wanted(arch)
    folder = store.cache() / "sysroot"
    pointer = folder / f"{arch.name}.json"
    with store.locked(folder / ".lock"):
        root = _recorded(pointer, wanted)
        if root is not None:
            return root
        with store.scratch(folder) as state:
            apt = packages.Apt(state, arch.name, arch.suite)
            apt.update()
            needed = apt.closure(wanted, lambda _: False)
            sums = (part.encode() for p in needed for part in (p.name, p.version, p.sha256))
            key = store.digest(sums)
            with store.new_folder(folder / key) as root:
                for deb in apt.download(needed, state / "archives"):
                    packages.unpack(deb, root)
        store.write(pointer, json.dumps({"key": key, "wanted": wanted}).encode())
        return folder / key


def for_cmake(arch: Arch) -> list[str]:
    """The options of CMake that cmake/Cross.cmake reads, to build programs for `arch`."""
    root = find(arch)
    return [
        f"-DPMUCONF_SYSROOT={root}",
        f"-DPMUCONF_PROCESSOR={arch.machine}",
        f"-DPMUCONF_TRIPLE={arch.triple}",
        f"-DPMUCONF_LIBRARIES={';'.join(arch.libraries)}",
        f"-DPMUCONF_NEWER_LIBRARIES={'ON' if arch.suite else 'OFF'}",
    ]


def _wanted(arch: Arch) -> list[str]:
    return [*WANTED, *(f"lib{name}-dev" for name in arch.libraries)]


def _recorded(pointer: pathlib.Path, wanted: list[str]) -> pathlib.Path | None:
    try:
        kept = json.loads(pointer.read_text(encoding="ascii"))
        root = pointer.parent / str(kept["key"])
        return root if kept["wanted"] == wanted and root.is_dir() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
