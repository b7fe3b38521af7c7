# SPDX-License-Identifier: Apache-2.0
"""Finds kernels: the distribution's packages, kernels built from its sources, or a file of the user."""

from __future__ import annotations

import dataclasses
import json
import lzma
import pathlib
import re
import shutil
from typing import Any

from pmubase import store, toml_file
from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, TEXT, TEXTS

from . import packages, stock, tree
from . import arch as arches
from .arch import Arch

DEBUG = "debug"
DEBUG_SUFFIX = f"-{DEBUG}"
RECIPE = toml_file.table(
    {
        "kernel": toml_file.table(
            {"series": SOME_TEXTS, "beside": TEXT, "overlay": TEXTS, "make": TEXTS},
            optional=["beside", "overlay", "make"],
        ),
        "machine": stock.MACHINE,
    }
)
# An exclusive lock, since the tree also builds other images.
BUILT = pathlib.Path("pmuconf/bzImage")
KERNEL_PACKAGE = re.compile(r"linux-(binary|headers|image|kbuild|modules)-\d")
LIBRARY_PACKAGE = re.compile(r"libc6|libelf|libssl|libzstd|zlib")
"""The libraries of linux-kbuild's programs."""


@dataclasses.dataclass(frozen=True)
class Needs:
    """The requirements of a kernel for the machine and the deadlines."""

    slowness: float = 1.0
    """Factor for every deadline."""
    memory_mb: int = 0
    """Minimum memory in megabytes."""
    parameters: str = ""
    """Words for its command line."""
    debug: bool = False
    """The kernel finds memory leaks on request, and lockdep is off after its first report."""


@dataclasses.dataclass(frozen=True)
class Recipe:
    """A kind of built kernels: its folder in vm/kernels."""

    kind: str
    series: tuple[str, ...]
    options: str
    overlay: tuple[str, ...]
    """The parts of driver/ that are built into it."""
    make: tuple[str, ...]
    """Words for the make that builds it."""
    needs: Needs

    @property
    def modules(self) -> bool:
        """Whether the kernel can load modules."""
        return "# CONFIG_MODULES is not set" not in self.options.splitlines()


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel that can be booted."""

    name: str
    """The name that the user gave."""
    release: str
    """As `uname -r` prints it."""
    arch: Arch
    image: pathlib.Path
    build: pathlib.Path | None
    """The folder that modules are built against; None if that is impossible."""
    needs: Needs = Needs()
    lock: pathlib.Path | None = None
    """A lock to hold during the build of a module, if other processes build in the same folder."""


def known() -> list[str]:
    """The series that `make check` covers, the oldest first. They are the default where no kernel is named."""
    return [name for name in stock.series() if stock.table(name)["kernel"].get("checked", True)]


def debug_known() -> list[str]:
    """The names of the kernels that pmuvm can build with more checks than a stock kernel."""
    return [f"{series}{DEBUG_SUFFIX}" for series in recipe(DEBUG).series]


def debug_options() -> str:
    """The configuration of debug kernels."""
    return recipe(DEBUG).options


def debug_needs() -> Needs:
    """The requirements of debug kernels."""
    return recipe(DEBUG).needs


def recipe(kind: str) -> Recipe:
    """The recipe of the kernels of `kind`."""
    folder = stock.KERNELS / kind
    table = toml_file.load(folder / "kernel.toml", RECIPE)
    how = table["kernel"]
    beside = [how["beside"]] if "beside" in how else []
    folders = [stock.KERNELS, *(stock.KERNELS / other for other in beside), folder]
    try:
        configs = "".join((part / "config").read_text(encoding="utf-8") for part in folders)
    except OSError as error:
        raise UserError(f"{error.filename}: {error.strerror}") from error
    return Recipe(
        kind=kind,
        series=tuple(how["series"]),
        options=f'CONFIG_LOCALVERSION="-{kind}"\n{configs}',
        overlay=tuple(how.get("overlay", ())),
        make=tuple(how.get("make", ())),
        needs=Needs(**table["machine"], debug=DEBUG in (kind, *beside)),
    )


def kinds() -> list[str]:
    """The kinds of kernels that are built."""
    return sorted(path.parent.name for path in stock.KERNELS.glob("*/kernel.toml"))


def built_known() -> dict[str, Recipe]:
    """The kernels that pmuvm can build, by name: a series, followed by the kind."""
    recipes = [recipe(kind) for kind in kinds()]
    return {f"{series}-{how.kind}": how for how in recipes for series in how.series}


def arches_of(name: str) -> list[str]:
    """The architectures of a kernel that pmuvm can fetch or build."""
    if name in stock.names():
        return [arch.name for arch in arches.ARCHES.values() if name in arch.kernels]
    return [arches.AMD64.name]


def find(name: str, arch: Arch = arches.AMD64, refresh: bool = False) -> Kernel:
    """The kernel called `name` (fetched if it is missing), or the image file at that path.

    A fetched kernel stays the same until `refresh` requests a newer one from the distribution.
    """
    if (stock.KERNELS / f"{name}.toml").is_file() and "/" not in name:
        return _stock(name, arch, refresh)
    built = built_known()
    if name in built and arch == arches.AMD64:
        return _built(name, built[name], arch)
    path = pathlib.Path(name)
    if path.is_file():
        release = image_release(path, arch)
        return Kernel(name, release, arch, path.resolve(), _headers(release, arch))
    names = ", ".join([*stock.names(), *built])
    raise UserError(f"unknown KERNEL '{name}'; known: {names}, or the path of a kernel image")


def module_of_package(found: Kernel, name: str) -> bytes | None:
    """The module called `name` of a kernel's own package; None if it has none."""
    folder = found.image.parent
    if folder.name != found.release:
        folder = folder.parent / "lib" / "modules" / found.release
    for path in folder.rglob(f"{name}.ko*"):
        data = path.read_bytes()
        return lzma.decompress(data) if path.suffix == ".xz" else data
    return None


