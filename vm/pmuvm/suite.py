# SPDX-License-Identifier: Apache-2.0
"""Runs the host's `pmuconf` to list cases and to judge and report results."""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from typing import Any

from pmuvm import arch, qemu, store
from pmuvm.arch import Arch
from pmuvm.errors import PmuvmError

TARGETS = store.ROOT / "conformance" / "targets"
TIMEOUT_S = 300
RENAMED = re.compile(r"pmuconf: case \S+ is now \S+")
"""The notice of pmuconf about an old case id. It is passed on to the user."""


@dataclasses.dataclass(frozen=True)
class Target:
    """The parts of a target file that pmuvm needs; the suite reads the others."""

    name: str
    path: pathlib.Path
    bases: tuple[pathlib.Path, ...]
    """The files that it is based on: its base, the base of that, …"""
    module: str | None
    """The module with the PMU's driver, or None if the kernel has the driver."""
    parameters: tuple[str, ...]
    slowness: float
    cpus: int
    memory_mb: int
    accel: str | None
    icount: int | None
    """As in qemu.Machine."""
    cpu: str | None
    """The processor model of QEMU, instead of the accelerator's default."""
    arch: str | None
    """The only architecture whose guests have the PMU; None if all have it."""
    kind: str | None
    """The kind of the built kernels that have the PMU; None if any kernel may have it."""
    cmdline: str
    """Words for the kernel's command line."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One case, as in the output of `pmuconf list --json`."""

    id: str
    rules: tuple[str, ...]
    budget_s: float
    file: str
    line: int

    def deadline_s(self, slowness: float) -> int:
        """Seconds after which the agent ends the case."""
        return max(1, math.ceil(self.budget_s * slowness))


@dataclasses.dataclass(frozen=True)
class Selection:
    """The cases that a user selects; empty strings select all."""

    case: str = ""
    rule: str = ""
    profile: str = ""

    @property
    def partial(self) -> bool:
        """Whether it can omit cases."""
        return bool(self.case or self.rule)

    def arguments(self) -> list[str]:
        """The selection as arguments of pmuconf."""
        pairs = (("--case", self.case), ("--rule", self.rule), ("--profile", self.profile))
        return [word for pair in pairs if pair[1] for word in pair]


def binary() -> pathlib.Path:
    """The host's static pmuconf, which also runs in guests of the same architecture."""
    return _built(os.environ.get("PMUCONF_BINARY") or "", "guest")


def agent(of: Arch) -> pathlib.Path:
    """The static pmuconf for a guest."""
    return binary() if not arch.foreign(of) else _built("", f"guest-{of.name}")


def tool(name: str, of: Arch | None = None) -> pathlib.Path:
    """The program `name`, e.g. "tools/costs", in the build folder of pmuconf; without `of` that of the host."""
    of = of or arch.host()
    preset = f"guest-{of.name}" if arch.foreign(of) else "guest"
    return _program(agent(of).parent.parent / name, preset)


def _built(given: str, preset: str) -> pathlib.Path:
    path = pathlib.Path(given or store.ROOT / "build" / preset / "conformance/pmuconf")
    return _program(path, preset).resolve()


def _program(path: pathlib.Path, preset: str) -> pathlib.Path:
    if not os.access(path, os.X_OK):
        raise PmuvmError(f"no program {path}: build it with ci/build {preset} pmuconf")
    return path


def find_target(name: str) -> Target:
    """The target called `name`, or the one in the file at that path."""
    path = TARGETS / f"{name}.toml"
    if "/" in name or not path.is_file():
        path = pathlib.Path(name)
        if not name.endswith(".toml") or not path.is_file():
            known = ", ".join(sorted(p.stem for p in TARGETS.glob("*.toml")))
            raise PmuvmError(
                f"unknown TARGET '{name}'; known: {known}, or the path of a target's .toml"
            )
    files = _with_bases(path.resolve())
    port = _value(files, "target", "port", "")
    accel = _value(files, "vm", "accel", "")
    only = _value(files, "vm", "arch", "")
    if only and only not in arch.ARCHES:
        raise PmuvmError(f"{path}: vm.arch is '{only}'; known: {', '.join(arch.ARCHES)}")
    kind = _value(files, "vm", "kernel", "")
    if accel and accel not in qemu.ACCELS:
        raise PmuvmError(f"{path}: vm.accel is '{accel}'; known: {', '.join(qemu.ACCELS)}")
    return Target(
        name=_value(files[:1], "target", "name", "") or path.stem,
        path=files[0].path,
        bases=tuple(file.path for file in files[1:]),
        module=_value(files, "vm", "module", "refpmu" if port and not kind else "") or None,
        parameters=tuple(_value(files, "vm", "parameters", "").split()),
        slowness=_value(files, "target", "slowness", 1.0),
        cpus=_value(files, "vm", "smp", 2),
        memory_mb=_value(files, "vm", "memory_mb", 512),
        accel=accel or None,
        icount=_value(files, "vm", "icount", 0) or None,
        cpu=_value(files, "vm", "cpu", "") or None,
        arch=only or None,
        kind=kind or None,
        cmdline=_value(files, "vm", "cmdline", ""),
    )


