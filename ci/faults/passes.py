# SPDX-License-Identifier: Apache-2.0
"""Records the results of trials in the cache: a catch, and a miss that the fault expects. A run with the same inputs uses
them.

The inputs are the fault without its description, all that the observer runs, and the tests that caught it: a change of
another case does not invalidate the record. A miss has all cases as its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping

from ci.faults import kernels, kunit
from ci.faults.host import suite_sources
from ci.faults.trial import CAUGHT, MISSED, Goal, Planned, Trial
from ci.judge import common_inputs
from ci.remember import records
from ci.remember.inputs import Inputs
from ci.remember.records import Record
from faults.fault import DEVICE, FUZZ, KERNEL, KUNIT, SUITE, TEST, UNIT
from pmubase import store
from vm import arch, suite

INPUTS = Inputs()
BUILD_INPUTS = ("glob:cmake/*", "file:CMakeLists.txt", "file:CMakePresets.json", "file:ci/build")
UNIT_INPUTS = (
    *("glob:driver/core/*", "glob:driver/model/*", "glob:driver/include/*", "glob:driver/msr/*"),
    *("glob:driver/unit/*", "file:driver/CMakeLists.txt", "glob:kunit/vectors/*"),
)
ARM64_INPUTS = ("program:aarch64-linux-gnu-gcc", "package:qemu-system-arm")


def unit_of(planned: Planned) -> str:
    """The name of the record of a trial."""
    return f"fault/{planned.fault.name}-{planned.kernel}-{planned.observer}"


def stated(planned: Planned, goal: Goal) -> list[str]:
    """The inputs that are known before the fault is tried."""
    fault = planned.fault
    ours = [
        *("glob:ci/faults/*", "glob:faults/*.py", f"text:{goal.name}"),
        f"text:{store.digest([fault.content.encode()])}",
    ]
    if planned.observer == UNIT:
        compiler = ("program:g++", "package:libgtest-dev", "package:libgmock-dev")
        return [*ours, *BUILD_INPUTS, *UNIT_INPUTS, *compiler]
    if planned.observer == FUZZ:
        corpus = f"fuzz/corpus/{fault.harness}"
        return [
            *(*ours, *BUILD_INPUTS, *UNIT_INPUTS, "glob:conformance/*.h", "glob:oracle/*.h"),
            *(f"file:{name}" for name in suite_sources(store.ROOT)),
            *("glob:fuzz/*.cpp", "glob:fuzz/*.h", "glob:fuzz/*.txt", "file:fuzz/corpora.py"),
            *(f"file:{corpus}.zip", f"glob:{corpus}/*", "program:clang"),
        ]
    if planned.observer == KUNIT:
        return [*ours, *kunit.inputs(planned.kernel)]
    targets = fault.targets
    if fault.breaks == DEVICE:
        ours += ["glob:vm/devices/*", f"source:{planned.kernel}"]
        if arch.ARM64 in kernels.arches_of(targets):
            ours += [*ARM64_INPUTS, f"cache:kernels/{planned.kernel}-arm64.json"]
    if fault.breaks == KERNEL:
        on = kernels.place(planned.kernel)[1]
        how = kernels.recipe(on)
        ours += [f"text:{store.digest([how.options.encode()])}"]
        ours += ARM64_INPUTS if on == arch.ARM64 else ()
        for part in how.overlay:
            ours.append(f"file:driver/{part}" if part[0].isupper() else f"glob:driver/{part}/*")
        targets = tuple(kernels.targets_on(targets, on))
    for target in targets:
        ours += common_inputs(suite.find_target(target), planned.kernel)
    return ours


def recorded(planned: Planned, goal: Goal) -> Trial | None:
    """The recorded result with the same inputs, if there is one."""
    if goal is Goal.ALL or planned.observer == TEST:
        return None
    found = records.passed(unit_of(planned), INPUTS, stated(planned, goal))
    if found is None:
        return None
    details = found.details
    return Trial(
        planned.fault,
        planned.kernel,
        planned.observer,
        str(details["result"]),
        tuple(details["by"]),
        tuple((str(rule), str(test)) for rule, test in details["failed_rules"]),
        tuple(details["other_rules"]),
        int(details["tried"]),
        str(details["detail"]),
        found.took_s,
        recorded=True,
    )


def record(done: Trial, planned: Planned, goal: Goal, cases: Mapping[str, suite.Case]) -> None:
    """Records a catch by tests, or an expected miss. A guest that died outside of a case is not recorded. `cases`: those
    of the suite that could run."""
    names = stated(planned, goal) if planned.observer != TEST else []
    if not names or done.result != (MISSED if planned.fault.missed else CAUGHT):
        return
    if done.result == MISSED:
        names.append("suite:cases")
    elif not done.by or any(name.startswith("(") for name in done.by):
        return
    elif planned.observer == SUITE:
        used = {*done.by, *(test for _, test in done.failed_rules)}
        if goal is Goal.RULES:
            used |= {name for name, case in cases.items() if set(case.rules) & set(planned.rules)}
        names += [f"case:{file}" for file in sorted({cases[name].file for name in used})]
    details = {
        "result": done.result,
        "by": list(done.by),
        "failed_rules": [list(pair) for pair in done.failed_rules],
        "other_rules": list(done.other_rules),
        "tried": done.tried,
        "detail": done.detail,
    }
    unit = unit_of(planned)
    # The record is of a trial that ended as it should.
    records.write(Record(unit, INPUTS.digests(names), done.took_s, details))
