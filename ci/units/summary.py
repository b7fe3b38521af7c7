# SPDX-License-Identifier: Apache-2.0
"""build/check/results.json: the result of each unit of a run, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from ci.units.unit import Outcome, Unit
from pmubase import store


def write(path: Path, outcomes: Sequence[Outcome], never: Sequence[Unit]) -> None:
    """Writes `units[] {name, result, took_s, cached, failed[], repeat}` and `totals`.

    `never`: units that did not run, since a build failed or the run was stopped.
    """
    every = [case for outcome in outcomes for case in outcome.cases]
    passed = sum(case.result == "PASS" for case in every)
    failed = sum(not case.good for case in every) + len(never)
    rows = [
        {
            "name": outcome.unit.name,
            "result": "FAIL" if outcome.failed else "PASS",
            "took_s": round(outcome.took_s, 2),
            "cached": outcome.cached,
            "failed": [case.id for case in outcome.failed],
            "repeat": outcome.unit.repeat,
        }
        for outcome in outcomes
    ]
    rows += [{"name": unit.name, "result": "NOT_RUN", "failed": []} for unit in never]
    totals = {
        "cases": len(every) + len(never),
        "passed": passed,
        "failed": failed,
        "skipped": len(every) + len(never) - passed - failed,
    }
    document = {"totals": totals, "units": rows}
    store.write(path, json.dumps(document, indent=1).encode())
