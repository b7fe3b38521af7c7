# SPDX-License-Identifier: Apache-2.0
"""Records the test that last killed each mutant, so that it runs first the next time. It affects no result."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from ci.mutation.trial import Trial
from faults import mutant_file
from faults.mutant_file import Mutant
from pmubase import store
from vm.suite import Case


class Killers:
    """The test of each observer that last killed each patch file's mutant, on any kernel."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known

    @staticmethod
    def read() -> Killers:
        """The records in the cache; empty if the cache file is missing or unreadable."""
        try:
            known = json.loads(_path().read_text(encoding="utf-8"))
            return Killers({str(key): str(case) for key, case in known.items()})
        except (OSError, ValueError, AttributeError):
            return Killers({})

    def first(self, mutant: Mutant, cases: Sequence[Case]) -> list[Case]:
        """The same cases, with the killer first."""
        killer = self.last(mutant, mutant_file.SUITE)
        return sorted(cases, key=lambda case: case.id != killer)

    def last(self, mutant: Mutant, observer: str) -> str:
        """The test of an observer that last killed the mutant; "" if none did."""
        return self._known.get(_key(mutant, observer), "")

    def write(self, trials: Iterable[Trial]) -> None:
        """Adds these records to the file, which other runs may have changed in the meantime."""
        killed = [done for done in trials if done.killed and done.killed_by]
        with store.locked(_path().with_suffix(".lock")):
            known = Killers.read()._known
            known |= {_key(done.mutant, done.observer): done.killed_by[0] for done in killed}
            store.write(_path(), json.dumps(known, indent=1, sort_keys=True).encode())


def _key(mutant: Mutant, observer: str) -> str:
    return mutant.path.name if observer == mutant_file.SUITE else f"{mutant.path.name} {observer}"


def _path() -> Path:
    return store.cache() / "mutants" / "killers.json"
