# SPDX-License-Identifier: Apache-2.0
"""Builds the driver under test against a kernel's headers, from a copy of its sources."""

from __future__ import annotations

import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable

from pmubase import store
from pmubase.errors import UserError

from . import arch, kbuild
from .kernel import Kernel

NAME = "refpmu"
TIMEOUT_S = 600
SOURCES = (
    *("Kbuild", "Kconfig", "module.c", "module.h", "include", "core", "model"),
    *("core_pmu", "uncore", "trace", "port", "compat", "swinc", "devmsr"),
)
LOG_LINES = 15
KEY = "key"
"""File in a build's folder with the digest of the modules' inputs. It is missing if there are no modules."""
BASIS = "basis"
"""File in a build's folder with the digest of the common inputs of its objects, if the next build may reuse them."""
READ_S = 60
INFO = re.compile(r"^ *\[ *[0-9a-f]+\] +(\w+)=(.*)$", re.M)


class BuildFailed(UserError):
    """The kernel's make ended without a module."""


def default_out(kernel: Kernel) -> pathlib.Path:
    """The folder of the build product of `kernel` in the checkout."""
    return store.ROOT / "build" / "driver" / kernel.release


def guest_files(modules: Iterable[pathlib.Path], kernel: Kernel) -> dict[str, pathlib.Path]:
    """Files of modules by their file names in a guest, which follow the module's name and not the name of the file.
    UserError if one is no module. Prints a warning if one was built for another kernel."""
    found = {}
    for file in modules:
        info = _info(file)
        release = (info.get("vermagic", "").split() or [kernel.release])[0]
        if release != kernel.release:
            mismatch = f"built for Linux {release}, but this kernel is {kernel.release}"
            print(f"pmuvm: {file.name} was {mismatch}", file=sys.stderr)
        found[f"{info['name']}.ko"] = file
    return found


def name_of(file: pathlib.Path) -> str:
    """The kernel's name for the module in a file, independent of the file name. UserError if it is no module."""
    return _info(file)["name"]


def _info(file: pathlib.Path) -> dict[str, str]:
    """The output of modinfo(8), keys that occur once. It has a name."""
    words = ["readelf", "--string-dump=.modinfo", str(file)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=READ_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"cannot read {file}: {error}") from error
    info = dict(INFO.findall(done.stdout))
    if "name" not in info:
        raise UserError(f"{file} is not a kernel module: it has no name")
    return info


def build(
    kernel: Kernel, source: pathlib.Path, out: pathlib.Path, name: str = NAME
) -> pathlib.Path:
    """Builds `source` (a folder like driver/) into `out`, and returns its `name`.ko. Does nothing if that is up to
    date.

    Safe against a second process with the same `out`. UserError, with the end of the log, if the build fails; `out`
    then has no module. UserError also if `source` has no `name`.ko.
    """
    if kernel.build is None:
        raise UserError(f"no headers for kernel {kernel.name}: name a module with --module")
    if not (source / "Kbuild").is_file():
        raise UserError(f"{source} has no driver: no file Kbuild")
    if any(c.isspace() for c in f"{out.resolve()}{kernel.build}"):
        raise UserError(f"the kernel's build system accepts no path with a space: {out.resolve()}")
    stamp = out / KEY
    with store.locked(out.parent / f".{out.name}.lock"):
        if not stamp.is_file() or stamp.read_text("ascii") != _key(kernel, source):
            _rebuild(kernel, source, out)
        found = {product.stem: product for product in out.glob("*.ko")}
    if name not in found:
        known = ", ".join(sorted(found))
        raise UserError(f"{source} builds no {name}.ko for {kernel.name}, but {known}")
    return found[name]


def _rebuild(kernel: Kernel, source: pathlib.Path, out: pathlib.Path) -> None:
    """Compiles only changed files, if kbuild can detect the change; otherwise all files.

    The products of the last build are removed first, and kbuild links its modules each time.
    """
    copy = out / "src"
    basis = out / BASIS
    with store.writing(out):
        for product in (out / KEY, *out.glob("*.ko")):
            product.unlink(missing_ok=True)
        wanted = _basis(kernel, source)
        if not basis.is_file() or basis.read_text("ascii") != wanted or _clock_was_set_back(copy):
            shutil.rmtree(out, ignore_errors=True)
        # While this file is missing, a build is running or was killed, and an object may be incomplete.
        basis.unlink(missing_ok=True)
        copy.mkdir(parents=True, exist_ok=True)
        copy_sources(source, copy)
    key = _key(kernel, copy)
    try:
        log = make(kernel, copy, f"-j{os.cpu_count() or 1}")
    except BuildFailed:
        store.write(basis, wanted.encode())
        raise
    with store.writing(out):
        (out / "build.log").write_text(log, encoding="utf-8")
        for product in copy.glob("*.ko"):
            os.replace(product, out / product.name)
    store.write(basis, wanted.encode())
    store.write(out / KEY, key.encode())


