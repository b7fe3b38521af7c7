# SPDX-License-Identifier: Apache-2.0
"""Frozen things: the meaning of active rules, and the rules of released profiles. Reads conformance/frozen.

The meaning of a rule is its level, text, applies, kernels and the values of its behaviours. docs/adding.md describes the steps that make a
rule active, and the ways to change a frozen rule.
"""

from __future__ import annotations

import dataclasses
import datetime
import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from conformance.rules.generate import Rule

FOLDER = Path("conformance/frozen")
BASELINE, LEDGER, RELEASED = "baseline.toml", "ledger.toml", "released.toml"
PROFILES = Path("conformance/profiles")
BASELINE_SHA256 = "7d51c79c3685047049933ee24b46c83825a48941361db1601de002ee2235bf17"
"""Digest of the baseline: the rules that were active before there was a ledger. The baseline never changes."""
MIN_RUNS = 1000
"""Runs of each case on each kernel, without a changed result, before a rule becomes active."""
MIN_KERNELS = 2

VERSION = re.compile(r"([a-z]+(?:-[a-z]+)*)-([0-9]+)\.([0-9]+)")
ENTRIES: dict[str, dict[str, type]] = {
    "activated": {
        **{"rule": str, "meaning": str, "date": datetime.date, "kernels": list},
        **{"failed_by": str, "runs": int, "command": str},
    },
    "editorial": {"rule": str, "before": str, "meaning": str, "date": datetime.date, "reason": str},
    "retired": {"rule": str, "date": datetime.date, "reason": str},
}
"""The keys of each kind of entry in the ledger."""


class FrozenError(Exception):
    """A file of conformance/frozen is malformed. The message is one line with the file."""


def meaning(rule: Rule) -> str:
    """The digest of a rule's meaning: 16 hexadecimal digits."""
    values = sorted((value.name, str(value.value)) for value in rule.behaviours)
    fields = [rule.id, rule.level, rule.text, rule.applies, rule.kernels, values]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:16]


def digest_of(lines: Iterable[str]) -> str:
    """The SHA-256 of lines in sorted order."""
    return hashlib.sha256("".join(f"{line}\n" for line in sorted(lines)).encode()).hexdigest()


@dataclasses.dataclass(frozen=True)
class Ledger:
    """The records about rules since the baseline, in the order of the file."""

    activated: tuple[dict[str, Any], ...] = ()
    editorial: tuple[dict[str, Any], ...] = ()
    retired: tuple[dict[str, Any], ...] = ()


@dataclasses.dataclass(frozen=True)
class Profile:
    """A profile file."""

    name: str
    """With its version: "counting-1.0"."""
    rules: tuple[str, ...]


def load(path: Path) -> dict[str, Any]:
    """A TOML file. FrozenError if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FrozenError(f"{path.parent.name}/{path.name}: {error}") from error


def read_baseline(root: Path) -> dict[str, str]:
    """The meaning of each rule of the baseline. FrozenError if the file was changed."""
    areas = load(root / FOLDER / BASELINE).get("rules", {})
    found = {}
    for area, entries in areas.items():
        for entry in entries:
            number, _, digest = entry.partition(" ")
            found[f"{area}-{number}"] = digest
    if digest_of(f"{rule} {digest}" for rule, digest in found.items()) != BASELINE_SHA256:
        raise FrozenError(
            f"{FOLDER / BASELINE}: the baseline was changed: restore it, "
            f"and record a change in {FOLDER / LEDGER} (docs/adding.md)"
        )
    return found


def read_ledger(root: Path) -> Ledger:
    """The ledger. FrozenError for an unknown key, a missing one or a wrong type."""
    name = FOLDER / LEDGER
    tables = load(root / name)
    for key in tables:
        if key not in ENTRIES:
            raise FrozenError(f"{name}: unknown key '{key}' (known: {', '.join(ENTRIES)})")
    for kind, keys in ENTRIES.items():
        for entry in tables.get(kind, []):
            where = f"{name}: [[{kind}]] of {entry.get('rule', 'no rule')}"
            for key in entry:
                if key not in keys:
                    raise FrozenError(f"{where}: unknown key '{key}' (known: {', '.join(keys)})")
            for key, wanted in keys.items():
                value = entry.get(key)
                if type(value) is not wanted or value in ("", []):
                    raise FrozenError(f"{where}: key '{key}' is missing or has no valid value")
    return Ledger(**{kind: tuple(tables.get(kind, [])) for kind in ENTRIES})


def recorded(baseline: dict[str, str], ledger: Ledger) -> dict[str, str]:
    """The meaning that each rule had when it was last recorded."""
    found = dict(baseline)
    for entry in ledger.activated:
        found[entry["rule"]] = entry["meaning"]
    for entry in ledger.editorial:
        if found.get(entry["rule"]) == entry["before"]:
            found[entry["rule"]] = entry["meaning"]
    return found


def read_profile(path: Path) -> Profile:
    """A profile file. FrozenError if its name, its keys or its rules are malformed."""
    where = f"{PROFILES / path.name}"
    table = load(path).get("profile", {})
    if not VERSION.fullmatch(path.stem):
        raise FrozenError(f"{where}: must be named NAME-MAJOR.MINOR.toml")
    if f"{table.get('name')}-{table.get('version')}" != path.stem:
        raise FrozenError(f"{where}: name and version must be those of the file's name")
    rules = table.get("rules")
    if not isinstance(rules, list) or not rules or not all(isinstance(rule, str) for rule in rules):
        raise FrozenError(f"{where}: key 'rules' must list the ids of rules")
    if rules != sorted(set(rules)):
        raise FrozenError(f"{where}: key 'rules' must be sorted, each rule once")
    return Profile(path.stem, tuple(rules))


def read_profiles(root: Path) -> list[Profile]:
    """All profiles."""
    return [read_profile(path) for path in sorted((root / PROFILES).glob("*.toml"))]


def read_released(root: Path) -> dict[str, str]:
    """The digest of each released profile's list of rules."""
    found = load(root / FOLDER / RELEASED).get("released", {})
    return {str(name): str(digest) for name, digest in found.items()}


def version_of(name: str) -> tuple[str, tuple[int, int]]:
    """("counting", (1, 0)) of "counting-1.0"."""
    match = VERSION.fullmatch(name)
    if not match:
        raise FrozenError(f"'{name}' is not the name of a profile, such as counting-1.0")
    return match[1], (int(match[2]), int(match[3]))


def newest(profiles: Sequence[Profile], base: str) -> Profile | None:
    """The newest version of the profile `base`."""
    versions = {version_of(profile.name): profile for profile in profiles}
    found = [version for version in versions if version[0] == base]
    return versions[max(found)] if found else None
