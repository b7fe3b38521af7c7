# SPDX-License-Identifier: Apache-2.0
"""Checks that released profiles and the meaning of active rules stay as they are, and that a rule became active by all
steps: two kernels, a fault that fails it, and 1,000 runs without a changed result."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ci.mutation import patch
from conformance.rules import frozen
from conformance.rules.frozen import FOLDER, LEDGER, MIN_KERNELS, MIN_RUNS, PROFILES, RELEASED
from conformance.rules.generate import CatalogueError, Rule, read_catalogue

SERIES = re.compile(r"[0-9]+\.[0-9]+")
PYTEST = re.compile(r"([\w./-]+_test\.py)::(\w+)(?:\[([\w.-]+)\])?")


def profile_findings(root: Path, catalogue: dict[str, Rule]) -> list[str]:
    """A line for each released profile that was changed or is missing, and for each profile without a digest."""
    profiles = {profile.name: profile for profile in frozen.read_profiles(root)}
    released = frozen.read_released(root)
    found = []
    for name, digest in released.items():
        base = frozen.version_of(name)[0]
        steps = f"restore it, and make the next version: python3 -m ci.freeze profile {base}"
        if name not in profiles:
            found.append(f"{PROFILES / name}.toml: released, but missing: {steps}")
        elif frozen.digest_of(profiles[name].rules) != digest:
            found.append(f"{PROFILES / name}.toml: a released profile was changed: {steps}")
    for name, profile in profiles.items():
        where = f"{PROFILES / name}.toml"
        if name not in released:
            digest = frozen.digest_of(profile.rules)
            found.append(
                f'{where}: to release it, add to {FOLDER / RELEASED}: "{name}" = "{digest}"'
            )
        for rule in profile.rules:
            if rule not in catalogue:
                found.append(f"{where}: no rule {rule} in the catalogue")
            elif catalogue[rule].status == "draft":
                found.append(f"{where}: {rule} is a draft")
    return found


def failed_by_error(root: Path, rule: str, failed_by: str) -> str:
    """Why `failed_by` proves no failure of the rule; "" if it does: a patch, or a pytest test FILE::TEST[PARAMETER]."""
    if match := PYTEST.fullmatch(failed_by):
        file, test, parameter = match.groups()
        text = (root / file).read_text(encoding="utf-8") if (root / file).is_file() else ""
        if f"def {test}(" not in text:
            return f"no test {test} in {file}"
        return "" if not parameter or f'"{parameter}"' in text else f"no '{parameter}' in {file}"
    path = root / failed_by
    if path.suffix != ".patch" or not path.is_file():
        return f"'{failed_by}' is neither a patch of this project nor FILE_test.py::TEST"
    if path.is_relative_to(root / "driver" / "mutants"):
        try:
            return "" if rule in patch.read(path).rules else f"its header does not name {rule}"
        except patch.PatchError as error:
            return str(error)
    return ""


def missing_steps(root: Path, entry: dict[str, Any]) -> Iterator[str]:
    """A line for each step of an activation that was not done."""
    kernels = {str(kernel) for kernel in entry["kernels"]}
    if len(kernels) < MIN_KERNELS or not all(SERIES.fullmatch(kernel) for kernel in kernels):
        yield f"missing step 'kernels': {MIN_KERNELS} series like 6.12, not {sorted(kernels)}"
    if wrong := failed_by_error(root, entry["rule"], entry["failed_by"]):
        yield f"missing step 'failed_by': {wrong}"
    if entry["runs"] < MIN_RUNS:
        yield f"missing step 'runs': {MIN_RUNS} on each kernel, not {entry['runs']}"


def ledger_findings(root: Path, ledger: frozen.Ledger, baseline: dict[str, str]) -> list[str]:
    """Errors in the entries of the ledger."""
    named = {rule for profile in frozen.read_profiles(root) for rule in profile.rules}
    found = []
    seen = dict(baseline)
    for entry in ledger.activated:
        rule = entry["rule"]
        found += [f"{rule}: {LEDGER}: {step}" for step in missing_steps(root, entry)]
        if rule in seen and rule in named:
            found.append(f"{rule}: {LEDGER}: a released profile names it, so its meaning stays")
        seen[rule] = entry["meaning"]
    for entry in ledger.editorial:
        if seen.get(entry["rule"]) != entry["before"]:
            found.append(f"{entry['rule']}: {LEDGER}: 'before' of [[editorial]] was never recorded")
        seen[entry["rule"]] = entry["meaning"]
    return found


def rule_finding(
    rule: Rule, recorded: dict[str, str], retired: set[str], released: set[str]
) -> str:
    """The missing step of one rule; "" if there is none."""
    if rule.status == "retired":
        if rule.id in retired or rule.id not in recorded:
            return ""
        return f"retired without an entry: python3 -m ci.freeze retire {rule.id} --reason '…'"
    if rule.status == "draft":
        return "was active, so it must not be a draft" if rule.id in recorded else ""
    if rule.id in retired:
        return f"{LEDGER} retires it, but its status is active"
    steps = f"two kernels, a fault that fails it, {MIN_RUNS} runs: make activate RULE={rule.id}"
    if rule.id not in recorded:
        return f"active without an entry in {FOLDER / LEDGER}: missing steps: {steps}"
    if recorded[rule.id] == frozen.meaning(rule):
        return ""
    editorial = f"if only the wording changed: python3 -m ci.freeze editorial {rule.id}"
    if rule.id in released:
        otherwise = "otherwise retire it and add a new rule, since a released profile names it"
    else:
        otherwise = f"otherwise {steps}"
    return f"changed since it was recorded: missing step: {editorial} --reason '…'; {otherwise}"


def findings(root: Path) -> list[str]:
    """All violations."""
    try:
        rules = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
        catalogue = {rule.id: rule for rule in rules}
        baseline, ledger = frozen.read_baseline(root), frozen.read_ledger(root)
        found = profile_findings(root, catalogue) + ledger_findings(root, ledger, baseline)
        named = {rule for profile in frozen.read_profiles(root) for rule in profile.rules}
    except (CatalogueError, frozen.FrozenError) as error:
        return [str(error)]
    recorded = frozen.recorded(baseline, ledger)
    retired = {str(entry["rule"]) for entry in ledger.retired}
    for rule in recorded.keys() - catalogue.keys():
        found.append(f"{rule}: missing in the catalogue: a withdrawn rule has the status retired")
    for one in rules:
        if wrong := rule_finding(one, recorded, retired, named):
            found.append(f"{one.id}: {wrong}")
    return sorted(found)