def image_release(path: pathlib.Path, arch: Arch = arches.AMD64) -> str:
    """The release that a kernel image states."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the kernel image {path}: {error.strerror}") from error
    if arch.image_format == "bzImage":
        return _bzimage_release(path, data)
    return _banner_release(path, data, arch)


def _bzimage_release(path: pathlib.Path, data: bytes) -> str:
    """Source: the kernel's Documentation/arch/x86/boot.rst, fields header and kernel_version."""
    if data[0x202:0x206] != b"HdrS":
        raise UserError(f"{path} is not an x86 kernel image (bzImage): it has no boot header")
    text = _bzimage_text(data).split(b" ")[0]
    if not re.fullmatch(rb"[0-9][A-Za-z0-9.+~_-]*", text):
        raise UserError(f"{path} is not an x86 kernel image (bzImage): it states no release")
    return text.decode("ascii")


def _bzimage_text(data: bytes) -> bytes:
    """The release, the builder and the version of a bzImage, as in /proc/version."""
    offset = int.from_bytes(data[0x20E:0x210], "little") + 0x200
    return data[offset : offset + 256].split(b"\0")[0]


def stable_version(found: Kernel) -> str:
    """The version with the patch level, such as 6.1.192, if the image states one that its release hides; else ""."""
    data = found.image.read_bytes()
    bzimage = found.arch.image_format == "bzImage"
    place = _bzimage_text(data) if bzimage else data
    stated = re.search(rb"#1 [^\0\n]* Debian ([0-9]+\.[0-9]+\.[0-9]+)-", place)
    return stated[1].decode("ascii") if stated else ""


def _banner_release(path: pathlib.Path, data: bytes, arch: Arch) -> str:
    """The release in the text of the banner: an `Image` (the kernel's Documentation/arch/arm64/booting.rst, also of other
    architectures) and a `vmlinux` (an ELF file) have no field for it."""
    what = f"{arch.name} kernel image ({arch.image_format})"
    elf = arch.image_format == "vmlinux"
    if (data[:4] != b"\x7fELF") if elf else (data[0x38:0x3C] != arch.image_magic):
        raise UserError(f"{path} is not an {what}: it has no boot header")
    banner = re.search(rb"Linux version ([0-9][A-Za-z0-9.+~_-]*) ", data)
    if banner is None:
        raise UserError(f"{path} is not an {what}: it states no release")
    return banner[1].decode("ascii")


