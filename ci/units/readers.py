# SPDX-License-Identifier: Apache-2.0
"""Finds the units that read a file of the project, from the inputs of their last passes."""

from __future__ import annotations

import fnmatch
import functools
import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from ci.units import records
from ci.units.inputs import CASES, Inputs, driver_inputs
from pmubase.errors import UserError
from vm import suite

DEPENDENCY = re.compile(r"^(\S+): #deps", re.M)
TIMEOUT_S = 120


class Readers:
    """The inputs of all recorded units, and the source files of built inputs."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._units = latest()

    def units_reading(self, path: str) -> list[str]:
        """The names of the units that read the file `path`, relative to the root."""
        behind = {
            name
            for preset in ("guest", "asan", "fuzz", "tidy")
            for name in self._built(path, preset)
        }
        return sorted(
            unit
            for unit, names in self._units.items()
            if any(reads(name, path) for name in names) or behind & set(names)
        )

    def _built(self, path: str, preset: str) -> set[str]:
        """The inputs that one preset builds from a file."""
        folder = self._root / "build" / preset
        objects = {name for name, files in self._dependencies(preset).items() if path in files}
        if path in self._generated(preset):
            objects.add("")
        if not objects:
            return set()
        if preset != "guest":
            return {
                name
                for names in self._units.values()
                for name in names
                if name.startswith(f"product:{folder.relative_to(self._root)}/")
            }
        cases = str(CASES).removeprefix("build/guest/")
        found = set()
        for name in objects:
            if name.startswith(f"{cases}/"):
                source = name.removeprefix(f"{cases}/").removesuffix(".o")
                found |= {f"case:conformance/{source}", "suite:cases"}
            elif "pmuconf_report.dir" in name:
                found.add("suite:report")
            else:
                found |= {"suite:runner", "suite:report"}
        return found

    @functools.cache
    def _dependencies(self, preset: str) -> dict[str, set[str]]:
        """The project's files that each object was compiled from, from the compiler's dependency files."""
        folder = self._root / "build" / preset
        found: dict[str, set[str]] = {}
        current: set[str] = set()
        for line in _ninja(folder, "-t", "deps").splitlines():
            match = DEPENDENCY.match(line)
            if match:
                current = found.setdefault(match[1], set())
            elif line.startswith("    "):
                path = (folder / line.strip()).resolve()
                if path.is_relative_to(self._root):
                    current.add(str(path.relative_to(self._root)))
        return found

    @functools.cache
    def _generated(self, preset: str) -> set[str]:
        """The project's files that code generators read."""
        folder = self._root / "build" / preset
        found = set()
        for line in _ninja(folder, "-t", "inputs", "all").splitlines():
            path = (folder / line.strip()).resolve()
            if path.is_relative_to(self._root) and path.suffix in (".toml", ".py"):
                found.add(str(path.relative_to(self._root)))
        return found


def reads(name: str, path: str) -> bool:
    """Whether an input depends on a file's content or name."""
    kind, _, rest = name.partition(":")
    if kind == "file":
        return rest == path
    if kind == "glob":
        return fnmatch.fnmatchcase(path, rest)
    if kind == "target":
        return _has_driver(rest) and any(reads(each, path) for each in driver_inputs())
    return False


@functools.cache
def _has_driver(target: str) -> bool:
    """Whether the module of a target is built from this project. True if nothing can read the target yet."""
    try:
        return suite.find_target(target).module is not None
    except UserError:
        return True


def latest() -> Mapping[str, Iterable[str]]:
    """The input names of the last pass of each unit."""
    found: dict[str, Iterable[str]] = {}
    for place in sorted(records.folder().glob("*/")):
        paths = sorted(place.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in paths[-1:]:
            try:
                document = json.loads(path.read_text(encoding="utf-8"))
                found[str(document["unit"])] = tuple(document["inputs"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
    return found


def unread(root: Path) -> list[str]:
    """The files of the project that no recorded unit reads."""
    readers = Readers(root)
    return [name for name in Inputs(root).files if not readers.units_reading(name)]


def _ninja(folder: Path, *words: str) -> str:
    if not (folder / "build.ninja").is_file():
        return ""
    done = subprocess.run(
        ["ninja", "-C", str(folder), *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return done.stdout
