# SPDX-License-Identifier: Apache-2.0
"""Kernel trees in the cache, by content. Only one process at a time configures and builds a tree."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError

from . import arch, packages, source

BUILD_DEADLINE_S = 3600
KILL_DEADLINE_S = 10

# Covers changes of the tree other than source, fragment and compiler: increase it to start with an empty tree.
RECIPE = 1

OVERLAY = Path("drivers/perf/refpmu")
"""A folder that every tree builds, for a driver and its tests. It is empty at first."""
CCACHE = Path("/usr/lib/ccache")
"""Debian's folder of compilers that are links to ccache."""
KEPT_TREES = 10
"""Number of trees of each series: for tests, for lines, for the kinds of vm/kernels, for patched kernels of two
architectures, and two from before a change."""
RENAMED = {"CONFIG_PROC_SYSCTL=y": "CONFIG_SYSCTL=y"}
"""Lines of .config that have another name in newer kernels: PROC_SYSCTL is SYSCTL in 7.3."""
SOURCES = {".c", ".h", ".inc"}
SOURCE_NAMES = {"Kbuild", "Kconfig"}


@dataclasses.dataclass(frozen=True)
class Tree:
    """A kernel tree that this process has locked, and the file with make's output."""

    path: Path
    log: Path
    lock: int | None = None
    """Descriptor of the lock, which make inherits."""
    on: arch.Arch = arch.AMD64

    @property
    def image(self) -> Path:
        """The product of image_target."""
        return self.path / self.on.image

    @property
    def image_target(self) -> str:
        """The target of make that builds an image to boot."""
        return self.image.name

    def configure(self, options: str) -> None:
        """Runs tinyconfig with `options`, if these or a Kconfig of the overlay changed."""
        kconfigs = sorted((self.path / OVERLAY).rglob("Kconfig"))
        digest = store.digest([options.encode(), *(path.read_bytes() for path in kconfigs)])
        stamp = self.path / ".pmuconf-config"
        if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
            return
        stamp.unlink(missing_ok=True)
        self.make("tinyconfig")
        with open(self.path / ".config", "a", encoding="utf-8") as handle:
            handle.write(options)
        self.make("olddefconfig")
        config = (self.path / ".config").read_text(encoding="utf-8")
        dropped = dropped_options(options, config)
        if dropped:
            raise UserError(f"Kconfig drops {', '.join(dropped)}")
        stamp.write_text(digest, encoding="utf-8")

    def make(self, *targets: str) -> None:
        """Runs make. UserError with the first error if it fails."""
        words = [f"ARCH={self.on.kbuild}"]
        if arch.foreign(self.on):
            words.append(f"CROSS_COMPILE={self.on.compiler}")
        argv = ["make", "-C", str(self.path), *words, f"-j{os.cpu_count() or 1}", *targets]
        # A user's make flags and kernel variables must not affect this build.
        ours = ("MAKE", "MFLAGS", "KBUILD")
        env = {k: v for k, v in os.environ.items() if not k.startswith(ours)} | {"LC_ALL": "C"}
        env |= _compiler_cache(env)
        with open(self.log, "wb") as handle:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=handle,
                stderr=handle,
                env=env,
                process_group=0,
                # If this process is killed, make continues for a moment. An object of old sources would then be newer
                # than the sources of the next build.
                pass_fds=() if self.lock is None else (self.lock,),
            )
            try:
                status = process.wait(timeout=BUILD_DEADLINE_S)
            except BaseException as caught:
                _kill_group(process)
                if isinstance(caught, subprocess.TimeoutExpired):
                    message = f"{self.log}: make not finished after {BUILD_DEADLINE_S} s"
                    raise UserError(message) from None
                raise
        if status == 0:
            return
        log = self.log.read_text(encoding="utf-8", errors="replace")
        if source.FULL in log:
            # An incomplete tree would only fill the disk.
            shutil.rmtree(self.path, ignore_errors=True)
            raise UserError(f"cannot write to {self.path}: {source.FULL}")
        raise UserError(f"{self.log}: {first_error(log)}")


def cache() -> Path:
    """The folder of the trees and of their source packages."""
    return store.cache() / "kunit"


def lock(tree: Path) -> Path:
    """The lock file of a tree, in the same folder. A process must hold it to configure or build the tree."""
    return tree.with_name(f"{tree.name}.lock")


@contextlib.contextmanager
def opened(
    series: str,
    fragment: str,
    folder: Path,
    log: Path,
    use: str = "",
    on: arch.Arch = arch.AMD64,
) -> Iterator[Tree]:
    """The tree in `folder` for `fragment` (options as in .config). It is unpacked if needed.

    It is not configured yet. Options of the overlay may change without a new tree. `use`: a name for a tree apart from
    the others with the same options, since its sources change.
    """
    package = source.ensure(series, folder)
    path = folder / _key(package, fragment, use, on)
    with store.locked(lock(path)) as held, store.writing(folder):
        if not path.is_dir():
            _create(package, path)
        os.utime(path)
        _prune(package, keep=path)
        yield Tree(path, log, held, on)


