# SPDX-License-Identifier: Apache-2.0
"""The static programs of a release, each checked under the emulator of its architecture."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ci.release.source import Source
from pmubase.errors import UserError
from vm import arch
from vm.arch import Arch

MAX_BYTES = 10_000_000
TRIED_RULE = "CNT-001"
RUN_S = 500


def build(of: Arch, source: Source, out: Path) -> Path:
    """Builds the program for an architecture, and returns its file in the folder `out`."""
    preset = f"guest-{of.name}" if arch.foreign(of) else "guest"
    environment = os.environ | source.environment
    words = ["ci/build", preset, "pmuconf_release"]
    if subprocess.run(words, cwd=source.root, env=environment, check=False).returncode != 0:
        raise UserError(f"no program for {of.name}")
    made = out / f"pmuconf-{of.name}"
    shutil.copyfile(source.root / "build" / preset / "release" / "pmuconf", made)
    made.chmod(0o755)
    check(made, of, source)
    return made


def check(program: Path, of: Arch, source: Source) -> None:
    """UserError if a program is too large, is not static, or does not run."""
    size = program.stat().st_size
    if size >= MAX_BYTES:
        raise UserError(
            f"{program} has {size} bytes; a program of a release has less than {MAX_BYTES}"
        )
    headers = run(["readelf", "--program-headers", "--wide", str(program)])
    if "INTERP" in headers or "DYNAMIC" in headers:
        raise UserError(f"{program} is not static")
    emulator = [f"qemu-{of.machine}"] if arch.foreign(of) else []
    version = run([*emulator, str(program), "--version"])
    if f"pmuconf {source.version}, commit {source.commit}, " not in version:
        raise UserError(f"{program} --version prints '{version.strip()}'")
    if not run([*emulator, str(program), "explain", TRIED_RULE]).startswith(TRIED_RULE):
        raise UserError(f"{program} explain {TRIED_RULE} does not print the rule")


def run(words: list[str], cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """The output of a program. UserError if it fails."""
    name = Path(words[0]).name
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=RUN_S, check=False, cwd=cwd, env=env
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"cannot run {name}: {error}") from error
    if done.returncode != 0:
        raise UserError(
            f"{' '.join(words)}: status {done.returncode}",
            details=f"{done.stdout}{done.stderr}".strip(),
        )
    return done.stdout
