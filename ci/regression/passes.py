# SPDX-License-Identifier: Apache-2.0
"""Records the results of regressions in the cache. A run with the same inputs uses them.

The inputs are the patch without its description, the sources and the configuration of the kernel, the model that is
built into it, the targets, and the part of the suite that runs cases. A catch also has the case that failed as an
input, and a miss has all cases.
"""

from __future__ import annotations

from collections.abc import Mapping

from ci.judge import common_inputs
from ci.mutation.trial import Goal
from ci.regression import recipes
from ci.regression.verdict import Verdict
from ci.remember import records
from ci.remember.inputs import Inputs
from ci.remember.records import Record
from faults.regression_file import Regression
from faults.verdicts import CAUGHT, MISSED
from pmubase import store
from vm import arch, suite
from vm.arch import Arch

INPUTS = Inputs()
OF_ARM64 = ("program:aarch64-linux-gnu-gcc", "package:qemu-system-arm")
OURS = (
    *(f"file:ci/regression/{name}.py" for name in ("bench", "on_kernel", "verdict", "workshop")),
    *(f"file:ci/mutation/{name}.py" for name in ("target_bench", "trial")),
    "file:faults/mutant_file.py",
)


def unit_of(regression: Regression, series: str, on: Arch) -> str:
    """The name of the record of a regression on a kernel."""
    return f"regression/{regression.path.stem}-{recipes.kernel_name(series, on)}"


def stated(regression: Regression, series: str, on: Arch, goal: Goal) -> list[str]:
    """The inputs that are known before the regression is tried."""
    name = recipes.kernel_name(series, on)
    how = recipes.recipe(on)
    options = store.digest([how.options.encode()])
    found = [f"text:{options}", *(OF_ARM64 if on == arch.ARM64 else ())]
    found += [*OURS, f"text:{goal.name}", f"text:{store.digest([regression.content.encode()])}"]
    for part in how.overlay:
        found.append(f"file:driver/{part}" if part[0].isupper() else f"glob:driver/{part}/*")
    for target in recipes.targets_on(regression.targets, on):
        found += common_inputs(suite.find_target(target), name)
    return found


def recorded(regression: Regression, series: str, on: Arch, goal: Goal) -> Verdict | None:
    """The recorded result with the same inputs, if there is one."""
    if goal is Goal.ALL:
        return None
    wanted = stated(regression, series, on, goal)
    found = records.passed(unit_of(regression, series, on), INPUTS, wanted)
    if found is None:
        return None
    details = found.details
    return Verdict(
        regression,
        series,
        str(details["result"]),
        str(details["target"]),
        str(details["case"]),
        str(details["rule"]),
        tuple((str(rule), str(case)) for rule, case in details["failed_rules"]),
        int(details["tried"]),
        detail=str(details["detail"]),
        duration_s=found.took_s,
        recorded=True,
    )


def record(done: Verdict, on: Arch, goal: Goal, files: Mapping[str, str]) -> None:
    """Records a catch by a case, or a miss by all cases. `files`: the source of each case."""
    names = stated(done.regression, done.series, on, goal)
    cases = {done.case, *(case for _, case in done.failed_rules)}
    if done.result == CAUGHT and cases <= files.keys():
        names += [f"case:{files[case]}" for case in sorted(cases)]
    elif done.result == MISSED:
        names.append("suite:cases")
    else:
        return
    details = {
        "result": done.result,
        "target": done.target,
        "case": done.case,
        "rule": done.rule,
        "failed_rules": [list(pair) for pair in done.failed_rules],
        "tried": done.tried,
        "detail": done.detail,
    }
    unit = unit_of(done.regression, done.series, on)
    # The record is of a trial that ended, not of a test that passed. A failure of the run is never recorded.
    digests = INPUTS.digests(names)
    records.write(Record(unit, digests, done.duration_s, details))
