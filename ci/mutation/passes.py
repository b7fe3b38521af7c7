# SPDX-License-Identifier: Apache-2.0
"""Records the mutants that were killed. The next run with the same inputs skips them.

The inputs of a kill are the mutant itself, all that the observer runs, and the tests that killed. A change of the
patch's description, or of another case, does not invalidate the record. A record of a run until each rule was failed
also has the cases of all rules that the mutant names as its inputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from ci.judge import common_inputs
from ci.mutation import host, kunit, trial
from ci.mutation.trial import Goal, Trial
from ci.remember import records
from ci.remember.inputs import Inputs
from ci.remember.records import Record
from faults import mutant_file
from faults.mutant_file import Mutant
from pmubase import store
from vm import suite
from vm.suite import Case as SuiteCase

OURS = ("glob:ci/mutation/*.py", "glob:faults/*.py", "file:ci/mutants.py")
INPUTS = Inputs()
HOST_INPUTS = (
    *(f"glob:{folder}/*" for folder in (*host.PURE, "driver/unit", "kunit/vectors")),
    *("file:driver/msr/numbers.c", "glob:driver/msr/*.h"),
)


def unit_of(mutant: Mutant, name: str, observer: str) -> str:
    """The name of the record of a mutant with an observer on a kernel."""
    return f"mutant/{mutant.path.stem}-{name}-{observer}"


def stated(
    mutant: Mutant, name: str, observer: str, cases: Sequence[SuiteCase], goal: Goal
) -> list[str]:
    """The inputs that are known before the mutant is tried. `cases`: of the mutant's target, for the suite alone."""
    ours = [*OURS, f"text:{store.digest([mutant.content.encode()])}"]
    if observer == mutant_file.UNIT:
        return [
            *ours,
            *HOST_INPUTS,
            "program:g++",
            "package:libgtest-dev",
            "package:libgmock-dev",
        ]
    if observer == mutant_file.FUZZ:
        corpus = f"fuzz/corpus/{mutant.harness}"
        suite_files = (f"file:{name}" for name in host.suite_sources(store.ROOT))
        return [
            *(*ours, *HOST_INPUTS, *suite_files, "glob:conformance/*.h", "glob:oracle/*.h"),
            *("glob:fuzz/*.cpp", "glob:fuzz/*.h", "file:fuzz/suite.txt", "file:fuzz/corpora.py"),
            *(f"file:{corpus}.zip", f"glob:{corpus}/*", "program:clang"),
        ]
    if observer == mutant_file.KUNIT:
        return [*ours, *kunit.inputs(name)]
    inputs = [*common_inputs(suite.find_target(mutant.target), name), *ours]
    if goal is Goal.RULES:
        own = trial.cases_of_rules(mutant, cases) if mutant.rules else []
        names = store.digest(case.id.encode() for case in own)
        inputs += [f"text:{names}", *(f"case:{case.file}" for case in own)]
    return inputs


def recorded_kill(
    mutant: Mutant, name: str, observer: str, cases: Sequence[SuiteCase], goal: Goal
) -> Trial | None:
    """The recorded kill with the same inputs, if there is one that reached the goal."""
    if goal is Goal.ALL:
        return None
    wanted = stated(mutant, name, observer, cases, goal)
    found = records.passed(unit_of(mutant, name, observer), INPUTS, wanted)
    if found is None:
        return None
    done = Trial(
        mutant,
        name,
        "KILLED",
        killed_by=tuple(found.details["killed_by"]),
        other_rules=bool(found.details["other_rules"]),
        detail="killed before, with the same inputs",
        tried=int(found.details["tried"]),
        duration_s=found.took_s,
        observer=observer,
        failed_rules=tuple((str(r), str(t)) for r, t in found.details["failed_rules"]),
        searched=bool(found.details["searched"]),
    )
    return None if goal is Goal.RULES and done.unfailed_rules and not done.searched else done


def record_kill(done: Trial, cases: Sequence[SuiteCase], goal: Goal) -> None:
    """Records a kill by tests. A guest that died outside of a case is not recorded."""
    if not done.killed or not done.killed_by or any(name[0] == "(" for name in done.killed_by):
        return
    names = stated(done.mutant, done.kernel, done.observer, cases, goal)
    if done.observer == mutant_file.SUITE:
        sources = {case.id: case.file for case in cases}
        names += [f"case:{sources[case]}" for case in done.killed_by]
    details = {
        "killed_by": list(done.killed_by),
        "other_rules": done.other_rules,
        "tried": done.tried,
        "failed_rules": [list(pair) for pair in done.failed_rules],
        "searched": done.searched,
    }
    unit = unit_of(done.mutant, done.kernel, done.observer)
    record = Record(unit, INPUTS.digests(names), done.duration_s, details)
    records.write(record)
