# SPDX-License-Identifier: Apache-2.0
"""Packs files for a guest into an initramfs: reproducible, cached by content, without root."""

from __future__ import annotations

import dataclasses
import gzip
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Mapping

from pmubase import store
from pmubase.errors import UserError

from . import PACKAGE, sysroot
from . import arch as arches
from .arch import AMD64, Arch

INIT = PACKAGE / "initrd" / "init"
FOLDERS = ("bin", "dev", "lib", "modules", "proc", "sys", "tmp", "etc")
TIMEOUT_S = 120
KEPT_DAYS = 7.0
# Enough for a few complete runs. An image in use was always touched recently, so it stays.
KEPT_BYTES = 4 << 30


@dataclasses.dataclass(frozen=True)
class Contents:
    """Files of an image: path in the guest, path on the host."""

    agent: pathlib.Path | None = None
    """The file for /bin/pmuconf."""
    target: pathlib.Path | None = None
    """The file for /target.toml."""
    modules: tuple[pathlib.Path, ...] = ()
    """The files for /modules/<name>."""
    files: Mapping[str, pathlib.Path] = dataclasses.field(default_factory=dict)
    """Further files: path in the guest (without the first slash) to path on the host."""
    init: pathlib.Path = INIT
    arch: Arch = AMD64


def build(contents: Contents) -> pathlib.Path:
    """The image of `contents`. It is built if the cache does not have it."""
    data = _read(contents)
    image = _place(data)
    folder, key = image.parent, image.name.partition(".")[0]
    with store.locked(folder / ".lock"):
        if not image.is_file():
            with store.new_folder(folder / f"{key}.staging") as staging:
                _stage(staging, data)
                packed = _pack(staging)
            shutil.rmtree(folder / f"{key}.staging")
            store.write(image, packed)
        with store.writing(folder):
            os.utime(image)
        store.prune(folder, "*.cpio.gz", KEPT_DAYS, KEPT_BYTES)
    return image


def place(contents: Contents) -> pathlib.Path:
    """The path of the image of `contents`. Its name is a digest of the content."""
    return _place(_read(contents))


def _place(data: Mapping[str, bytes]) -> pathlib.Path:
    key = store.digest(part for place in sorted(data) for part in (place.encode(), data[place]))
    return store.cache() / "images" / f"{key}.cpio.gz"


def _read(contents: Contents) -> dict[str, bytes]:
    """The content of an image: bytes by path in the guest."""
    busybox = find_busybox(contents.arch)
    placed: dict[str, pathlib.Path] = {"init": contents.init, "bin/busybox": busybox}
    if contents.agent is not None:
        placed["bin/pmuconf"] = contents.agent
    if contents.target is not None:
        placed["target.toml"] = contents.target
    for module in contents.modules:
        placed[f"modules/{module.name}"] = module
    placed.update(contents.files)

    data: dict[str, bytes] = {"channel": f"{contents.arch.channel}\n".encode()}
    for place, path in placed.items():
        try:
            data[place] = path.read_bytes()
        except OSError as error:
            raise UserError(f"cannot read {path} for the image: {error.strerror}") from error
    return data


def find_busybox(arch: Arch = AMD64) -> pathlib.Path:
    """The static busybox of the host, or of the packages for another architecture."""
    if arches.foreign(arch):
        root = sysroot.find(arch)
        # Packages since Debian 13 have no /bin.
        own = root / "bin" / "busybox"
        return own if own.is_file() else root / "usr" / "bin" / "busybox"
    found = shutil.which("busybox", path=f"{os.environ.get('PATH', '')}:/bin:/usr/bin")
    if found is None:
        raise UserError("no program 'busybox' on this machine (package busybox-static)")
    path = pathlib.Path(found).resolve()
    if libraries(path):
        raise UserError(f"{path} is not static (package busybox-static)")
    return path


def libraries(program: pathlib.Path) -> list[pathlib.Path]:
    """The shared libraries and the loader of a host program; none if it is static."""
    done = subprocess.run(
        ["ldd", str(program)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, "LC_ALL": "C"},
    )
    missing = re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)
    if missing:
        raise UserError(f"{program} needs {', '.join(missing)}, which this machine lacks")
    return [pathlib.Path(p) for p in re.findall(r"(/\S+) \(0x", done.stdout)]


def with_program(name: str) -> dict[str, pathlib.Path]:
    """The files (for Contents.files) with which a program of the host runs in a guest as /bin/NAME."""
    found = shutil.which(name)
    if found is None:
        raise UserError(f"no program '{name}' on this machine")
    program = pathlib.Path(found).resolve()
    placed = {str(path).lstrip("/"): path for path in libraries(program)}
    placed[f"bin/{pathlib.Path(name).name}"] = program
    return placed


def _stage(staging: pathlib.Path, data: Mapping[str, bytes]) -> None:
    for folder in FOLDERS:
        (staging / folder).mkdir(parents=True, exist_ok=True)
    for place, content in data.items():
        path = staging / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        executable = place == "init" or content.startswith((b"\x7fELF", b"#!"))
        path.chmod(0o755 if executable else 0o644)
    # The busybox of another architecture does not run here, but that of the host has the same applets.
    own = find_busybox(arches.host())
    done = subprocess.run([str(own), "--list"], capture_output=True, text=True, check=True)
    for applet in done.stdout.split():
        link = staging / "bin" / applet
        if not link.exists():
            link.symlink_to("busybox")


def _pack(staging: pathlib.Path) -> bytes:
    """A newc archive, gzipped: sorted, owned by root, without times, so the same contents give the same bytes."""
    paths = sorted(staging.rglob("*"))
    for path in [staging, *paths]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
        os.utime(path, (0, 0), follow_symlinks=False)
    names = "\0".join(str(path.relative_to(staging)) for path in paths) + "\0"
    try:
        done = subprocess.run(
            ["cpio", "-o", "-0", "-H", "newc", "--reproducible", "-R", "+0:+0", "--quiet"],
            cwd=staging,
            input=names.encode(),
            capture_output=True,
            timeout=TIMEOUT_S,
        )
    except FileNotFoundError:
        raise UserError("no program 'cpio' on this machine") from None
    if done.returncode != 0:
        raise UserError(f"cpio failed: {done.stderr.decode('utf-8', 'replace').strip()}")
    return gzip.compress(done.stdout, compresslevel=1, mtime=0)
