# SPDX-License-Identifier: Apache-2.0
"""Runs the host's `pmuconf` to list cases and to judge and report results."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import json
import math
import os
import pathlib
import subprocess
from collections.abc import Sequence
from typing import Any

import jsonschema

from pmubase import store
from pmubase.errors import UserError

from . import arch, release
from .arch import Arch
from .machine_options import MachineOptions

TARGETS = store.ROOT / "conformance" / "targets"
TIMEOUT_S = 300
MERGED_DAYS = 30
MERGED_BYTES = 16 << 20
SCHEMAS = json.loads((pathlib.Path(__file__).parent / "suite_schema.json").read_text("utf-8"))
"""The JSON output of commands of pmuconf."""
OF_TARGET, OF_ALL = "target", "all"
"""Whose verdict decides the exit status of a run: that of the target's subject, such as the driver, or all."""


@dataclasses.dataclass(frozen=True)
class Target:
    """The parts of a target file that pmuvm needs; the suite reads the others."""

    name: str
    path: pathlib.Path
    module: str | None
    """The module with the PMU's driver, or None if the kernel has the driver."""
    parameters: tuple[str, ...]
    slowness: float
    machine: MachineOptions
    arch: str | None
    """The only architecture whose guests have the PMU; None if all have it."""
    kind: str | None
    """The kind of the built kernels that have the PMU; None if any kernel may have it."""
    merged: str
    """The target file that the guest reads: the content of the file and its bases."""
    driver: tuple[str, ...] = ()
    """Drivers of the kernel itself that the guest loads, as driver.modules() names them. The last one is `module`."""
    match: str = ""
    """A glob of the PMU's name in sysfs."""

    def on(self, **options: Any) -> Target:
        """The target on a machine with other options."""
        return dataclasses.replace(self, machine=dataclasses.replace(self.machine, **options))

    def merged_file(self) -> pathlib.Path:
        """A file in the cache with `merged`."""
        path = store.cache() / "targets" / f"{store.digest([self.merged.encode()])}.toml"
        if not path.is_file():
            store.write(path, self.merged.encode())
            store.prune(path.parent, "*.toml", MERGED_DAYS, MERGED_BYTES)
        return path


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
    if release.folder_in_use() is not None:
        return release.program(of)
    return binary() if not arch.foreign(of) else _built("", f"guest-{of.name}")


def tool(name: str, of: Arch | None = None) -> pathlib.Path:
    """The program `name`, e.g. "tools/costs", in the build folder of pmuconf; without `of` that of the host."""
    of = of or arch.host()
    preset = f"guest-{of.name}" if arch.foreign(of) else "guest"
    return _program(agent(of).parent.parent / name, preset)


def _built(given: str, preset: str) -> pathlib.Path:
    path = pathlib.Path(given or store.ROOT / "build" / preset / "conformance/pmuconf")
    return _program(path, f"{preset} pmuconf").resolve()


def _program(path: pathlib.Path, built: str) -> pathlib.Path:
    if not os.access(path, os.X_OK):
        raise UserError(f"no program {path}: build it with ci/build {built}")
    return path


def find_target(name: str, variable: str = "TARGET") -> Target:
    """The target called `name`, or the one in the file at that path. `variable` has the name, for the error message."""
    path = TARGETS / f"{name}.toml"
    if "/" in name or not path.is_file():
        path = pathlib.Path(name)
        if not name.endswith(".toml") or not path.is_file():
            known = ", ".join(sorted(p.stem for p in TARGETS.glob("*.toml")))
            raise UserError(
                f"unknown {variable} '{name}'; known: {known}, or the path of a target's .toml"
            )
    path = path.resolve()
    return _read_target(path, path.stat().st_mtime_ns, binary().stat().st_mtime_ns)


