# SPDX-License-Identifier: Apache-2.0
"""Reads the regressions: patches with a header, and the list of the bugs that have no patch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from faults import mutant_file
from faults.mutant_file import Mutant, PatchError
from pmubase import toml_file
from pmubase.errors import UserError
from pmubase.toml_file import TEXT, like, table

FOLDER = Path("driver/regressions")
WITHOUT_PATCH = "*_without_patch.toml"
KEYS = ("Id", "Fix", "Kernels", "Targets", "Rules", "Kill", "Missed")
NEEDED = ("Id", "Fix", "Kernels", "Targets", "Rules")
ID = re.compile(r"^([BL]\d{3})[a-z]?$")
SERIES = re.compile(r"^\d+\.\d+$")
FIX = re.compile(r"^(?:([0-9a-f]{12}) )?(\S.*)$")
NOTHING = "none"
"""The value of Rules if no rule of the catalogue describes the bug."""
COMPONENTS = ("arch/", "drivers/", "include/", "kernel/", "lib/", "mm/", "fs/", "security/")
"""The folders of a kernel tree that a regression may change."""
NEW_OR_REMOVED = re.compile(r"^(?:---|\+\+\+) /dev/null", re.M)
NOT_REACHABLE = "not reachable"
OUT_OF_SCOPE = "out of scope"
STATUSES = (NOT_REACHABLE, OUT_OF_SCOPE)
BUG = table({"id": like(ID.pattern, "like B001"), "status": {"enum": [*STATUSES]}, "reason": TEXT})


@dataclass(frozen=True)
class Regression:
    """A patch that undoes one fix of Linux."""

    id: str
    path: Path
    commit: str
    """The first digits of the fix's commit id; "" if it is not known."""
    subject: str
    """The first line of the fix's description."""
    kernels: tuple[str, ...]
    targets: tuple[str, ...]
    """The targets whose cases are tried, the cheapest first."""
    rules: tuple[str, ...]
    kill: tuple[str, ...]
    missed: str
    """The reason why the suite is known to miss it; "" if it must be caught."""
    text: str
    diff: str

    @property
    def bug(self) -> str:
        """The id of the bug. Several patches may be forms of one bug."""
        return _bug(self.id)

    @property
    def content(self) -> str:
        """All that decides about a result. The descriptions and the expected miss do not."""
        return "\n".join([repr((self.targets, self.rules, self.kill)), self.diff])

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the kernel tree that it changes."""
        return mutant_file.touched_by(self.diff)

    @property
    def changes_headers(self) -> bool:
        """Whether a module must be built with it, since it changes a header that modules may include."""
        return any("include/" in name for name in self.files)

    def on(self, target: str) -> Mutant:
        """The regression as a mutant of which one target's cases are tried."""
        return Mutant(
            id=self.id,
            path=self.path,
            failure_class="",
            rules=self.rules,
            after="",
            kernels=self.kernels,
            kill=self.kill,
            text=self.text,
            remarks=(),
            target=target,
            diff=self.diff,
        )


@dataclass(frozen=True)
class Unplanted:
    """A bug of the list that has no patch."""

    id: str
    status: str
    reason: str


def read(path: Path) -> Regression:
    """Reads a patch file. PatchError if it has no regression, or its header is malformed."""
    values, text, diff = mutant_file.read_parts(path, KEYS)
    for key in NEEDED:
        if key not in values:
            raise PatchError(f"{path}: {key}: is missing")
    name = values["Id"]
    if not ID.match(name) or not path.name.startswith(f"{name}-"):
        raise PatchError(
            f"{path}: Id: '{name}' is not like B001 or L001, or not how the file begins"
        )
    fix = FIX.match(values["Fix"])
    assert fix is not None  # A value is never empty.
    kernels = mutant_file.words(values["Kernels"])
    for series in kernels:
        if not SERIES.match(series):
            raise PatchError(f"{path}: Kernels: '{series}' is not like 6.12")
    none = values["Rules"] == NOTHING
    _check_files(path, diff)
    return Regression(
        id=name,
        path=path,
        commit=fix[1] or "",
        subject=fix[2],
        kernels=kernels,
        targets=mutant_file.words(values["Targets"]),
        rules=() if none else mutant_file.rule_ids(path, values["Rules"]),
        kill=mutant_file.results_that_kill(path, values),
        missed=values.get("Missed", ""),
        text=text,
        diff=diff,
    )


def _check_files(path: Path, diff: str) -> None:
    if NEW_OR_REMOVED.search(diff):
        raise PatchError(f"{path}: adds or removes a file; a regression changes existing ones")
    for name in mutant_file.touched_by(diff):
        if not name.startswith(COMPONENTS) or ".." in name.split("/"):
            raise PatchError(f"{path}: changes {name}, which is in none of {', '.join(COMPONENTS)}")


def collect(*folders: Path) -> tuple[list[Regression], list[PatchError]]:
    """The regressions in folders and below them, by id, and the errors of the patches that have none."""
    found: list[Regression] = []
    errors: list[PatchError] = []
    owners: dict[tuple[str, str], Path] = {}
    changes: dict[tuple[str, str], Path] = {}
    paths = {path for folder in folders for path in folder.rglob("*.patch")}
    for path in sorted(paths, key=lambda path: (path.name, path)):
        try:
            one = read(path)
            for series in one.kernels:
                other = owners.setdefault((one.id, series), path)
                if other != path:
                    raise PatchError(f"{path}: Id {one.id} on {series} is also {other.name}")
                other = changes.setdefault((one.diff, series), path)
                if other != path:
                    raise PatchError(f"{path}: {other.name} has the same change on {series}")
        except PatchError as error:
            errors.append(error)
            continue
        found.append(one)
    return found, errors


def unplanted(folder: Path) -> tuple[list[Unplanted], list[str]]:
    """The bugs without a patch, by id, and the errors of the lists."""
    found: list[Unplanted] = []
    errors: list[str] = []
    for path in sorted(folder.glob(WITHOUT_PATCH)):
        try:
            entries = toml_file.load(path, toml_file.tables("bug", BUG)).get("bug", [])
        except UserError as error:
            errors.append(str(error))
        else:
            found += [Unplanted(**entry) for entry in entries]
    return sorted(found, key=lambda bug: bug.id), errors


def _bug(name: str) -> str:
    match = ID.match(name)
    return match[1] if match else name
