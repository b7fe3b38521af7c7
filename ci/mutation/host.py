# SPDX-License-Identifier: Apache-2.0
"""Builds the programs that judge mutants on this machine: the driver's unit tests and the fuzz harnesses.

They are built from a copy of the sources, with ninja, so that a mutant costs only its own objects and a link.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from faults import mutant_file
from faults.mutant_file import Mutant
from pmubase import store
from pmubase.errors import UserError

UNIT_TESTS = "driver_tests"
PROGRAMS = "programs"
"""Folder of the programs, since a harness may have the name of a folder with sources."""
LIMIT_S = 1800
"""Time limit of a build. The first one compiles everything."""
JOBS = 2
HEAVY = ("ktap", "target_toml")
"""Harnesses that need a parser of TOML or JSON, which takes minutes to compile on a slow machine."""
LIGHT = re.compile(r"(conformance/.*/(kernel_range|one_line|sysfs)|oracle/open_\w+)\.cpp")
"""The files of the suite that the other harnesses need."""
PURE = ("driver/include", "driver/core", "driver/model")
SUFFIXES = (".c", ".cpp", ".h", ".inc")
HEADERS = (*PURE, "driver/msr", "driver/unit", "kunit/vectors", "conformance", "oracle", "fuzz")
SANITIZED = "-g -O1 -DNDEBUG -fsanitize=undefined -fno-sanitize-recover=all"
COVERED = f"{SANITIZED} -fsanitize=fuzzer-no-link"
RULES = """\
rule compile
  command = ccache $compiler $flags -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule archive
  command = rm -f $out && ar rc $out $in
rule link
  command = $compiler $flags $in -o $out $libraries
"""
PLAIN_FOLDERS = "-Idriver -Idriver/include -Idriver/core -Idriver/model -Ikunit/vectors"
DRIVER_FOLDERS = "-Idriver/include -Idriver"
SUITE_FOLDERS = "-Idriver -Idriver/model -I. -Iconformance -Idriver/include"


class HostTree:
    """A copy of the sources of `root` in `folder`, and the programs that are built from it."""

    def __init__(self, root: Path, folder: Path) -> None:
        """Copies changed sources."""
        self._root = root
        self._folder = folder
        names = sources(root)
        for name in names:
            self._restore(name)
        for path in [path for path in folder.rglob("*") if path.suffix in SUFFIXES]:
            if path.relative_to(folder) not in names:
                path.unlink()  # The project's file was removed.
        store.write(folder / "build.ninja", ninja(names).encode())

    @contextlib.contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """The copy has the mutant's change while the context is entered. PatchError if the patch does not apply."""
        try:
            mutant_file.apply(mutant, self._folder)
            yield
        finally:
            for name in mutant_file.touched(mutant):
                self._restore(Path(name))

    def build(self, target: str) -> Path:
        """Builds `target` (UNIT_TESTS, or a harness by its name) and returns the program. UserError if that fails."""
        program = f"{PROGRAMS}/{target}"
        words = ["ninja", "-C", str(self._folder), f"-j{JOBS}", program]
        done = subprocess.run(
            words,
            env=_ccache_environment(self._folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
        if done.returncode != 0:
            lines = [line for line in done.stdout.splitlines() if "error" in line]
            why = (lines or done.stdout.splitlines() or [done.stderr])[0].strip()
            raise UserError(f"{target} does not build: {why}")
        return self._folder / program

    def _restore(self, name: Path) -> None:
        """Writes a file only if it differs, so that an unchanged one keeps its time."""
        copy, original = self._folder / name, self._root / name
        if not original.is_file():
            copy.unlink(missing_ok=True)  # A mutant added it.
            return
        content = original.read_bytes()
        if not copy.is_file() or copy.read_bytes() != content:
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)


def suite_sources(root: Path) -> list[str]:
    """The files of the suite that harnesses need."""
    lines = (root / "fuzz" / "suite.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def sources(root: Path) -> set[Path]:
    """All files that the programs are built from, relative to `root`."""
    found = {Path(name) for name in suite_sources(root)}
    for folder in HEADERS:
        for path in (root / folder).rglob("*"):
            if path.suffix in (".h", ".inc"):
                found.add(path.relative_to(root))
    for pattern in (*(f"{component}/*.c" for component in PURE), "driver/msr/numbers.c"):
        found |= {path.relative_to(root) for path in root.glob(pattern)}
    for pattern in ("driver/unit/*.cpp", "fuzz/*_fuzzer.cpp"):
        found |= {path.relative_to(root) for path in root.glob(pattern)}
    return found


def ninja(names: Iterable[Path]) -> str:
    """The content of build.ninja: the unit tests, and each harness of the sources `names`."""
    ordered = sorted(str(name) for name in names)
    lines = [RULES]

    def compile_into(place: str, name: str, compiler: str, flags: str) -> str:
        lines.append(f"build {place}/{name}.o: compile {name}")
        lines.append(f"  compiler = {compiler}\n  flags = {flags}")
        return f"{place}/{name}.o"

    plain = [
        compile_into("plain", name, "gcc", f"-std=gnu11 -O1 {PLAIN_FOLDERS}")
        for name in ordered
        if name.endswith(".c")
    ]
    plain += [
        compile_into("plain", name, "g++", f"-std=c++20 -O1 {PLAIN_FOLDERS}")
        for name in ordered
        if name.startswith("driver/unit/") and name.endswith(".cpp")
    ]
    lines.append(f"build {PROGRAMS}/{UNIT_TESTS}: link {' '.join(plain)}")
    lines.append("  compiler = g++\n  flags = -pthread")
    lines.append("  libraries = -lgtest_main -lgmock -lgtest")
    driver = [
        compile_into("fuzzed", name, "clang", f"-std=c11 {COVERED} -I{folder} {DRIVER_FOLDERS}")
        for name in ordered
        if name.endswith(".c") and (folder := name.rpartition("/")[0]) in PURE
    ]
    lines.append(f"build driver.a: archive {' '.join(driver)}")
    suite = [
        compile_into("fuzzed", name, "clang++", f"-std=c++20 {COVERED} {SUITE_FOLDERS}")
        for name in ordered
        if name.endswith(".cpp") and name.startswith(("conformance/", "oracle/"))
    ]
    light = [place for place in suite if LIGHT.match(place.removeprefix("fuzzed/"))]
    lines.append(f"build heavy.a: archive {' '.join(suite)}")
    lines.append(f"build light.a: archive {' '.join(light)}")
    for name in ordered:
        if name.endswith("_fuzzer.cpp"):
            subject = Path(name).name.removesuffix("_fuzzer.cpp")
            flags = f"-std=c++20 {SANITIZED} {SUITE_FOLDERS}"
            harness = compile_into("harness", name, "clang++", flags)
            library = "heavy.a" if subject in HEAVY else "light.a"
            lines.append(f"build {PROGRAMS}/{subject}: link {harness} {library} driver.a")
            lines.append(f"  compiler = clang++\n  flags = {SANITIZED} -fsanitize=fuzzer")
    return "\n".join([*lines, ""])


def _ccache_environment(folder: Path) -> dict[str, str]:
    """The environment in which ccache uses the cache of ci/build, and finds objects of other copies."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return os.environ | {
        "CCACHE_DIR": str(Path(base) / "pmuconf" / "ccache"),
        "CCACHE_BASEDIR": str(folder.resolve()),
        "CCACHE_NOHASHDIR": "1",
    }
