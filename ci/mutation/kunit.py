# SPDX-License-Identifier: Apache-2.0
"""Runs the KUnit suites on mutants: one kernel with the mutant, all suites in one boot."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ci import kunit_command
from ci.mutation import patch, trial, workshop
from ci.mutation.patch import Mutant
from ci.mutation.trial import Trial
from vm.errors import PmuvmError
from vm.kernel import DEBUG_SUFFIX

DEADLINE_S = 120
"""Deadline of the suites. A mutant may make them hang."""
LIMIT_S = 1800
"""Time limit for the build of the kernel and the suites."""
SHOWN = 100


@dataclass(frozen=True)
class KunitResults:
    """The content of a results.json of kunit.pmukunit. `cases`: the rules of each case, by result."""

    kernel: str
    verdict: str
    cases: dict[str, dict[str, tuple[str, ...]]]
    problems: tuple[str, ...]

    def names(self, result: str, rules: Sequence[str] = ()) -> list[str]:
        """The cases with this result: all of them, or those of `rules`."""
        found = self.cases.get(result, {})
        return [name for name, its in found.items() if not rules or set(rules) & set(its)]


def read(kernel: str, path: Path) -> KunitResults:
    """Reads the results of a run."""
    try:
        left = json.loads(path.read_text(encoding="utf-8"))
        cases: dict[str, dict[str, tuple[str, ...]]] = {}
        for case in left["cases"]:
            cases.setdefault(case["result"], {})[case["id"]] = tuple(case["rules"])
        return KunitResults(kernel, left["verdict"], cases, tuple(left["problems"]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PmuvmError(f"{path}: no KUnit results: {error!r}") from error


def run(kernel: str, driver: Path, folder: Path) -> KunitResults:
    """Runs the suites with the driver in `driver`. PmuvmError if its kernel does not build."""
    series = kernel.removesuffix(DEBUG_SUFFIX)
    words = ["--kernel", series, "--driver", str(driver), "--out", str(folder)]
    words += ["--debug"] if series != kernel else []
    words += ["--deadline", str(DEADLINE_S)]
    _, output = kunit_command.run(words, LIMIT_S, f"KUnit on {kernel}: not finished")
    results = folder / "results.json"
    if not results.is_file():
        raise PmuvmError(f"KUnit on {kernel}: {output}")
    return read(kernel, results)


def decide(mutant: Mutant, clean: KunitResults, ran: KunitResults) -> Trial:
    """Judges one mutant. A case kills it if the case fails, but passes on the clean driver. A report of the kernel
    kills it too.

    A guest that ends early counts as CRASH, since no report names the case.
    """
    passed = set(clean.names("PASS"))
    own = [name for name in ran.names("FAIL", mutant.rules) if name in passed]
    others = [name for name in ran.names("FAIL") if name in passed]
    reported = ran.verdict == "FAILED" and not ran.names("FAIL")
    reports = [f"(kernel: {line[:SHOWN]})" for line in ran.problems if reported]
    tried = sum(len(cases) for cases in ran.cases.values())
    done = Trial(mutant, ran.kernel, "SURVIVED", tried=tried)
    killers = tuple(own or others or reports)
    if "FAIL" in mutant.kill and killers:
        strange = bool(others) and not own
        return replace(done, result="KILLED", killed_by=killers, other_rules=strange)
    if ran.verdict == "NOT_JUDGED":
        result = "KILLED" if "CRASH" in mutant.kill else "CRASH"
        return replace(done, result=result, detail="; ".join(ran.problems[:1]))
    return done


def faults(clean: KunitResults) -> list[str]:
    """The errors of the unmutated driver. With one of these, no mutant is judged."""
    return [f"KUnit on {clean.kernel}: {line}" for line in (*clean.names("FAIL"), *clean.problems)]


def judge(
    kernel: str, mutants: Sequence[Mutant], driver: Path, out: Path, say: Callable[[Trial], None]
) -> tuple[list[Trial], list[str]]:
    """Judges all mutants on one kernel, one after the other, since they share a build tree."""
    clean = run(kernel, driver, out / "clean-kunit" / kernel)
    print(f"clean driver, KUnit on {kernel}: {len(clean.names('PASS'))} cases", flush=True)
    trials = []
    for mutant in mutants:
        begun = time.monotonic()
        done = _one(kernel, mutant, driver, out, clean)
        spent = round(time.monotonic() - begun, 2)
        trials.append(replace(done, observer="kunit", duration_s=spent))
        say(trials[-1])
    return trials, faults(clean)


def _one(kernel: str, mutant: Mutant, driver: Path, out: Path, clean: KunitResults) -> Trial:
    folder = out / "workshop-kunit"
    try:
        copy = workshop.restore(driver, folder)
        patch.apply(mutant, folder)
        return decide(mutant, clean, run(kernel, copy, out / mutant.path.stem / f"kunit-{kernel}"))
    except (patch.PatchError, PmuvmError) as error:
        return trial.broken(mutant, kernel, str(error))
