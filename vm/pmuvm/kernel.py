# SPDX-License-Identifier: Apache-2.0
"""Where a kernel comes from: packages of the distribution, or an image file of the user's."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import tomllib

from pmuvm import arch as arches
from pmuvm import packages, store
from pmuvm.arch import Arch
from pmuvm.errors import PmuvmError

KERNELS = store.ROOT / "vm" / "kernels"
KERNEL_PACKAGE = re.compile(r"linux-(image|headers|kbuild)-\d")


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel that can be booted."""

    name: str
    """As the user named it."""
    release: str
    """As `uname -r` prints it."""
    arch: Arch
    image: pathlib.Path
    build: pathlib.Path | None
    """The folder that modules are built against; None where nothing can be built."""


def known() -> list[str]:
    """The names of the kernels that pmuvm can fetch."""
    return sorted(path.stem for path in KERNELS.glob("*.toml"))


def find(name: str, arch: Arch = arches.AMD64, refresh: bool = False) -> Kernel:
    """The kernel called `name` (fetched when it is not there), or the image file at that path.

    A fetched kernel stays the same until `refresh` asks the distribution for a newer one.
    """
    if (KERNELS / f"{name}.toml").is_file() and "/" not in name:
        return _stock(name, arch, refresh)
    path = pathlib.Path(name)
    if path.is_file():
        release = image_release(path)
        return Kernel(name, release, arch, path.resolve(), _headers(release, arch))
    raise PmuvmError(
        f"unknown KERNEL '{name}'; known: {', '.join(known())}, or the path of a kernel image"
    )


def image_release(path: pathlib.Path) -> str:
    """The release that an x86 kernel image states in its boot header.

    Source: the kernel's Documentation/arch/x86/boot.rst, fields header and kernel_version.
    """
    try:
        with path.open("rb") as file:
            data = file.read(0x8000)
    except OSError as error:
        raise PmuvmError(f"cannot read the kernel image {path}: {error.strerror}") from error
    if data[0x202:0x206] != b"HdrS":
        raise PmuvmError(f"{path} is not an x86 kernel image (bzImage): it has no boot header")
    offset = int.from_bytes(data[0x20E:0x210], "little") + 0x200
    text = data[offset : offset + 256].split(b"\0")[0].split(b" ")[0]
    if not re.fullmatch(rb"[0-9][A-Za-z0-9.+~_-]*", text):
        raise PmuvmError(f"{path} is not an x86 kernel image (bzImage): it states no release")
    return text.decode("ascii")


def _names(name: str, arch: Arch) -> list[str]:
    path = KERNELS / f"{name}.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        section = table["packages"][arch.name]
        return [str(section["image"]), str(section["headers"])]
    except tomllib.TOMLDecodeError as error:
        raise PmuvmError(f"{path}: {error}") from error
    except (KeyError, TypeError) as error:
        raise PmuvmError(
            f"{path}: no key packages.{arch.name}.image and .headers ({error})"
        ) from error


def _stock(name: str, arch: Arch, refresh: bool) -> Kernel:
    folder = store.cache() / "kernels"
    pointer = folder / f"{name}-{arch.name}.json"
    if not refresh:
        present = _recorded(pointer, name, arch)
        if present is not None:
            return present
    wanted = _names(name, arch)
    with store.locked(folder / ".lock"):
        present = None if refresh else _recorded(pointer, name, arch)
        if present is not None:
            return present
        with store.scratch(folder) as state:
            apt = packages.Apt(state, arch.name)
            apt.update()
            needed = apt.closure(wanted, lambda package: bool(KERNEL_PACKAGE.match(package)))
            key = _key(needed)
            if not (folder / key).is_dir():
                with store.new_folder(folder / key) as temporary:
                    _fill(temporary, apt, needed)
        store.write(pointer, json.dumps({"key": key}).encode())
    found = _recorded(pointer, name, arch)
    if found is None:
        raise PmuvmError(f"the packages {', '.join(wanted)} hold no kernel image")
    return found


def _key(needed: list[packages.Package]) -> str:
    return store.digest(part.encode() for p in needed for part in (p.name, p.version, p.sha256))


def _headers(release: str, arch: Arch) -> pathlib.Path | None:
    """The headers of `release`, if a kernel of that release has been fetched."""
    for name in known():
        fetched = _recorded(store.cache() / "kernels" / f"{name}-{arch.name}.json", name, arch)
        if fetched is not None and fetched.release == release:
            return fetched.build
    return None


def _fill(root: pathlib.Path, apt: packages.Apt, needed: list[packages.Package]) -> None:
    archives = root / "archives"
    for deb in apt.download(needed, archives):
        packages.unpack(deb, root)
        deb.unlink()
    archives.rmdir()
    relocate(root)


def relocate(root: pathlib.Path) -> None:
    """Make unpacked headers work wherever they lie: their Makefiles name /usr/src."""
    for makefile in (root / "usr/src").glob("linux-headers-*/Makefile"):
        text = makefile.read_text(encoding="utf-8")
        here = "$(dir $(abspath $(lastword $(MAKEFILE_LIST))))"
        fixed = re.sub(r"/usr/src/(?=linux-headers-)", f"{here}../", text)
        if fixed != text:
            makefile.write_text(fixed, encoding="utf-8")


def _recorded(pointer: pathlib.Path, name: str, arch: Arch) -> Kernel | None:
    try:
        key = json.loads(pointer.read_text(encoding="ascii"))["key"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    root = pointer.parent / str(key)
    images = sorted(root.glob("boot/vmlinuz-*"))
    if len(images) != 1:
        return None
    release = images[0].name.removeprefix("vmlinuz-")
    build = root / "usr/src" / f"linux-headers-{release}"
    return Kernel(name, release, arch, images[0], build if build.is_dir() else None)
