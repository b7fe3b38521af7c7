# SPDX-License-Identifier: Apache-2.0
"""Compares the mutants with the catalogue and with their classes."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ci.mutation import matrix, patch
from conformance.rules.generate import CatalogueError, read_catalogue

FOLDER = Path("driver/mutants")
WITHOUT_PATCH = "bugs_without_patch.toml"


def findings(root: Path) -> list[str]:
    """Unknown names of rules and classes, and mutants without a patch that have one."""
    folder = root / FOLDER
    try:
        catalogue = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
        active = {rule.id for rule in catalogue if rule.status == "active"}
        classes = matrix.classes(folder)
        absent = tomllib.loads((folder / WITHOUT_PATCH).read_text(encoding="utf-8"))["mutant"]
    except (CatalogueError, OSError, KeyError, ValueError) as error:
        return [str(error)]
    mutants, errors = patch.collect(folder)
    found = [str(error) for error in errors]
    for mutant in mutants:
        if mutant.failure_class not in classes:
            found.append(
                f"{mutant.path.name}: {matrix.CLASSES} has no class {mutant.failure_class}"
            )
    for mutant in mutants:
        for rule in mutant.rules:
            if rule not in active:
                found.append(f"{mutant.path.name}: no active rule {rule}")
    ids = {mutant.id for mutant in mutants}
    for entry in absent:
        if set(entry) != {"id", "reason"} or not entry["reason"].strip():
            found.append(f"{WITHOUT_PATCH}: an entry needs an id and a reason: {entry}")
        elif entry["id"] in ids:
            found.append(f"{WITHOUT_PATCH}: {entry['id']} is a patch")
    return found
