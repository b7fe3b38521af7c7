# SPDX-License-Identifier: Apache-2.0
"""Lists the mutants that failed each rule: rules.json.

The evidence of a rule is a test that verifies it, that fails on a mutant which names the rule, and that passes on the
unmutated driver.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from ci.mutation.trial import Trial
from pmubase import store

NAME = "rules.json"


def evidence(trials: Iterable[Trial]) -> dict[str, list[dict[str, str]]]:
    """The mutants that failed each rule. An entry has the keys mutant, observer, test and kernel."""
    found: dict[str, list[dict[str, str]]] = {}
    for done in trials:
        for rule, test in done.failed_rules if done.killed else ():
            found.setdefault(rule, []).append(
                {
                    "mutant": done.mutant.id,
                    "observer": done.observer,
                    "test": test,
                    "kernel": done.kernel,
                }
            )
    return dict(sorted(found.items()))


def unfailed(trials: Sequence[Trial]) -> list[tuple[str, str]]:
    """The rules that a mutant names and that no trial failed, with the mutant. Only mutants whose trials ran all tests
    of these rules are in the list."""
    of_mutant: dict[str, list[Trial]] = {}
    for done in trials:
        of_mutant.setdefault(done.mutant.id, []).append(done)
    found = []
    for mutant, own in of_mutant.items():
        failed = {rule for done in own for rule, _ in done.failed_rules}
        if any(done.searched for done in own):
            found += [(mutant, rule) for rule in own[0].mutant.rules if rule not in failed]
    return found


def write(trials: Sequence[Trial], path: Path) -> None:
    """Writes the evidence as JSON: an object with a list of mutants for each rule."""
    store.write(path, (json.dumps(evidence(trials), indent=1) + "\n").encode())