def targets_on(of: str) -> list[str]:
    """The names of the project's targets that guests of an architecture can run."""

    def elsewhere(name: str) -> bool:
        try:
            return find_target(name).arch not in (None, of)
        except PmuvmError:
            return False  # A run of that target reports the error in its file.

    return [
        name for name in sorted(path.stem for path in TARGETS.glob("*.toml")) if not elsewhere(name)
    ]


def cases(target: Target, selection: Selection) -> list[Case]:
    """The selected cases in the suite's order. PmuvmError if there is none."""
    found = _list(target, selection.arguments())
    if found:
        return found
    every = _list(target, [])
    if selection.rule:
        names = sorted({rule for case in every for rule in case.rules})
        raise PmuvmError(_unknown("RULE", selection.rule, names))
    if selection.case:
        raise PmuvmError(_unknown("CASE", selection.case, [case.id for case in every]))
    raise PmuvmError(f"nothing to run: no case of the suite applies to target {target.name}")


def report(
    stream: pathlib.Path, target: Target, selection: Selection, out: pathlib.Path, again: str
) -> int:
    """Runs `pmuconf report` on the recorded stream and returns its exit status.

    `again` is the repro command without the case's id at its end.
    """
    argv = [str(binary()), "report", "--stream", str(stream), "--target", str(target.path)]
    argv += ["--profile", selection.profile] if selection.profile else []
    argv += ["--again", again, "--out", str(out)]
    return subprocess.run(argv, timeout=TIMEOUT_S).returncode


def _list(target: Target, arguments: Sequence[str]) -> list[Case]:
    argv = [str(binary()), "list", "--json", "--target", str(target.path), *arguments]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PmuvmError(f"cannot run {argv[0]}: {error}") from error
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    for line in filter(RENAMED.fullmatch, lines):
        print(line, file=sys.stderr)
    if done.returncode != 0:
        errors = [line for line in lines if not RENAMED.fullmatch(line)]
        raise PmuvmError(errors[0] if errors else f"pmuconf list ended with {done.returncode}")
    try:
        return [
            Case(
                id=str(case["id"]),
                rules=tuple(case["rules"]),
                budget_s=float(case["budget_s"]),
                file=str(case.get("file", "")),
                line=int(case.get("line", 0)),
            )
            for case in json.loads(done.stdout)["cases"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise PmuvmError(f"pmuconf list printed no list of cases: {error!r}") from error


def _unknown(variable: str, asked: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(asked.replace("*", ""), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    suites = sorted({name.split(".")[0] for name in names})
    known = names if len(names) <= 100 else [f"{suite}.*" for suite in suites]
    return f"unknown {variable} '{asked}'; {hint}known: {', '.join(known) or 'none'}"


@dataclasses.dataclass(frozen=True)
class _File:
    path: pathlib.Path
    tables: dict[str, Any]

    def table(self, name: str) -> dict[str, Any]:
        section = self.tables.get(name, {})
        if not isinstance(section, dict) or (name == "target" and name not in self.tables):
            raise PmuvmError(f"{self.path}: no table [{name}]")
        return section


def _with_bases(path: pathlib.Path) -> list[_File]:
    """A target's file and those that it is based on, which are in the same folder or in the project's."""
    files: list[_File] = []
    while True:
        if path in [file.path for file in files]:
            way = ", ".join(str(file.path) for file in files)
            raise PmuvmError(f"{files[-1].path}: key 'base' leads back to the start: {way}, {path}")
        try:
            files.append(_File(path, tomllib.loads(path.read_text(encoding="utf-8"))))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise PmuvmError(f"{path}: {error}") from error
        if "base" not in files[-1].tables:
            return files
        base = files[-1].tables["base"]
        name = f"{base}.toml" if isinstance(base, str) and "/" not in base else "/"
        beside = [folder / name for folder in (path.parent, TARGETS)]
        # In a guest the target's own file is called target.toml.
        found = [file for file in beside if file.is_file() and base != "target"]
        if not found:
            raise PmuvmError(
                f"{path}: key 'base' must name a target in the same folder, or one of the project's"
            )
        path = found[0].resolve()


def _value(files: Sequence[_File], table: str, key: str, default: Any) -> Any:
    """The value of a key in the first file that has it."""
    for file in files:
        if key not in file.table(table):
            continue
        value = file.table(table)[key]
        if isinstance(default, float) and type(value) is int:
            value = float(value)
        good = type(value) is type(default)
        if good and isinstance(value, (int, float)):
            good = value > 0
        if not good:
            kind = {str: "a text", int: "an integer above 0", float: "a number above 0"}
            raise PmuvmError(f"{file.path}: {table}.{key} must be {kind[type(default)]}")
        return value
    return default
