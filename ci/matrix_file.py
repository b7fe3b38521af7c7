# SPDX-License-Identifier: Apache-2.0
"""The jobs and exclusions of ci/matrix.toml: the model, and the reader with its checks."""

from __future__ import annotations

import dataclasses
import fnmatch
import itertools
import math
import shlex
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from vm import arch, kernel, qemu, stock, suite

ROOT = Path(__file__).resolve().parent.parent

DATA = ROOT / "ci" / "matrix.toml"
PROFILES = ROOT / "conformance" / "profiles"
PYTHON = "/usr/bin/python3"
BUSY = 10
"""A job hangs if it takes this many times its minutes plus START_MIN. The factor is large because the host may be busy."""
START_MIN = 5


class MatrixError(Exception):
    """The data or the arguments have an error. The message is one line with the place of the error."""


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


@dataclasses.dataclass(frozen=True)
class Exclusion:
    """The reason why combinations are not jobs."""

    globs: tuple[tuple[str, ...], ...]
    """Globs for each field of Place, in order."""
    reason: str

    def covers(self, place: Place) -> bool:
        """Whether the exclusion applies to a combination."""
        words = dataclasses.astuple(place)
        return all(matches(word, globs) for word, globs in zip(words, self.globs, strict=True))


@dataclasses.dataclass(frozen=True)
class Matrix:
    """The jobs and the exclusions."""

    jobs: tuple[Job, ...]
    exclusions: tuple[tuple[Exclusion, int], ...]
    """Each exclusion, with the number of combinations that no earlier exclusion covers."""


def matches(word: str, globs: Iterable[str]) -> bool:
    """Whether one of the globs matches."""
    return any(fnmatch.fnmatchcase(word, glob) for glob in globs)


def read(path: Path = DATA) -> Matrix:
    """Reads the matrix from a file. MatrixError names the file, table and key."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise MatrixError(f"{path}: {error}") from error
    root = _Table(f"{path}", tables)
    could = all_places()
    jobs: dict[Place, Job] = {}
    for table in root.tables("jobs"):
        for job in _jobs(table, could):
            if job.place in jobs:
                table.fail("targets", f"the job {job.name} occurs twice")
            jobs[job.place] = job
    exclusions = [_exclusion(table, could) for table in root.tables("exclusion")]
    root.finish()
    if not jobs:
        root.fail("jobs", "the file has none")
    first: list[int] = []
    for place in could:
        if place in jobs:
            continue
        about = next((i for i, exclusion in enumerate(exclusions) if exclusion.covers(place)), None)
        if about is None:
            root.fail("exclusion", f"{place} is neither a job nor excluded")
        first.append(about)
    counted = tuple((exclusion, first.count(i)) for i, exclusion in enumerate(exclusions))
    for number, (_, count) in enumerate(counted, start=1):
        if not count:
            root.fail(
                f"exclusion {number}",
                "excludes only jobs, or combinations that earlier exclusions cover",
            )
    return Matrix(tuple(jobs.values()), counted)


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


class _Table:
    """A table of the file. Reading a key removes it, so that finish() finds unknown keys."""

    def __init__(self, where: str, data: dict[str, Any]) -> None:
        self._where = where
        self._left = dict(data)

    def fail(self, key: str, why: str) -> NoReturn:
        """Raises the error about a key."""
        raise MatrixError(f"{self._where}: {key}: {why}")

    def tables(self, key: str) -> list[_Table]:
        """Reads an array of tables."""
        found = self._left.pop(key, [])
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            self.fail(key, f"must be tables [[{key}]]")
        return [_Table(f"{self._where}: {key} {i}", one) for i, one in enumerate(found, start=1)]

    def value(self, key: str, default: Any, kind: str) -> Any:
        """Reads a value of the type of `default`. An integer is accepted for a float."""
        found = self._left.pop(key, default)
        if isinstance(default, float) and type(found) is int:
            found = float(found)
        if type(found) is not type(default):
            self.fail(key, f"must be {kind}")
        return found

    def text(self, key: str, default: str) -> str:
        """Reads a string."""
        found = self.value(key, default, "a text")
        assert isinstance(found, str)
        return found

    def texts(self, key: str, default: Sequence[str]) -> tuple[str, ...]:
        """Reads a list of strings."""
        found = self.value(key, list(default), "a list of strings")
        if not all(isinstance(word, str) for word in found):
            self.fail(key, "must be a list of strings")
        return tuple(found)

    def finish(self) -> None:
        """Fails if a key was not read."""
        for key in self._left:
            self.fail(key, "unknown key")


def _jobs(table: _Table, could: Sequence[Place]) -> list[Job]:
    words = {
        "arch": table.text("arch", arch.AMD64.name),
        "accel": table.text("accel", "tcg"),
        "profile": table.text("profile", ""),
    }
    lists = {"kernels": table.texts("kernels", []), "targets": table.texts("targets", [])}
    minutes = table.value("minutes", 0.0, "a number above 0")
    check = table.value("check", False, "true or false")
    table.finish()
    if not 0 < minutes < math.inf:
        table.fail("minutes", "must be a number above 0")
    if check and any(set(glob) & set("*?[") for glob in lists["targets"]):
        table.fail("targets", "jobs with `check` name their targets without globs")
    for key, word in words.items():
        known = sorted({getattr(place, key) for place in could})
        if word not in known:
            table.fail(key, f"unknown '{word}'; known: {', '.join(w for w in known if w)}")
    for key, found in lists.items():
        if not found:
            table.fail(key, "is missing")
    kernels = sorted({place.kernel for place in could})
    there = [p for p in could if all(getattr(p, key) == word for key, word in words.items())]
    made: list[Job] = []
    for name in lists["kernels"]:
        if name not in kernels:
            table.fail("kernels", f"unknown '{name}'; known: {', '.join(kernels)}")
        for glob in lists["targets"]:
            places = [p for p in there if p.kernel == name and matches(p.target, [glob])]
            if not places:
                table.fail("targets", f"no target '{glob}' can run on {name}")
            made += [Job(place, minutes, check) for place in places]
    return made


def _exclusion(table: _Table, could: Sequence[Place]) -> Exclusion:
    globs = []
    for field in dataclasses.fields(Place):
        key = f"{field.name}s"
        asked = table.texts(key, ["*"])
        known = sorted({getattr(place, field.name) for place in could})
        for glob in asked:
            if not any(matches(word, [glob]) for word in known):
                table.fail(
                    key, f"'{glob}' matches none of {', '.join(word for word in known if word)}"
                )
        globs.append(asked)
    reason = table.text("reason", "")
    table.finish()
    if not reason:
        table.fail("reason", "is missing")
    return Exclusion(tuple(globs), reason)


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