def _clock_was_set_back(copy: pathlib.Path) -> bool:
    """Whether the clock was set back. A source that is copied now would then be older than its object."""
    return any(path.stat().st_mtime > time.time() for path in copy.rglob("*") if path.is_file())


def copy_sources(source: pathlib.Path, copy: pathlib.Path) -> None:
    """Copies the sources that a build needs to `copy`. An unchanged file is not written."""
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
        shutil.copyfile(
            source, copy
        )  # The copy gets the current time, so it is newer than the object files of the old source.
    return copy


def make(kernel: Kernel, copy: pathlib.Path, *flags: str) -> str:
    """Builds refpmu.ko from the sources in `copy` and returns the log. UserError with the end of it if the build
    fails.

    `flags` are further words for the kernel's make.
    """
    words = [
        # No program here uses the type information of the module, and it would need pahole.
        "CONFIG_DEBUG_INFO_BTF_MODULES=",
        # The tree may have the driver built in, for KUnit.
        f"CONFIG_{NAME.upper()}=m",
        f"CONFIG_{NAME.upper()}_KUNIT_TEST=",
        f"CONFIG_{NAME.upper()}_MSR=",
        # Debug information would be most of the written and transferred bytes. The headers of newer kernels have
        # attributes that old compilers do not know. A module does not name the folders that it was built in.
        f"KCFLAGS=-g0 -Wno-attributes {_without_folders(kernel, copy)}",
        *flags,
        "modules",
    ]
    done = kbuild.external(kernel, copy, words, TIMEOUT_S, f"the build of {NAME}.ko")
    if done.returncode != 0 or not (copy / f"{NAME}.ko").is_file():
        failure = UserError if done.returncode < 0 else BuildFailed
        raise failure(
            f"could not build {NAME}.ko for {kernel.release}",
            details="\n".join(done.stdout.splitlines()[-LOG_LINES:]),
        )
    return done.stdout


def _without_folders(kernel: Kernel, copy: pathlib.Path) -> str:
    assert kernel.build is not None
    folders = (kernel.build.parent, copy.resolve())
    return " ".join(f"-ffile-prefix-map={folder}/=" for folder in folders)


def _key(kernel: Kernel, source: pathlib.Path) -> str:
    """A digest of all inputs of the modules."""
    return store.digest([_basis(kernel, source).encode(), *_sources(source).values()])


def _basis(kernel: Kernel, source: pathlib.Path) -> str:
    """A digest of the inputs that kbuild does not track everywhere. If it changes, no old object may be used.

    A new header may hide another one; a removed file leaves its object.
    """
    assert kernel.build is not None
    options = kernel.build / "include" / "generated" / "autoconf.h"
    sources = _sources(source)
    return store.digest(
        [
            f"{kernel.release} {kernel.build} {_compiler(kernel)} {kbuild.WORDS}".encode(),
            options.read_bytes() if options.is_file() else b"",
            pathlib.Path(__file__).read_bytes(),  # This file has the words for make.
            *(name.encode() for name in sources),
            *(text for name, text in sources.items() if not name.endswith((".c", ".h", ".S"))),
        ]
    )


def _compiler(kernel: Kernel) -> str:
    """The compiler's path, size and time, which change with its version."""
    prefix = kernel.arch.compiler if arch.foreign(kernel.arch) else ""
    found = shutil.which(f"{prefix}gcc")
    if found is None:
        return ""
    file = pathlib.Path(found).resolve()
    status = file.stat()
    return f"{file} {status.st_size} {status.st_mtime_ns}"


def _sources(source: pathlib.Path) -> dict[str, bytes]:
    """The sources that a build needs: content by name."""
    found = {}
    for name in SOURCES:
        path = source / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not _not_source("", [file.name]):
                found[str(file.relative_to(source))] = file.read_bytes()
    return found


def _not_source(_folder: str, names: list[str]) -> set[str]:
    kept = (".c", ".h", ".S", "Kbuild", "Kconfig", "Makefile")
    return {name for name in names if "." in name and not name.endswith(kept)}
