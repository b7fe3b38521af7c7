# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C++ of the project, two files at a time; clean files are remembered by content."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
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


def inputs_key(root: Path, entry: dict[str, str]) -> str:
    """Content hash of all that decides the verdict on a file: it, every header, the settings."""
    digest = hashlib.sha256(entry["command"].replace(str(root), "").encode())
    build = root / "build"
    headers = [p for p in root.rglob("*.h") if build not in p.parents]
    for path in [Path(entry["file"]), root / ".clang-tidy", *sorted(headers)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def lint(root: Path, preset: str, source: Path, entry: dict[str, str]) -> list[str]:
    stamp = cache_folder() / inputs_key(root, entry)
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
