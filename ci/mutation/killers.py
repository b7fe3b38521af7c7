# SPDX-License-Identifier: Apache-2.0
"""Remembers which case killed a mutant last, so that it is the first to be tried; it decides nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from pmuvm import store
from pmuvm.suite import Case

from mutation.patch import Mutant
from mutation.trial import Trial


class Killers:
    """Of each patch file, the case that killed it last, on whichever kernel."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known

    @staticmethod
    def read() -> Killers:
        """What the cache holds; nothing if it holds nothing that can be read."""
        try:
            known = json.loads(_path().read_text(encoding="utf-8"))
            return Killers({str(key): str(case) for key, case in known.items()})
        except (OSError, ValueError, AttributeError):
            return Killers({})

    def first(self, mutant: Mutant, cases: Sequence[Case]) -> list[Case]:
        """The same cases, the killer before the others."""
        killer = self._known.get(mutant.path.name)
        return sorted(cases, key=lambda case: case.id != killer)

    def write(self, trials: Iterable[Trial]) -> None:
        """Remember these, beside what other runs have left meanwhile."""
        killed = [done for done in trials if done.killed and done.observer == "cases"]
        with store.locked(_path().with_suffix(".lock")):
            known = Killers.read()._known
            known |= {done.mutant.path.name: done.killed_by[0] for done in killed}
            store.write(_path(), json.dumps(known, indent=1, sort_keys=True).encode())


def _path() -> Path:
    return store.cache() / "mutants" / "killers.json"
