# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C++ of the project, two files at a time; clean files are remembered by content.

All of them take half an hour on two cores, so that `make check` takes what has changed of late, and of a
share each day what its time allows; those that are remembered cost nothing.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
import shlex
import subprocess
import time
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

# Preset, and what must be generated before its sources can be parsed.
PRESETS = {"tidy": ("pmuconf_rules_files", "pmuconf_bpf_files"), "fuzz": ("config_fuzzer",)}

COMMITS = 16
"""What so many commits before now have touched has changed of late."""


@dataclass(frozen=True)
class Share:
    """One of so many parts of the sources, that of a day; of 0 parts none."""

    parts: int
    day: datetime.date
    seconds: float = math.inf
    """After them no source is begun that has not changed of late."""

    def has(self, name: str) -> bool:
        """Whether a source of this name is in it."""
        if not self.parts:
            return False
        return zlib.crc32(name.encode()) % self.parts == self.day.toordinal() % self.parts


@dataclass(frozen=True)
class Source:
    """A file that a preset compiles, and what decides the verdict on it."""

    path: Path
    preset: str
    files: list[Path]
    stamp: Path


def cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "pmuconf" / "tidy"


def compile_commands(root: Path, preset: str) -> dict[Path, dict[str, str]]:
    """What the preset compiles, by source; configures it and builds what is generated."""
    command = ["ci/build", preset, *PRESETS[preset]]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    path = root / "build" / preset / "compile_commands.json"
    return {Path(entry["file"]): entry for entry in json.loads(path.read_text())}


def inputs(root: Path, entry: dict[str, str]) -> list[Path]:
    """The files of the project and of its build that a source includes, itself among them."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    command = [*words[:at], *words[at + 2 :], "-M"]
    done = subprocess.run(
        command, cwd=entry["directory"], check=True, capture_output=True, text=True
    )
    names = done.stdout.split(":", 1)[1].replace("\\\n", " ").split()
    paths = {(Path(entry["directory"]) / name).resolve() for name in names}
    return sorted(path for path in paths if root in path.parents)


@cache
def version() -> str:
    command = ["clang-tidy", "--version"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def inputs_key(root: Path, entry: dict[str, str], files: Sequence[Path]) -> str:
    """Content hash of what decides the verdict: program, settings, the file, what it includes."""
    said = version() + entry["command"].replace(str(root), "")
    digest = hashlib.sha256(said.encode())
    for path in [root / ".clang-tidy", *files]:
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def read(root: Path, job: tuple[Path, tuple[str, dict[str, str]]]) -> Source | list[str]:
    """What a source depends on, or what the compiler says of it."""
    path, (preset, entry) = job
    try:
        files = inputs(root, entry)
    except subprocess.CalledProcessError as error:
        return (error.stderr or str(error)).strip().splitlines()
    return Source(path, preset, files, cache_folder() / inputs_key(root, entry, files))


def changed(root: Path) -> set[Path] | None:
    """Files that are not as they were COMMITS commits ago; None if nothing tells."""
    command = ["git", "log", f"-{COMMITS}", "--pretty=", "--name-only"]
    local = ["git", "ls-files", "--modified", "--others", "--exclude-standard"]
    names: list[str] = []
    for words in (command, local):
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return None
        names += done.stdout.splitlines()
    return {root / name for name in names}


def chosen(
    root: Path, sources: Sequence[Source], share: Share, late: set[Path] | None
) -> list[Source]:
    """Those of the share, those of `late`, and for each header of `late` one that includes it."""
    if late is None:
        return list(sources)
    wanted = {
        source.path
        for source in sources
        if source.path in late or share.has(str(source.path.relative_to(root)))
    }
    seen = {file for source in sources if source.path in wanted for file in source.files}
    for source in sorted(sources, key=lambda each: each.path):
        if late & set(source.files) - seen:
            wanted.add(source.path)
            seen.update(source.files)
    return [source for source in sources if source.path in wanted]


def parted(
    root: Path, sources: Sequence[Source], share: Share, late: set[Path] | None
) -> tuple[list[Source], list[Source]]:
    """The chosen ones: those that must be looked at today, and the others of the share."""
    must = chosen(root, sources, Share(0, share.day), late)
    others = [each for each in chosen(root, sources, share, late) if each not in must]
    return must, others


def lint(root: Path, source: Source, end: float) -> list[str] | None:
    """What clang-tidy says of a source; None after `end`, by the clock of time.monotonic()."""
    if time.monotonic() > end:
        return None
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", f"build/{source.preset}", str(source.path)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        source.stamp.parent.mkdir(parents=True, exist_ok=True)
        source.stamp.touch()
        return []
    return done.stdout.strip().splitlines() or done.stderr.strip().splitlines()


def findings(root: Path, share: Share | None = None) -> list[str]:
    """What clang-tidy says of every C++ file that the presets compile, generated ones aside.

    With `share` of those in it, and of what has changed of late, alone.
    """
    jobs: dict[Path, tuple[str, dict[str, str]]] = {}
    try:
        for preset in PRESETS:
            for path, entry in compile_commands(root, preset).items():
                if path.suffix == ".cpp" and root / "build" not in path.parents:
                    jobs.setdefault(path, (preset, entry))
    except RuntimeError as error:
        return [str(error)]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        looked = list(pool.map(partial(read, root), jobs.items()))
        found = [line for each in looked if isinstance(each, list) for line in each]
        every = [each for each in looked if isinstance(each, Source)]
        new = [source for source in every if not source.stamp.exists()]
        first, then, end = new, list[Source](), math.inf
        if share:
            first, then = parted(root, every, share, changed(root))
            first, then = ([each for each in part if each in new] for part in (first, then))
            end = time.monotonic() + share.seconds
        left = len(new) - len(first) - len(then)
        # Those of the second kind begin when all of the first have.
        for lines in pool.map(
            partial(lint, root), first + then, [math.inf] * len(first) + [end] * len(then)
        ):
            if lines is None:
                left += 1
            else:
                found += lines
        if left:
            print(
                f"     clang-tidy: {left} of {len(every)} sources left to another day", flush=True
            )
        return found
