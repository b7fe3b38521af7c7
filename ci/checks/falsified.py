# SPDX-License-Identifier: Apache-2.0
"""Compares the catalogue with mutants, lies and faults that tests seed: one of them must fail each active rule, or there
is a reason why none can."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from conformance.rules.generate import read_catalogue
from faults import exempt_rules, lie_file, mutant_file
from pmubase import store, toml_file
from pmubase.errors import UserError
from pmubase.toml_file import TEXT

MUTANTS = Path("driver/mutants")
SEEDED = "faults_in_tests.toml"
FAULTS = toml_file.tables("fault", toml_file.table({"rule": TEXT, "test": TEXT}))
"""Rules whose fault a test in a guest seeds, and the test."""
MOST_EXEMPT = 0.05
"""Largest part of the active rules that may have a reason, or that only reviews verify."""


@dataclass(frozen=True)
class Evidence:
    """How each active rule that tests verify can fail."""

    mutants: dict[str, list[str]]
    lies: dict[str, list[str]]
    seeded: dict[str, list[str]]
    reasons: dict[str, str]
    wanted: tuple[str, ...]
    """The active rules that not only reviews verify."""
    active: int
    reviewed: int
    """The number of active rules that only reviews verify."""

    def without(self) -> list[str]:
        """The rules that nothing fails, and that have no reason."""
        known = self.mutants.keys() | self.lies.keys() | self.reasons.keys()
        known |= self.seeded.keys()
        return [rule for rule in self.wanted if rule not in known]


def seeded_faults(root: Path) -> dict[str, list[str]]:
    """The test that seeds a fault, by rule. UserError if there is no such test."""
    path = root / MUTANTS / SEEDED
    found: dict[str, list[str]] = {}
    for entry in toml_file.load(path, FAULTS).get("fault", []):
        file, _, name = entry["test"].partition("::")
        if not (root / file).is_file() or f"def {name}(" not in (root / file).read_text("utf-8"):
            raise UserError(f"{SEEDED}: {entry['rule']}: no test {entry['test']}")
        found.setdefault(entry["rule"], []).append(entry["test"])
    return found


def read(root: Path) -> Evidence:
    """Reads the catalogue, the mutants, the lies and the reasons of a project."""
    catalogue = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
    active = [rule for rule in catalogue if rule.status == "active"]
    wanted = tuple(rule.id for rule in active if tuple(rule.layer) != ("review",))
    mutants: dict[str, list[str]] = {}
    for mutant in mutant_file.collect(*(f for f in mutant_file.folders(root) if f.is_dir()))[0]:
        for rule in mutant.rules:
            mutants.setdefault(rule, []).append(mutant.id)
    lies: dict[str, list[str]] = {}
    found = lie_file.read(root / lie_file.FOLDER)
    drafts = {rule.id for rule in catalogue if rule.status == "draft" and lie_file.may_name(rule)}
    for problem in lie_file.unknown_rules(found, {*wanted, *drafts}):
        raise UserError(problem)
    for lie in found:
        for rule in lie.rules:
            lies.setdefault(rule, []).append(lie.id)
    reasons = exempt_rules.read(root / MUTANTS / exempt_rules.NAME, wanted)
    reviewed = sum(tuple(rule.layer) == ("review",) for rule in active)
    return Evidence(mutants, lies, seeded_faults(root), reasons, wanted, len(active), reviewed)


def findings(root: Path) -> list[str]:
    """Rules without evidence, outdated reasons, and too many reasons."""
    try:
        evidence = read(root)
    except (UserError, OSError, ValueError) as error:
        return [str(error)]
    found = [
        f"{rule}: no mutant and no lie names it, and {exempt_rules.NAME} gives no reason"
        for rule in evidence.without()
    ]
    for rule in evidence.reasons:
        for what, named in (
            ("mutant", evidence.mutants),
            ("lie", evidence.lies),
            ("test", evidence.seeded),
        ):
            if rule in named:
                found.append(
                    f"{rule}: {exempt_rules.NAME} gives a reason, but {what} {named[rule][0]} names it"
                )
    exempt = len(evidence.reasons) + evidence.reviewed
    most = int(MOST_EXEMPT * evidence.active)
    if exempt > most:
        found.append(
            f"{exempt_rules.NAME}: {len(evidence.reasons)} rules with a reason and {evidence.reviewed} reviewed ones "
            f"are more than {MOST_EXEMPT:.0%} of {evidence.active} ({most})"
        )
    return found


def main() -> int:
    """Prints the findings, and the number of rules by evidence."""
    found = findings(store.ROOT)
    print("\n".join(found))
    evidence = read(store.ROOT)
    mutants = sum(rule in evidence.mutants for rule in evidence.wanted)
    lies = sum(rule in evidence.lies for rule in evidence.wanted)
    print(
        f"{len(evidence.wanted)} rules that tests verify: {mutants} named by mutants, {lies} by lies, "
        f"{len(evidence.reasons)} with a reason, {len(evidence.without())} without evidence"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
