# SPDX-License-Identifier: Apache-2.0
"""Builds the driver under test against a kernel's headers, out of a copy of its sources."""

from __future__ import annotations

import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator

from pmuvm import kbuild, store
from pmuvm.errors import PmuvmError
from pmuvm.kernel import Kernel

NAME = "refpmu"
TIMEOUT_S = 600
SOURCES = ("Kbuild", "Kconfig", "include", "core", "model", "glue", "swinc")
LOG_LINES = 15
READ_S = 60
INFO = re.compile(r"^ *\[ *[0-9a-f]+\] +(\w+)=(.*)$", re.M)


def default_out(kernel: Kernel) -> pathlib.Path:
    """The folder of the build product of `kernel` in the checkout."""
    return store.ROOT / "build" / "driver" / kernel.release


def placed(modules: Iterable[pathlib.Path], kernel: Kernel) -> dict[str, pathlib.Path]:
    """Files of modules by what they are to be called in a guest: as the kernel calls the module, however the
    file is called. PmuvmError if one is no module; one that was built for another kernel is worth a line.
    """
    found = {}
    for file in modules:
        info = _info(file)
        release = (info.get("vermagic", "").split() or [kernel.release])[0]
        if release != kernel.release:
            said = f"built for Linux {release}, and this is {kernel.release}"
            print(f"pmuvm: {file.name} was {said}", file=sys.stderr)
        found[f"{info['name']}.ko"] = file
    return found


def name_of(file: pathlib.Path) -> str:
    """What a kernel calls the module in a file, however that is called; PmuvmError if there is none."""
    return _info(file)["name"]


def _info(file: pathlib.Path) -> dict[str, str]:
    """What modinfo(8) prints, of what is there once; it has a name."""
    words = ["readelf", "--string-dump=.modinfo", str(file)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=READ_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PmuvmError(f"cannot read {file}: {error}") from error
    info = dict(INFO.findall(done.stdout))
    if "name" not in info:
        raise PmuvmError(f"{file} is no kernel module: it does not say its name")
    return info


def build(
    kernel: Kernel, source: pathlib.Path, out: pathlib.Path, name: str = NAME
) -> pathlib.Path:
    """Build `source` (a folder like driver/) into `out`, and return its `name`.ko: nothing is done
    when that is up to date.

    Safe against a second process with the same `out`. PmuvmError, with the end of the log, if the
    build fails; `out` then holds no module. PmuvmError, too, if `source` has no `name`.ko there.
    """
    if kernel.build is None:
        raise PmuvmError(f"no headers for kernel {kernel.name}: name a module with --module")
    if not (source / "Kbuild").is_file():
        raise PmuvmError(f"{source} holds no driver: no file Kbuild")
    if any(c.isspace() for c in f"{out.resolve()}{kernel.build}"):
        raise PmuvmError(f"the kernel's build system takes no path with a space: {out.resolve()}")
    key = store.digest(_inputs(kernel, source))
    stamp = out / "key"
    with store.locked(out.parent / f".{out.name}.lock"):
        if not stamp.is_file() or stamp.read_text("ascii") != key:
            _rebuild(kernel, source, out)
            store.write(stamp, key.encode())
        found = {product.stem: product for product in out.glob("*.ko")}
    if name not in found:
        known = ", ".join(sorted(found))
        raise PmuvmError(f"{source} makes no {name}.ko for {kernel.name}, but {known}")
    return found[name]


def _rebuild(kernel: Kernel, source: pathlib.Path, out: pathlib.Path) -> None:
    with store.writing(out):
        if out.exists():
            shutil.rmtree(out)
        copy = out / "src"
        copy.mkdir(parents=True)
        copy_sources(source, copy)
    log = make(kernel, copy)
    with store.writing(out):
        (out / "build.log").write_text(log, encoding="utf-8")
        for product in copy.glob("*.ko"):
            os.rename(product, out / product.name)


def copy_sources(source: pathlib.Path, copy: pathlib.Path) -> None:
    """What a build needs of `source`, into `copy`; a file that is the same there is left alone."""
    for name in SOURCES:
        if (source / name).is_dir():
            shutil.copytree(
                source / name,
                copy / name,
                ignore=_not_source,
                copy_function=_copy_changed,
                dirs_exist_ok=True,
            )
        elif (source / name).is_file():
            _copy_changed(str(source / name), str(copy / name))


def _copy_changed(source: str, copy: str) -> str:
    if not os.path.exists(copy) or not filecmp.cmp(source, copy, shallow=False):
        shutil.copyfile(source, copy)  # as new as the change is: what was made of it is older
    return copy


def make(kernel: Kernel, copy: pathlib.Path, *flags: str) -> str:
    """Make refpmu.ko in `copy` of the sources there; the log, or PmuvmError with the end of it.

    `flags` are further words for the kernel's make.
    """
    words = [
        # Type information of the module serves nobody here and would need pahole.
        "CONFIG_DEBUG_INFO_BTF_MODULES=",
        # The tree may have the driver in it, for KUnit.
        f"CONFIG_{NAME.upper()}=m",
        f"CONFIG_{NAME.upper()}_KUNIT_TEST=",
        f"CONFIG_{NAME.upper()}_MSR=",
        *flags,
        "modules",
    ]
    done = kbuild.external(kernel, copy, words, TIMEOUT_S, f"the build of {NAME}.ko")
    if done.returncode != 0 or not (copy / f"{NAME}.ko").is_file():
        raise PmuvmError(
            f"could not build {NAME}.ko for {kernel.release}",
            details="\n".join(done.stdout.splitlines()[-LOG_LINES:]),
        )
    return done.stdout


def _inputs(kernel: Kernel, source: pathlib.Path) -> Iterator[bytes]:
    yield f"{kernel.release} {kernel.build}".encode()
    for name in SOURCES:
        path = source / name
        if path.is_dir():
            yield from (p for p in _tree(path))
        elif path.is_file():
            yield name.encode()
            yield path.read_bytes()


def _tree(folder: pathlib.Path) -> Iterator[bytes]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _not_source(str(path.parent), [path.name]):
            yield str(path.relative_to(folder.parent)).encode()
            yield path.read_bytes()


def _not_source(_folder: str, names: list[str]) -> set[str]:
    kept = (".c", ".h", ".S", "Kbuild", "Kconfig", "Makefile")
    return {name for name in names if "." in name and not name.endswith(kept)}