@functools.cache
def _read_target(path: pathlib.Path, _modified_ns: int, _built_ns: int) -> Target:
    """The target in a file. pmuconf is the only reader of target files."""
    found = _json(["target", "--json", "--target", str(path)])
    table = found["vm"]
    if table["arch"] is not None and table["arch"] not in arch.ARCHES:
        known = ", ".join(arch.ARCHES)
        raise UserError(f"{path}: vm.arch is '{table['arch']}'; known: {known}")
    return Target(
        name=found["name"],
        path=path,
        module=found["module"],
        parameters=tuple(table["parameters"].split()),
        slowness=found["slowness"],
        machine=MachineOptions.of_target(table, path),
        arch=table["arch"],
        kind=table["kernel"],
        merged=found["toml"],
        driver=tuple(table["driver"]),
        match=found["match"],
    )


def targets_on(of: str) -> list[str]:
    """The names of the project's targets that guests of an architecture can run."""

    def elsewhere(name: str) -> bool:
        try:
            return find_target(name).arch not in (None, of)
        except UserError:
            return False  # A run of that target reports the error in its file.

    return [
        name for name in sorted(path.stem for path in TARGETS.glob("*.toml")) if not elsewhere(name)
    ]


def cases(target: Target, selection: Selection) -> list[Case]:
    """The selected cases in the suite's order. UserError if there is none."""
    found = _list(target, selection.arguments())
    if found:
        return found
    every = _list(target, [])
    if selection.rule:
        names = sorted({rule for case in every for rule in case.rules})
        raise UserError(_unknown("RULE", selection.rule, names))
    if selection.case:
        raise UserError(_unknown("CASE", selection.case, [case.id for case in every]))
    raise UserError(f"nothing to run: no case of the suite applies to target {target.name}")


@dataclasses.dataclass(frozen=True)
class Reporting:
    """The options of `pmuconf report`."""

    layers: tuple[str, ...] = ()
    """LAYER=FILE of each other layer."""
    lava: bool = False
    """Whether the report prints LAVA's signals."""
    verdict: str = OF_TARGET


def report(
    stream: pathlib.Path,
    target: Target,
    selection: Selection,
    out: pathlib.Path,
    again: str,
    how: Reporting | None = None,
) -> int:
    """Runs `pmuconf report` on the recorded stream and returns its exit status.

    `again` is the repro command without the case's id at its end.
    """
    how = how or Reporting()
    argv = [str(binary()), "report", "--stream", str(stream), "--target", str(target.path)]
    argv += ["--profile", selection.profile] if selection.profile else []
    argv += ["--verdict", how.verdict]
    argv += [word for layer in how.layers for word in ("--layer", layer)]
    argv += ["--again", again, "--out", str(out), *(("--lava",) if how.lava else ())]
    return subprocess.run(argv, timeout=TIMEOUT_S).returncode


def _list(target: Target, arguments: Sequence[str]) -> list[Case]:
    found = _json(["list", "--json", "--target", str(target.path), *arguments])
    return [
        Case(
            id=case["id"],
            rules=tuple(case["rules"]),
            budget_s=case["budget_s"],
            file=case["file"],
            line=case["line"],
        )
        for case in found["cases"]
    ]


def _json(arguments: Sequence[str]) -> dict[str, Any]:
    """The JSON object that a command of pmuconf prints, checked by its schema. UserError with pmuconf's message."""
    argv = [str(binary()), *arguments]
    try:
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"cannot run {argv[0]}: {error}") from error
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode != 0:
        raise UserError(lines[0] if lines else f"pmuconf {argv[1]} ended with {done.returncode}")
    try:
        found = json.loads(done.stdout)
        jsonschema.validate(found, SCHEMAS[argv[1]])
    except (ValueError, jsonschema.ValidationError) as error:
        why = str(error).splitlines()[0]
        raise UserError(f"pmuconf {argv[1]} printed something else than expected: {why}") from error
    assert isinstance(found, dict)
    return found


def _unknown(variable: str, asked: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(asked.replace("*", ""), names, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}? " if close else ""
    suites = sorted({name.split(".")[0] for name in names})
    known = names if len(names) <= 100 else [f"{suite}.*" for suite in suites]
    return f"unknown {variable} '{asked}'; {hint}known: {', '.join(known) or 'none'}"
