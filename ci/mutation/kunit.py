# SPDX-License-Identifier: Apache-2.0
"""Sets the KUnit suites on mutants: a kernel with the mutant in it, all suites in one boot."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pmukunit import guest, results, tree
from pmukunit.ktap import Outcome
from pmuvm import store
from pmuvm.errors import PmuvmError

from mutation import patch, trial, workshop
from mutation.patch import Mutant
from mutation.trial import Trial

SUITES = store.ROOT / "kunit"
DEADLINE_S = 120
SHOWN = 100


def run(kernel: str, driver: Path, folder: Path) -> results.Verdict:
    """What the suites say of the driver in `driver`; PmuvmError if there is no kernel with it."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs = tree.Inputs(
        kernel, SUITES / ".kunitconfig", driver, SUITES, folder / f"build-{kernel}.log"
    )
    image = tree.build(inputs, store.cache() / "kunit")
    boot = guest.boot(image, "", DEADLINE_S, folder / f"console-{kernel}.log")
    return results.judge(kernel, boot, results.expected_suites(SUITES, ""), True)


def names(verdict: results.Verdict, outcome: Outcome, rules: Sequence[str] = ()) -> list[str]:
    """The cases with this outcome: those of one of `rules`, or all."""
    return [
        f"{case.suite}.{case.name}"
        for case in verdict.run.cases
        if case.outcome is outcome and (not rules or set(rules) & set(case.rules))
    ]


def decide(mutant: Mutant, clean: results.Verdict, verdict: results.Verdict) -> Trial:
    """One trial: cases that fail, and pass on the clean driver, kill; so do reports of the kernel.

    A guest that does not come to its end is a CRASH: nobody else is there to say which case it was.
    """
    passed = set(names(clean, Outcome.PASSED))
    own = [name for name in names(verdict, Outcome.FAILED, mutant.rules) if name in passed]
    others = [name for name in names(verdict, Outcome.FAILED) if name in passed]
    reports = [f"(kernel: {line[:SHOWN]})" for line in verdict.reports]
    done = Trial(mutant, verdict.kernel, "SURVIVED", tried=len(verdict.run.cases))
    killers = tuple(own or others or reports)
    if "FAIL" in mutant.kill and killers:
        strange = bool(others) and not own
        return replace(done, result="KILLED", killed_by=killers, other_rules=strange)
    if verdict.problems:
        result = "KILLED" if "CRASH" in mutant.kill else "CRASH"
        return replace(done, result=result, detail=verdict.problems[0])
    return done


def faults(clean: results.Verdict) -> list[str]:
    """What the unmutated driver does wrong: nothing is said of mutants then."""
    said = [*names(clean, Outcome.FAILED), *clean.reports, *clean.problems]
    return [f"KUnit on {clean.kernel}: {line}" for line in said]


def judge(
    kernel: str, mutants: Sequence[Mutant], driver: Path, out: Path, say: Callable[[Trial], None]
) -> tuple[list[Trial], list[str]]:
    """Every mutant on one kernel, one after the other: they share the tree they are built in."""
    clean = run(kernel, driver, out / "clean-kunit")
    print(f"clean driver, KUnit on {kernel}: {len(clean.run.cases)} cases", flush=True)
    trials = []
    for mutant in mutants:
        begun = time.monotonic()
        done = _one(kernel, mutant, driver, out, clean)
        spent = round(time.monotonic() - begun, 2)
        trials.append(replace(done, observer="kunit", duration_s=spent))
        say(trials[-1])
    return trials, faults(clean)


def _one(kernel: str, mutant: Mutant, driver: Path, out: Path, clean: results.Verdict) -> Trial:
    folder = out / "workshop-kunit"
    try:
        copy = workshop.restore(driver, folder)
        patch.apply(mutant, folder)
        return decide(mutant, clean, run(kernel, copy, out / mutant.path.stem / "kunit"))
    except (patch.PatchError, PmuvmError) as error:
        return trial.broken(mutant, kernel, str(error))
