# SPDX-License-Identifier: Apache-2.0
"""The jobs of ci/matrix.toml: the model, and the reader with its checks."""

from __future__ import annotations

import dataclasses
import fnmatch
import itertools
import shlex
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pmubase import toml_file
from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, Schema, table
from vm import arch, kernel, qemu, stock, suite

ROOT = Path(__file__).resolve().parent.parent

DATA = ROOT / "ci" / "matrix.toml"
PROFILES = ROOT / "conformance" / "profiles"
PYTHON = "/usr/bin/python3"
BUSY = 10
"""A job hangs if it takes this many times its minutes plus START_MIN. The factor is large because the host may be busy."""
START_MIN = 5
MINUTES: Schema = {
    "description": "a number above 0 and below 1000",
    **{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1000},
}


@dataclasses.dataclass(frozen=True, order=True)
class Place:
    """A combination of kernel, architecture, accelerator, target and profile."""

    kernel: str
    arch: str
    accel: str
    target: str
    profile: str
    """Empty for the whole catalogue."""

    def __str__(self) -> str:
        return "/".join(word for word in dataclasses.astuple(self) if word)


@dataclasses.dataclass(frozen=True)
class Job:
    """A run of the suite that must be conformant."""

    place: Place
    minutes: float
    """Duration on an idle machine with two cores and warm caches."""
    check: bool
    """Whether `make check` runs the job, too."""

    @property
    def name(self) -> str:
        """The name that JOBS= is compared with."""
        return str(self.place)

    @property
    def budget_s(self) -> float:
        """Deadline in seconds."""
        return 60 * (BUSY * self.minutes + START_MIN)

    def command(self, out: Path) -> tuple[str, ...]:
        """The command of the job."""
        at = self.place
        words = ("--kernel", at.kernel, "--arch", at.arch, "--target", at.target)
        profile = ("--profile", at.profile) if at.profile else ()
        run = (
            PYTHON,
            "-m",
            "vm",
            "run",
            *words,
            *profile,
            "--verdict",
            suite.OF_ALL,
            "--out",
            str(out),
        )
        return ("env", f"PMUCONF_ACCEL={at.accel}", *run)

    def repro_command(self) -> str:
        """The command with which a user repeats the job."""
        at = self.place
        words = {"PMUCONF_ACCEL": at.accel, "KERNEL": at.kernel, "TARGET": at.target}
        if at.arch != arch.AMD64.name:
            words["ARCH"] = at.arch
        if at.profile:
            words["PROFILE"] = at.profile
        return "make run " + " ".join(f"{key}={shlex.quote(word)}" for key, word in words.items())


def matches(word: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs matches."""
    return any(fnmatch.fnmatchcase(word, glob) for glob in globs)


def read(path: Path = DATA) -> tuple[Job, ...]:
    """Reads the jobs from a file. UserError names the file, table and key."""
    could = all_places()
    tables = toml_file.load(path, schema(could))
    jobs: dict[Place, Job] = {}
    for number, entry in enumerate(tables["jobs"], start=1):
        for job in _jobs(f"{path}: jobs {number}", entry, could):
            if job.place in jobs:
                raise UserError(f"{path}: jobs {number}: targets: the job {job.name} occurs twice")
            jobs[job.place] = job
    return tuple(jobs.values())


def checked(path: Path = DATA) -> list[tuple[str, str]]:
    """Kernel and target of each job with `check`. It needs no target file, so `make check` can plan before the build;
    read() validates these jobs, too."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))["jobs"]
    return [
        (name, target)
        for table in tables
        if table.get("check")
        for name in table["kernels"]
        for target in table["targets"]
    ]


def schema(could: Sequence[Place]) -> Schema:
    """The schema of the file, with the names in the combinations."""
    known = {
        key: sorted({getattr(place, key) for place in could} - {""})
        for key in ("kernel", "arch", "accel", "profile")
    }
    words = {key: {"enum": [*known[key]]} for key in ("arch", "accel", "profile")}
    jobs = {
        **{"kernels": {**SOME_TEXTS, "items": {"enum": [*known["kernel"]]}}, "targets": SOME_TEXTS},
        **{"minutes": MINUTES, "check": {"type": "boolean"}, **words},
    }
    entries = table(jobs, optional=[*words, "check"])
    return table({"jobs": {"type": "array", "items": entries, "minItems": 1}})


def _jobs(where: str, entry: dict[str, Any], could: Sequence[Place]) -> list[Job]:
    check = entry.get("check", False)
    if check and any(set(glob) & set("*?[") for glob in entry["targets"]):
        raise UserError(f"{where}: targets: jobs with `check` name their targets without globs")
    fixed = {"arch": arch.AMD64.name, "accel": "tcg", "profile": ""}
    fixed |= {key: entry[key] for key in fixed if key in entry}
    there = [p for p in could if all(getattr(p, key) == word for key, word in fixed.items())]
    made: list[Job] = []
    for name in entry["kernels"]:
        for glob in entry["targets"]:
            places = [p for p in there if p.kernel == name and matches(p.target, [glob])]
            if not places:
                raise UserError(f"{where}: targets: no target '{glob}' can run on {name}")
            made += [Job(place, float(entry["minutes"]), check) for place in places]
    return made


def all_places() -> list[Place]:
    """All combinations that the files of kernels and targets allow."""
    targets = [suite.find_target(path.stem) for path in sorted(suite.TARGETS.glob("*.toml"))]
    profiles = ["", *sorted(path.stem for path in PROFILES.glob("*.toml"))]
    built = kernel.built_known()
    found = []
    for name in (*stock.names(), *built):
        how = built.get(name)
        # A kernel with a driver of this project built in is only for targets with that kind.
        kind = how.kind if how is not None and how.overlay else None
        for target, accel in itertools.product(targets, qemu.ACCELS):
            if target.kind != kind or (target.machine.accel or accel) != accel:
                continue
            if target.machine.icount is not None and accel != "tcg":
                continue
            for on in kernel.arches_of(name):
                if target.arch in (None, on):
                    found += [Place(name, on, accel, target.name, profile) for profile in profiles]
    return found
