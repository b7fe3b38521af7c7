# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C++ of the project, two files at a time; clean files are remembered by content."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

# Preset, and what must be generated before its sources can be parsed.
PRESETS = {"tidy": ("pmuconf_rules_files", "pmuconf_bpf_files"), "fuzz": ("config_fuzzer",)}


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


def inputs_key(root: Path, entry: dict[str, str]) -> str:
    """Content hash of what decides the verdict: program, settings, the file, what it includes."""
    said = version() + entry["command"].replace(str(root), "")
    digest = hashlib.sha256(said.encode())
    for path in [root / ".clang-tidy", *inputs(root, entry)]:
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def lint(root: Path, preset: str, source: Path, entry: dict[str, str]) -> list[str]:
    try:
        stamp = cache_folder() / inputs_key(root, entry)
    except subprocess.CalledProcessError as error:
        return (error.stderr or str(error)).strip().splitlines()
    if stamp.exists():
        return []
    done = subprocess.run(
        ["clang-tidy", "--quiet", "-p", f"build/{preset}", str(source)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
        return []
    return done.stdout.strip().splitlines() or done.stderr.strip().splitlines()


def findings(root: Path) -> list[str]:
    """What clang-tidy says of every C++ file that the presets compile, generated ones aside."""
    jobs: dict[Path, tuple[str, dict[str, str]]] = {}
    try:
        for preset in PRESETS:
            for source, entry in compile_commands(root, preset).items():
                if source.suffix == ".cpp" and root / "build" not in source.parents:
                    jobs.setdefault(source, (preset, entry))
    except RuntimeError as error:
        return [str(error)]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        results = pool.map(lambda job: lint(root, job[1][0], job[0], job[1][1]), jobs.items())
        return [line for found in results for line in found]