def update_sources(target: Path, wanted: Mapping[Path, bytes]) -> None:
    """Makes `target` contain the sources `wanted`. A file with the same content keeps its time."""
    for name, content in wanted.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in sorted(target.rglob("*")):
        if path.is_file() and is_source(path) and path.relative_to(target) not in wanted:
            path.unlink()


def is_source(path: Path) -> bool:
    """Whether a build reads a file of that name, so that it is not a product."""
    named = path.suffix in SOURCES or path.name in SOURCE_NAMES
    return named and not path.name.endswith(".mod.c")


def overlay(driver: Path, parts: Sequence[str]) -> dict[Path, bytes]:
    """`parts` of `driver` as the overlay of a tree; empty if there are none."""
    if not parts:
        return {}
    wanted = {
        Path("Kconfig"): f'source "{OVERLAY}/driver/Kconfig"\n'.encode(),
        # Only for the driver: other sources of the kernel may warn in a build with more checks.
        Path("Kbuild"): b"subdir-ccflags-y := -Werror\nobj-y += driver/\n",
    }
    for part in parts:
        found = [driver / part] if (driver / part).is_file() else sorted((driver / part).rglob("*"))
        for path in found:
            if path.is_file() and is_source(path):
                wanted[Path("driver") / path.relative_to(driver)] = path.read_bytes()
    return wanted


def wanted_options(fragment: str) -> list[str]:
    """The lines of @fragment that must be in .config, as Kconfig writes them. For an option that occurs twice, the last
    one."""
    wanted: dict[str, str] = {}
    for line in map(str.strip, fragment.splitlines()):
        if found := re.fullmatch(r"(CONFIG_\w+)=.+|# (CONFIG_\w+) is not set", line):
            wanted[found[1] or found[2]] = line
    return list(wanted.values())


def dropped_options(fragment: str, config: str) -> list[str]:
    """Options of @fragment that @config lacks. An unknown option is equivalent to 'n'."""
    have = set(config.splitlines())
    dropped = []
    for line in wanted_options(fragment):
        unset = re.fullmatch(r"# (CONFIG_\w+) is not set", line)
        if unset:
            missing = any(other.startswith(f"{unset[1]}=") for other in have)
        else:
            missing = not have & {line, RENAMED.get(line, line)}
        if missing:
            dropped.append(line)
    return dropped


def first_error(log: str) -> str:
    """The line of a build log that has the cause of the failure."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for sign in (r"\berror:", r"undefined reference", r"\*\*\*", ""):
        for line in lines:
            if re.search(sign, line):
                return line
    return "make failed without output"


def _key(package: Path, fragment: str, use: str, on: arch.Arch) -> str:
    gcc = f"{on.compiler if arch.foreign(on) else ''}gcc"
    compiler = packages.run([gcc, "--version"], "get the compiler's version", package.parent)
    # The digest has the options, not the file: a changed comment needs no new kernel.
    parts = [
        str(RECIPE),
        package.name,
        compiler,
        *wanted_options(fragment),
        *([use] if use else []),
    ]
    return f"{package.stem}-{store.digest(part.encode() for part in parts)[:12]}"


def _create(package: Path, path: Path) -> None:
    print(f"unpacking {package.name}", flush=True)
    with store.new_folder(path) as scratch:
        source.unpack(package, scratch)
        (scratch / OVERLAY).mkdir()
        for name, line in (
            ("Kconfig", f'\nsource "{OVERLAY}/Kconfig"\n'),
            ("Makefile", f"\nobj-y += {OVERLAY.name}/\n"),
        ):
            with open(scratch / OVERLAY.parent / name, "a", encoding="utf-8") as handle:
                handle.write(line)
        for name in ("Kconfig", "Kbuild"):
            (scratch / OVERLAY / name).touch()


def _prune(package: Path, keep: Path) -> None:
    series = package.name.split("_", 1)[0]
    trees = [path for path in keep.parent.glob(f"{series}_*") if path.is_dir() and path != keep]
    for old in sorted(trees, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT_TREES - 1 :]:
        with store.locked_now(lock(old)) as free:
            if free:
                shutil.rmtree(old, ignore_errors=True)


def _compiler_cache(env: Mapping[str, str]) -> dict[str, str]:
    """Variables with which `gcc` is ccache's: a restored source then costs no compilation. The name of the compiler is
    part of kbuild's commands, so it must stay the same."""
    if not CCACHE.is_dir():
        return {}
    return {
        "PATH": f"{CCACHE}:{env.get('PATH', os.defpath)}",
        "CCACHE_DIR": str(store.cache() / "ccache"),
        "CCACHE_MAXSIZE": "4G",
    }


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=KILL_DEADLINE_S)
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
