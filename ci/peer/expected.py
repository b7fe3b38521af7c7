# SPDX-License-Identifier: Apache-2.0
"""The expected results of perf_event_tests: the model, and the reader of ci/peer_tests.toml."""

from __future__ import annotations

import dataclasses
import fnmatch
import pathlib
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from vm.errors import PmuvmError
from vm.machine_options import MachineOptions

PASSED = "PASSED"
DATA = pathlib.Path(__file__).resolve().parent.parent / "peer_tests.toml"
KEYS = {"tests", "result", "cause", "targets", "kernels"}
TABLES = {"conditions", "result"}
CONDITIONS = {"parameters", "cpu", "work"}


@dataclasses.dataclass(frozen=True)
class Expectation:
    """A test that does not pass, and the reason."""

    test: str
    results: tuple[str, ...]
    """More than one if the result depends on the host's speed."""
    cause: str
    targets: tuple[str, ...] = ("*",)
    """Globs of target names."""
    kernels: tuple[str, ...] = ("*",)
    """Globs of kernel names."""

    def is_for(self, target: str, kernel: str) -> bool:
        """Whether it applies to a run."""
        return _matches(target, self.targets) and _matches(kernel, self.kernels)


@dataclasses.dataclass(frozen=True)
class Conditions:
    """The conditions under which the results of a target are expected."""

    parameters: str | None = None
    """The parameters of the module; None: those of the target, and cpu=1."""
    machine: MachineOptions = MachineOptions()


def conditions(target: str, path: pathlib.Path = DATA) -> Conditions:
    """The conditions of a target in a file. PmuvmError names the file, the table and the key."""
    place = f"{path}: conditions.{target}"
    table = _table(path).get("conditions", {}).get(target, {})
    if unknown := set(table) - CONDITIONS:
        raise PmuvmError(
            f"{place}: unknown key {min(unknown)}; known: {', '.join(sorted(CONDITIONS))}"
        )
    words = {key: _words(place, key, value) for key, value in table.items()}
    return Conditions(
        parameters=" ".join(words["parameters"]) if "parameters" in words else None,
        machine=MachineOptions(
            cpu=words["cpu"][0] if "cpu" in words else None, work=words.get("work")
        ),
    )


def _table(path: pathlib.Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PmuvmError(f"{path}: {error}") from error
    if unknown := set(table) - TABLES:
        known = ", ".join(sorted(TABLES))
        raise PmuvmError(f"{path}: unknown key {min(unknown)}; known: {known}")
    return table


def read(path: pathlib.Path = DATA) -> list[Expectation]:
    """The expectations in a file. PmuvmError names the file, the entry and the key."""
    entries = _table(path).get("result", [])
    return [
        found
        for number, entry in enumerate(entries, 1)
        for found in _entry(f"{path}: result {number}", entry)
    ]


def select(
    entries: Sequence[Expectation], tests: Collection[str], target: str, kernel: str
) -> dict[str, Expectation]:
    """The expectation of each test that is not expected to pass in a run. PmuvmError if a test has two or is unknown."""
    found: dict[str, Expectation] = {}
    for entry in entries:
        if entry.test not in tests:
            raise PmuvmError(f"{DATA.name}: perf_event_tests has no test {entry.test}")
        if not entry.is_for(target, kernel):
            continue
        if entry.test in found:
            raise PmuvmError(f"{DATA.name}: two results of {entry.test} for {target} on {kernel}")
        found[entry.test] = entry
    return found


def allowed(test: str, expectations: Mapping[str, Expectation]) -> tuple[str, ...]:
    """The results of a test that are no surprise."""
    return expectations[test].results if test in expectations else (PASSED,)


def _entry(place: str, entry: Any) -> list[Expectation]:
    """The expectations of an entry, one for each of its tests."""
    if not isinstance(entry, dict):
        raise PmuvmError(f"{place}: must be a table")
    if unknown := set(entry) - KEYS:
        raise PmuvmError(f"{place}: unknown key {min(unknown)}; known: {', '.join(sorted(KEYS))}")
    words = {key: _words(place, key, entry[key]) for key in entry}
    for key in ("tests", "result", "cause"):
        if not words.get(key):
            raise PmuvmError(f"{place}: no {key}")
    return [
        Expectation(
            test=test,
            results=words["result"],
            cause=words["cause"][0],
            targets=words.get("targets", ("*",)),
            kernels=words.get("kernels", ("*",)),
        )
        for test in words["tests"]
    ]


def _words(place: str, key: str, value: Any) -> tuple[str, ...]:
    values = value if isinstance(value, list) and key != "cause" else [value]
    if not all(isinstance(word, str) and word for word in values):
        raise PmuvmError(f"{place}: {key} must be a string that is not empty")
    return tuple(values)


def _matches(word: str, globs: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(word, glob) for glob in globs)
