# SPDX-License-Identifier: GPL-2.0-only
"""A built kernel tree in the cache, by content, with driver/ and kunit/ overlaid by content."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pmukunit import source
from pmuvm import packages, store
from pmuvm.errors import PmuvmError

BUILD_DEADLINE_S = 3600
KILL_DEADLINE_S = 10

# Changes what a tree is made of beside source, fragment and compiler: count up to start afresh.
RECIPE = 1

OVERLAY = Path("drivers/perf/refpmu")
COPIED = {".c", ".h", ".inc"}
COPIED_NAMES = {"Kbuild", "Kconfig"}
KEPT_TREES = 3


@dataclass(frozen=True)
class Inputs:
    """What a kernel is built from."""

    series: str
    fragment: Path
    driver: Path
    kunit: Path
    log: Path


def build(inputs: Inputs, cache: Path) -> Path:
    """Builds what is stale and returns a bzImage of the caller's own."""
    with store.locked(cache / f"{inputs.series}.lock"), store.writing(cache):
        package = source.ensure(inputs.series, cache)
        tree = cache / _key(package, inputs.fragment)
        if not tree.is_dir():
            _create(package, tree)
        os.utime(tree)
        _prune(cache, keep=tree)
        _overlay(inputs, tree / OVERLAY)
        _configure(inputs.fragment, tree, inputs.log)
        print("kunit: building (first time: minutes, then seconds)", flush=True)
        _make(tree, [f"-j{os.cpu_count() or 1}", "bzImage"], inputs.log)
        # Copied out under the lock: another run may rebuild the tree while this one boots.
        image = inputs.log.parent / f"bzImage-{inputs.series}"
        shutil.copyfile(tree / "arch/x86/boot/bzImage", image)
        return image


def wanted_options(fragment: str) -> list[str]:
    """The lines of @fragment that must stand in .config, as Kconfig writes them."""
    lines = [line.strip() for line in fragment.splitlines()]
    return [
        line
        for line in lines
        if re.fullmatch(r"CONFIG_\w+=.+", line) or re.fullmatch(r"# CONFIG_\w+ is not set", line)
    ]


def dropped_options(fragment: str, config: str) -> list[str]:
    """Options of @fragment that @config does not have; one that is unknown may well be 'n'."""
    have = set(config.splitlines())
    dropped = []
    for line in wanted_options(fragment):
        unset = re.fullmatch(r"# (CONFIG_\w+) is not set", line)
        if unset:
            missing = any(other.startswith(f"{unset[1]}=") for other in have)
        else:
            missing = line not in have
        if missing:
            dropped.append(line)
    return dropped


def _key(package: Path, fragment: Path) -> str:
    compiler = packages.run(["gcc", "--version"], "ask for the compiler's version", package.parent)
    # The options, not the file: a comment needs no new kernel.
    options = wanted_options(fragment.read_text(encoding="utf-8"))
    parts = [str(RECIPE), package.name, compiler, *options]
    return f"{package.stem}-{store.digest(part.encode() for part in parts)[:12]}"


def _create(package: Path, tree: Path) -> None:
    print(f"kunit: unpacking {package.name}", flush=True)
    with store.new_folder(tree) as scratch:
        source.unpack(package, scratch)
        for name, line in (
            ("Kconfig", f'\nsource "{OVERLAY}/Kconfig"\n'),
            ("Makefile", f"\nobj-y += {OVERLAY.name}/\n"),
        ):
            with open(scratch / OVERLAY.parent / name, "a", encoding="utf-8") as handle:
                handle.write(line)


def _prune(cache: Path, keep: Path) -> None:
    trees = [path for path in cache.glob("linux-source-*") if path.is_dir() and path != keep]
    for old in sorted(trees, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT_TREES - 1 :]:
        shutil.rmtree(old, ignore_errors=True)


def _overlay(inputs: Inputs, target: Path) -> None:
    """Makes @target hold the sources; a file with the same content keeps its time."""
    wanted: dict[Path, bytes] = {
        Path("Kconfig"): "".join(
            f'source "drivers/perf/refpmu/{part}/Kconfig"\n' for part in ("driver", "kunit")
        ).encode(),
        Path("Kbuild"): b"obj-y += driver/ kunit/\n",
    }
    for part, folder in (("driver", inputs.driver), ("kunit", inputs.kunit)):
        if not (folder / "Kbuild").is_file():
            raise PmuvmError(f"{folder}: has no Kbuild")
        for path in sorted(folder.rglob("*")):
            if path.is_file() and (path.suffix in COPIED or path.name in COPIED_NAMES):
                if not path.name.endswith(".mod.c"):
                    wanted[Path(part) / path.relative_to(folder)] = path.read_bytes()
    for name, content in wanted.items():
        path = target / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in sorted(target.rglob("*")):
        if path.is_file() and (path.suffix in COPIED or path.name in COPIED_NAMES):
            if path.relative_to(target) not in wanted:
                path.unlink()


def _configure(fragment: Path, tree: Path, log: Path) -> None:
    """tinyconfig and the fragment; again only when the fragment or a Kconfig of ours changed."""
    text = fragment.read_text(encoding="utf-8")
    kconfigs = sorted((tree / OVERLAY).rglob("Kconfig"))
    digest = store.digest([text.encode(), *(path.read_bytes() for path in kconfigs)])
    stamp = tree / ".pmuconf-config"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return
    stamp.unlink(missing_ok=True)
    _make(tree, ["tinyconfig"], log)
    with open(tree / ".config", "a", encoding="utf-8") as handle:
        handle.write(text)
    _make(tree, ["olddefconfig"], log)
    dropped = dropped_options(text, (tree / ".config").read_text(encoding="utf-8"))
    if dropped:
        raise PmuvmError(f"{fragment}: the kernel does not take {', '.join(dropped)}")
    stamp.write_text(digest, encoding="utf-8")


def _make(tree: Path, targets: list[str], log: Path) -> None:
    argv = ["make", "-C", str(tree), "ARCH=x86_64", *targets]
    # A user's make flags and kernel variables must not reach this build.
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "KBUILD"))}
    env["LC_ALL"] = "C"
    with open(log, "wb") as handle:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=handle, stderr=handle, env=env, process_group=0
        )
        try:
            status = process.wait(timeout=BUILD_DEADLINE_S)
        except BaseException as caught:
            _kill_group(process)
            if isinstance(caught, subprocess.TimeoutExpired):
                raise PmuvmError(f"{log}: make not done after {BUILD_DEADLINE_S} s") from None
            raise
    if status == 0:
        return
    said = log.read_text(encoding="utf-8", errors="replace")
    if source.FULL in said:
        # A tree that cannot be finished only keeps the disk full.
        shutil.rmtree(tree, ignore_errors=True)
        raise PmuvmError(f"cannot write to {tree}: {source.FULL}")
    raise PmuvmError(f"{log}: {first_error(said)}")


def first_error(log: str) -> str:
    """The line of a build log that says why it failed."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for sign in (r"\berror:", r"undefined reference", r"\*\*\*", ""):
        for line in lines:
            if re.search(sign, line):
                return line
    return "make failed and said nothing"


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=KILL_DEADLINE_S)
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
