# SPDX-License-Identifier: Apache-2.0
"""The manual pages of a release, made of the help texts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ci.release.programs import run
from ci.release.source import Source
from pmubase import store

PURPOSES = {
    "pmuconf": "conformance suite for Linux PMU drivers",
    "pmuvm": "run the conformance suite pmuconf in virtual machines",
}
COMMANDS = {
    "pmuconf": (
        "list",
        "target",
        "run",
        "probe",
        "accuracy",
        "watch",
        "repro",
        "specify",
        "compare",
        "fuzz",
        "explain",
        "case",
        "report",
    ),
    "pmuvm": ("kernels", "fetch", "module", "run", "probe", "compare", "page", "exec"),
}
"""The commands whose options the pages describe."""


def write(source: Source, program: Path, out: Path) -> list[Path]:
    """Writes the pages to a folder. `program` is the pmuconf that runs on this machine."""
    with store.scratch(out) as folder:
        # Both print the name by which they were called.
        (folder / "pmuconf").symlink_to(program.resolve())
        start = f"cd {source.root} && exec {sys.executable} -B -m vm"
        _script(folder / "pmuvm", [f'{start} "$@"'])
        return [_write(name, source, folder, out) for name in COMMANDS]


def _write(name: str, source: Source, folder: Path, out: Path) -> Path:
    """help2man(1) calls a script, which prints the help of all commands."""
    page = out / f"{name}.1"
    lines = [f'[ "$1" = --version ] && echo "{name} {source.version}" && exit', f"{name} --help"]
    for command in COMMANDS[name]:
        lines.append(f"echo; echo 'Options of {name} {command}:'; {name} {command} --help")
    _script(folder / "help", lines)
    words = ["help2man", "--no-info", "--name", PURPOSES[name], "--output", str(page)]
    path = f"{folder}:{os.environ['PATH']}"
    environment = os.environ | source.environment | {"PATH": path, "COLUMNS": "80"}
    run([*words, str(folder / "help")], env=environment)
    return page


def _script(path: Path, lines: list[str]) -> None:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)
