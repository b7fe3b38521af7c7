# SPDX-License-Identifier: Apache-2.0
"""Reports the results of the mutants: for a person, for programs, and as an exit status."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.mutation.trial import Trial

CASES_SHOWN = 3
NAMES_SHOWN = 20


def shortened(names: Sequence[str], shown: int = NAMES_SHOWN) -> str:
    """The first names of a list, and the number of the others."""
    more = [f"and {len(names) - shown} more"] if len(names) > shown else []
    return ", ".join([*names[:shown], *more])


def line(trial: Trial) -> str:
    """One line about one trial."""
    words = []
    if trial.killed_by:
        words.append(f"by {shortened(trial.killed_by, CASES_SHOWN)}")
    if trial.other_rules:
        words.append("(by other rules than it names)")
    if trial.detail:
        words.append(trial.detail)
    words += [f"[{remark}]" for remark in trial.mutant.remarks]
    return (
        f"{trial.mutant.id:<12}{trial.kernel:<11}{trial.result:<9}"
        f"{trial.duration_s:>6.1f} s  {' '.join(words)}"
    ).rstrip()


def summary(trials: Sequence[Trial], errors: Sequence[str], faults: Sequence[str]) -> str:
    """The last lines: surviving mutants, mutants that were not judged, and the count."""
    lines = [f"not judged: {error}" for error in errors]
    lines += [f"the clean driver is not clean: {fault}" for fault in faults]
    for trial in trials:
        if not trial.killed:
            where = f"KUnit on {trial.kernel}" if trial.observer == "kunit" else trial.kernel
            lines.append(f"{trial.mutant.id} on {where}: {trial.result}: {_what(trial)}")
    killed = sum(trial.killed for trial in trials)
    lines.append(f"{killed} of {len(trials) + len(errors)} mutants killed")
    return "\n".join(lines)


def _what(trial: Trial) -> str:
    rules = f"rules {', '.join(trial.mutant.rules)}" if trial.mutant.rules else "no rules named"
    return f"{trial.detail or trial.mutant.text or trial.mutant.path.name} ({rules})"


def status(trials: Sequence[Trial], errors: Sequence[str], faults: Sequence[str]) -> int:
    """Returns 0 if all mutants were killed, 1 if not, 2 if not judged. An unclean driver prevents all judgements."""
    if faults or not trials and not errors:
        return 2
    if any(trial.result not in ("KILLED", "BROKEN") for trial in trials):
        return 1
    return 2 if errors or any(trial.result == "BROKEN" for trial in trials) else 0


def rows(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """The trials as rows of the results file."""
    return [
        {
            "id": trial.mutant.id,
            "file": trial.mutant.path.name,
            "class": trial.mutant.failure_class,
            "kernel": trial.kernel,
            "observer": trial.observer,
            "result": trial.result,
            "killed_by": list(trial.killed_by),
            "other_rules": trial.other_rules,
            "rules": list(trial.mutant.rules),
            "cases_tried": trial.tried,
            "duration_s": trial.duration_s,
            "detail": trial.detail,
            "remarks": list(trial.mutant.remarks),
        }
        for trial in trials
    ]


def write(
    trials: Sequence[Trial],
    errors: Sequence[str],
    faults: Sequence[str],
    skipped: int,
    path: Path,
) -> None:
    """Writes the results to a file."""
    killed = sum(trial.killed for trial in trials)
    cases = len(trials) + len(errors) + len(faults)
    figures = {
        "killed": killed,
        "total": len(trials) + len(errors),
        "totals": {
            "cases": cases + skipped,
            "passed": killed,
            "failed": cases - killed,
            "skipped": skipped,
        },
        "problems": [*errors, *(f"clean driver: {fault}" for fault in faults)],
        "mutants": rows(trials),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
