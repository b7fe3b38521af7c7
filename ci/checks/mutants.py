# SPDX-License-Identifier: Apache-2.0
"""Compares the mutants with the catalogue and with their classes. Also checks the headers."""

from __future__ import annotations

from pathlib import Path

from ci.mutation import matrix
from conformance.rules.generate import read_catalogue
from faults import mutant_file
from fuzz import corpora
from pmubase import toml_file
from pmubase.errors import UserError
from pmubase.toml_file import TEXT

FOLDER = Path("driver/mutants")
WITHOUT_PATCH = "bugs_without_patch.toml"
BUGS = toml_file.tables("mutant", toml_file.table({"id": TEXT, "reason": TEXT}))


def findings(root: Path) -> list[str]:
    """Unknown names of rules and classes, and mutants without a patch that have one."""
    folder = root / FOLDER
    try:
        catalogue = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
        subjects = {rule.id: rule.subject for rule in catalogue if rule.status != "retired"}
        classes = matrix.classes(folder)
        absent = toml_file.load(folder / WITHOUT_PATCH, BUGS).get("mutant", [])
    except (UserError, OSError, KeyError, ValueError) as error:
        return [str(error)]
    folders = [other for other in mutant_file.folders(root) if other.is_dir()]
    mutants, errors = mutant_file.collect(*folders)
    found = [str(error) for error in errors]
    harnesses = corpora.subjects(root / "fuzz")
    for mutant in mutants:
        if mutant.harness and mutant.harness not in harnesses:
            found.append(f"{mutant.path.name}: no harness {mutant.harness}")
        if mutant.failure_class not in classes:
            found.append(
                f"{mutant.path.name}: {matrix.CLASSES} has no class {mutant.failure_class}"
            )
    for mutant in mutants:
        for rule in mutant.rules:
            if rule not in subjects:
                found.append(f"{mutant.path.name}: no active or draft rule {rule}")
    of_driver = [mutant for mutant in mutants if root / FOLDER in mutant.path.parents]
    named = {rule for mutant in of_driver for rule in mutant.rules}
    for rule in sorted(named & subjects.keys()):
        if subjects[rule] not in ("driver", "suite"):
            found.append(
                f"{rule}: a mutant of the driver violates it, so its subject must be driver, "
                f"not {subjects[rule]}"
            )
    ids = {mutant.id for mutant in mutants}
    for entry in absent:
        if entry["id"] in ids:
            found.append(f"{WITHOUT_PATCH}: {entry['id']} is a patch")
    return found
