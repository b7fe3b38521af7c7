# SPDX-License-Identifier: Apache-2.0
"""Records the test that last caught each fault, so that it runs first the next time. It affects no result."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ci.faults.trial import Trial
from faults.fault import Fault
from pmubase import store


class Catchers:
    """The test of each observer that last caught each fault, on any kernel."""

    def __init__(self, known: dict[str, str]) -> None:
        self._known = known

    @staticmethod
    def read() -> Catchers:
        """The records in the cache; empty if the cache file is missing or unreadable."""
        try:
            known = json.loads(_path().read_text(encoding="utf-8"))
            return Catchers({str(key): str(case) for key, case in known.items()})
        except (OSError, ValueError, AttributeError):
            return Catchers({})

    def last(self, fault: Fault, observer: str) -> str:
        """The test of an observer that last caught the fault; "" if none did."""
        return self._known.get(f"{fault.name} {observer}", "")

    def write(self, trials: Iterable[Trial]) -> None:
        """Adds these records to the file, which other runs may have changed in the meantime."""
        new = {f"{t.fault.name} {t.observer}": t.by[0] for t in trials if t.by}
        with store.locked(_path().with_suffix(".lock")):
            known = Catchers.read()._known | new
            store.write(_path(), json.dumps(known, indent=1, sort_keys=True).encode())


def _path() -> Path:
    return store.cache() / "faults" / "catchers.json"
