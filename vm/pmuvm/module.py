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
import time
from collections.abc import Iterable

from pmuvm import arch, kbuild, store
from pmuvm.errors import PmuvmError
from pmuvm.kernel import Kernel

NAME = "refpmu"
TIMEOUT_S = 600
SOURCES = ("Kbuild", "Kconfig", "include", "core", "model", "glue", "swinc")
LOG_LINES = 15
KEY = "key"
"""File of a build's folder: what the modules there were made of; not there if there are none."""
BASIS = "basis"
"""File of a build's folder: what its objects have in common, if the next build may use them."""
READ_S = 60
INFO = re.compile(r"^ *\[ *[0-9a-f]+\] +(\w+)=(.*)$", re.M)


class BuildFailed(PmuvmError):
    """The kernel's make came to its end and made no module."""


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
    stamp = out / KEY
    with store.locked(out.parent / f".{out.name}.lock"):
        if not stamp.is_file() or stamp.read_text("ascii") != _key(kernel, source):
            _rebuild(kernel, source, out)
        found = {product.stem: product for product in out.glob("*.ko")}
    if name not in found:
        known = ", ".join(sorted(found))
        raise PmuvmError(f"{source} makes no {name}.ko for {kernel.name}, but {known}")
    return found[name]


def _rebuild(kernel: Kernel, source: pathlib.Path, out: pathlib.Path) -> None:
    """Only what changed is compiled, where kbuild can tell that; else all of it.

    The products of the last build go first, and kbuild links its modules each time.
    """
    copy = out / "src"
    basis = out / BASIS
    with store.writing(out):
        for product in (out / KEY, *out.glob("*.ko")):
            product.unlink(missing_ok=True)
        wanted = _basis(kernel, source)
        if not basis.is_file() or basis.read_text("ascii") != wanted or _set_back(copy):
            shutil.rmtree(out, ignore_errors=True)
        # While it is not there, a build was killed: an object may be half written.
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


def _set_back(copy: pathlib.Path) -> bool:
    """True if the clock was: a source that is copied now would be older than its object."""
    return any(path.stat().st_mtime > time.time() for path in copy.rglob("*") if path.is_file())


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
        # What serves a debugger would be most of what is written, and of what guests are handed.
        "KCFLAGS=-g0",
        *flags,
        "modules",
    ]
    done = kbuild.external(kernel, copy, words, TIMEOUT_S, f"the build of {NAME}.ko")
    if done.returncode != 0 or not (copy / f"{NAME}.ko").is_file():
        failure = PmuvmError if done.returncode < 0 else BuildFailed
        raise failure(
            f"could not build {NAME}.ko for {kernel.release}",
            details="\n".join(done.stdout.splitlines()[-LOG_LINES:]),
        )
    return done.stdout


def _key(kernel: Kernel, source: pathlib.Path) -> str:
    """Of all that the modules are made of."""
    return store.digest([_basis(kernel, source).encode(), *_sources(source).values()])


def _basis(kernel: Kernel, source: pathlib.Path) -> str:
    """Of what kbuild does not look at, or not at each place: where it changes, nothing old is of use.

    A header that is new may hide another; what is gone leaves an object.
    """
    assert kernel.build is not None
    options = kernel.build / "include" / "generated" / "autoconf.h"
    sources = _sources(source)
    return store.digest(
        [
            f"{kernel.release} {kernel.build} {_compiler(kernel)}".encode(),
            options.read_bytes() if options.is_file() else b"",
            pathlib.Path(__file__).read_bytes(),  # the words for make
            *(name.encode() for name in sources),
            *(text for name, text in sources.items() if not name.endswith((".c", ".h", ".S"))),
        ]
    )


def _compiler(kernel: Kernel) -> str:
    """The file of it: another version is another file."""
    prefix = kernel.arch.compiler if arch.foreign(kernel.arch) else ""
    found = shutil.which(f"{prefix}gcc")
    if found is None:
        return ""
    file = pathlib.Path(found).resolve()
    status = file.stat()
    return f"{file} {status.st_size} {status.st_mtime_ns}"


def _sources(source: pathlib.Path) -> dict[str, bytes]:
    """What a build needs of `source`: name to content."""
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