def _built(name: str, how: Recipe, arch: Arch) -> Kernel:
    """A kernel built from the distribution's sources. If KUnit also builds in its tree, the image has no driver."""
    series = name.removesuffix(f"-{how.kind}")
    log = tree.cache() / f"{name}.log"
    overlay = tree.overlay(store.ROOT / "driver", how.overlay)
    with tree.opened(series, how.options, tree.cache(), log) as opened:
        image = opened.path / BUILT
        stamp = image.with_name("overlay")
        made_of = store.digest(
            [
                *(part for pair in overlay.items() for part in (bytes(pair[0]), pair[1])),
                *(word.encode() for word in how.make),
            ]
        )
        made = stamp.is_file() and stamp.read_text("ascii") == made_of
        if not image.is_file() or ((overlay or how.make) and not made):
            print(f"building the kernel {name} (minutes, once)", flush=True)
            if overlay:
                tree.update_sources(opened.path / tree.OVERLAY, overlay)
            opened.configure(how.options)
            opened.make(*how.make, "bzImage", *(["modules"] if how.modules else []))
            image.parent.mkdir(exist_ok=True)
            temporary = image.with_suffix(".new")
            shutil.copyfile(opened.image, temporary)
            temporary.rename(image)
            stamp.write_text(made_of, encoding="ascii")
        release = image_release(image, arch)
        build = opened.path if how.modules else None
        return Kernel(name, release, arch, image, build, how.needs, tree.lock(opened.path))


def _fetched_needs(name: str) -> Needs:
    try:
        return Needs(**stock.table(name).get("machine", {}))
    except TypeError as error:
        raise UserError(f"{stock.KERNELS / name}.toml: machine: {error}") from error


def _names(name: str, arch: Arch) -> list[str]:
    if name not in arch.kernels:
        known = ", ".join(arch.kernels)
        raise UserError(f"no packages of KERNEL '{name}' for ARCH={arch.name}; known: {known}")
    wanted = arch.kernels[name]
    return [wanted.image, *([wanted.headers] if wanted.headers else [])]


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
            apt, needed = packages.search(
                state,
                arch.name,
                stock.suites(name, arch.suite),
                lambda apt: apt.closure(
                    apt.newest(wanted),
                    lambda package: bool(
                        KERNEL_PACKAGE.match(package)
                        or (apt.suite and LIBRARY_PACKAGE.match(package))
                    ),
                ),
            )
            key = _key(needed)
            if not (folder / key).is_dir():
                with store.new_folder(folder / key) as temporary:
                    _fill(temporary, apt, needed, arch, state)
                    if apt.suite:
                        packages.relink(
                            temporary, folder / key, "usr/lib/linux-kbuild-*", arches.host()
                        )
        store.write(pointer, json.dumps({"key": key}).encode())
    found = _recorded(pointer, name, arch)
    if found is None:
        raise UserError(f"the packages {', '.join(wanted)} have no image of kernel {name}")
    return found


def _key(needed: list[packages.Package]) -> str:
    return store.digest(part.encode() for p in needed for part in (p.name, p.version, p.sha256))


def _headers(release: str, arch: Arch) -> pathlib.Path | None:
    """The headers of `release`, if a kernel of that release is fetched."""
    for name in stock.names():
        fetched = _recorded(store.cache() / "kernels" / f"{name}-{arch.name}.json", name, arch)
        if fetched is not None and fetched.release == release:
            return fetched.build
    return None


def _fill(
    root: pathlib.Path,
    apt: packages.Apt,
    needed: list[packages.Package],
    arch: Arch,
    state: pathlib.Path,
) -> None:
    # The programs that build modules run on this machine, for any target architecture.
    tools = [package for package in needed if package.name.startswith("linux-kbuild-")]
    if arches.foreign(arch) and tools:
        own = packages.Apt(state / "host", arches.host().name, apt.suite)
        own.update()
        names = [package.name for package in tools]
        libraries = own.closure(names, lambda p: bool(apt.suite and LIBRARY_PACKAGE.match(p)))
        _unpack(root, own, libraries)
        needed = [p for p in needed if p not in tools and not LIBRARY_PACKAGE.match(p.name)]
    _unpack(root, apt, needed)
    relocate(root)


def _unpack(root: pathlib.Path, apt: packages.Apt, wanted: list[packages.Package]) -> None:
    archives = root / "archives"
    for deb in apt.download(wanted, archives):
        packages.unpack(deb, root)
        deb.unlink()
    archives.rmdir()


def relocate(root: pathlib.Path) -> None:
    """Makes unpacked headers work in any folder: their Makefiles name /usr/src."""
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
    # Packages since 7.2 have the image in the folder of the modules.
    images = {
        **{path.name.partition("-")[2]: path for path in root.glob("boot/vmlinu[xz]-*")},
        **{path.parent.name: path for path in root.glob("usr/lib/modules/*/vmlinuz")},
    }
    if len(images) != 1:
        return None
    [(release, image)] = images.items()
    if not release.startswith(f"{name.partition('-')[0]}."):
        return None
    build = root / "usr/src" / f"linux-headers-{release}"
    return Kernel(
        name,
        release,
        arch,
        image,
        build if build.is_dir() else None,
        _fetched_needs(name),
    )
