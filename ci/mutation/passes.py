# SPDX-License-Identifier: Apache-2.0
"""Records the mutants that cases killed. The next run with the same inputs skips them.

The inputs of a kill are the patch, the driver, the kernel, the target, the part of the suite that runs cases, and the
cases that killed. A change of another case does not invalidate the record.
"""

from __future__ import annotations

from collections.abc import Sequence

from ci.judge import common_inputs
from ci.mutation.patch import Mutant
from ci.mutation.trial import Trial
from ci.units import records
from ci.units.inputs import Inputs
from ci.units.records import Case, Record
from vm import store, suite
from vm.suite import Case as SuiteCase

OURS = ("glob:ci/mutation/*.py", "file:ci/mutants.py")
INPUTS = Inputs()


def _unit(mutant: Mutant, kernel: str) -> str:
    return f"mutant/{mutant.path.stem}-{kernel}"


def _stated(mutant: Mutant, kernel: str) -> list[str]:
    target = suite.find_target(mutant.target)
    patch = f"file:{mutant.path.relative_to(store.ROOT)}"
    return [*common_inputs(target, kernel), *OURS, patch]


def recorded_kill(mutant: Mutant, kernel: str) -> Trial | None:
    """The recorded kill with the same inputs, if there is one."""
    if not mutant.path.is_relative_to(store.ROOT):
        return None
    found = records.passed(_unit(mutant, kernel), INPUTS, _stated(mutant, kernel))
    if found is None:
        return None
    return Trial(
        mutant,
        kernel,
        "KILLED",
        killed_by=tuple(found.details["killed_by"]),
        other_rules=bool(found.details["other_rules"]),
        detail="killed before, with the same inputs",
        tried=int(found.details["tried"]),
        duration_s=found.took_s,
    )


def record_kill(done: Trial, cases: Sequence[SuiteCase]) -> None:
    """Records a kill by cases. A guest that died outside of a case is not recorded."""
    sources = {case.id: case.file for case in cases}
    path = done.mutant.path
    if not done.killed or not path.is_relative_to(store.ROOT):
        return
    if not done.killed_by or any(case not in sources for case in done.killed_by):
        return

    names = [
        *_stated(done.mutant, done.kernel),
        *(f"case:{sources[case]}" for case in done.killed_by),
    ]
    details = {
        "killed_by": list(done.killed_by),
        "other_rules": done.other_rules,
        "tried": done.tried,
    }
    unit = _unit(done.mutant, done.kernel)
    record = Record(unit, INPUTS.digests(names), (Case(unit, "PASS"),), done.duration_s, details)
    records.write(record)
