# SPDX-License-Identifier: Apache-2.0
"""Builds perf_event_tests as static programs, in the cache by the content of its sources."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Sequence

from vm import store
from vm.errors import PmuvmError

from . import source

BUILD_S = 1800
COMPILER = "gcc"
FLAGS = ("CC=gcc -static -fno-inline -fno-ipa-pure-const", "LDFLAGS=-s")
"""Words for the suite's make. Tests have breakpoints at functions that they call, so no function may be inlined. The
compiler then must not know that a function has no effect, or it moves the call out of the measured code. Without
symbols, all tests fit into a guest's memory."""
FAILED = "failed.json"
"""File with the tests that do not build, each with the compiler's first error."""


@dataclasses.dataclass(frozen=True)
class Suite:
    """The built tests."""

    digest: str
    """A digest of the sources and the compiler."""
    tests: tuple[str, ...]
    """All names, in the suite's order."""
    programs: dict[str, pathlib.Path]
    """The program of each test that was built."""
    failed: dict[str, str]
    """The reason for each test that was not built."""


def build(given: pathlib.Path | None) -> Suite:
    """The built tests of the sources `given` (as in source.copy_to). They are built if the cache does not have them."""
    folder = store.cache() / "peer"
    with store.scratch(folder) as scratch:
        source.copy_to(given, scratch)
        digest = store.digest([_compiler(), *map(str.encode, FLAGS), *store.tree_parts(scratch)])
        names = source.tests((scratch / source.SCRIPT).read_text("utf-8"))
        built = folder / digest
        with store.locked(folder / f"{digest}.lock"):
            if not (built / FAILED).is_file():
                _build(scratch, names, built)
    programs = {name: built / name for name in names if (built / name).is_file()}
    failed = json.loads((built / FAILED).read_text("utf-8"))
    return Suite(digest, tuple(names), programs, failed)


def _build(tree: pathlib.Path, names: Sequence[str], built: pathlib.Path) -> None:
    parts = ["lib", *sorted({f"tests/{name.split('/')[0]}" for name in names})]
    for number, part in enumerate(parts, 1):
        print(
            f"building perf_event_tests: {number}/{len(parts)} {part}", file=sys.stderr, flush=True
        )
        if not (tree / part).is_dir():
            continue
        done = _make(tree / part, ["-k", f"-j{os.cpu_count() or 1}"])
        if part == "lib" and done.returncode != 0:
            raise PmuvmError("the library of perf_event_tests does not build", done.stderr[-2000:])
    failed = {}
    with store.new_folder(built) as out:
        for name in names:
            program = tree / "tests" / name
            if program.is_file():
                (out / name).parent.mkdir(exist_ok=True)
                shutil.copy2(program, out / name)
            else:
                failed[name] = _reason(program)
        (out / FAILED).write_text(json.dumps(failed, indent=1) + "\n", encoding="utf-8")


def _reason(program: pathlib.Path) -> str:
    """The first error of the build of one test."""
    if not program.parent.is_dir():
        return f"no folder {program.parent.name}"
    lines = _make(program.parent, [program.name]).stderr.splitlines()
    errors = [line for line in lines if "error" in line or "undefined reference" in line]
    return (errors or lines or ["make builds no such program"])[0].strip()


def _make(folder: pathlib.Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["make", "-s", *words, *FLAGS],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=BUILD_S,
            env={**os.environ, "LC_ALL": "C", "MAKEFLAGS": ""},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PmuvmError(f"cannot build perf_event_tests: {error}") from error


def _compiler() -> bytes:
    """The compiler's version."""
    try:
        done = subprocess.run([COMPILER, "--version"], capture_output=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise PmuvmError(f"no working {COMPILER} on this machine: {error}") from error
    return done.stdout
