# SPDX-License-Identifier: Apache-2.0
"""Compares the catalogue with the mutants: a mutant must violate each rule of the driver. Also checks the headers."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ci.mutation import exempt_rules, matrix, patch
from conformance.rules.generate import CatalogueError, read_catalogue
from fuzz import corpora

FOLDER = Path("driver/mutants")
WITHOUT_PATCH = "bugs_without_patch.toml"


def findings(root: Path) -> list[str]:
    """Rules with cases but without a mutant or a reason, and unknown names."""
    folder = root / FOLDER
    try:
        catalogue = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
        active = {rule.id: rule.layer for rule in catalogue if rule.status == "active"}
        wanted = {rule for rule, layer in active.items() if "case" in layer}
        reasons, single = exempt_rules.read(folder / exempt_rules.NAME, wanted)
        classes = matrix.classes(folder)
        absent = tomllib.loads((folder / WITHOUT_PATCH).read_text(encoding="utf-8"))["mutant"]
    except (CatalogueError, exempt_rules.ExemptRulesError, OSError, KeyError, ValueError) as error:
        return [str(error)]
    folders = [other for other in patch.folders(root) if other.is_dir()]
    mutants, errors = patch.collect(*folders)
    found = [str(error) for error in errors]
    harnesses = corpora.subjects(root / "fuzz")
    for mutant in mutants:
        if mutant.harness and mutant.harness not in harnesses:
            found.append(f"{mutant.path.name}: no harness {mutant.harness}")
        if patch.has_old_observer(mutant):
            found.append(f"{mutant.path.name}: Observers: 'cases' is now called 'suite'")
        if mutant.failure_class not in classes:
            found.append(
                f"{mutant.path.name}: {matrix.CLASSES} has no class {mutant.failure_class}"
            )
    named = {rule for mutant in mutants for rule in mutant.rules}
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
    for rule in sorted(wanted - named - reasons.keys()):
        found.append(f"{rule}: no mutant names it, and {exempt_rules.NAME} gives no reason")
    for rule in sorted(single & named):
        found.append(f"{rule}: {exempt_rules.NAME} gives a reason, but a mutant names it")
    return found
