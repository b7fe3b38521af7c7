# SPDX-License-Identifier: Apache-2.0
"""Runs the KUnit suites on mutants: one kernel with the mutant, all suites in one boot."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ci import kunit_command
from ci.mutation import patch, trial, workshop
from ci.mutation.patch import Mutant
from ci.mutation.killers import Killers
from ci.mutation.trial import Goal, Ran, Trial
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

    @property
    def tests(self) -> tuple[Ran, ...]:
        """The cases that ran."""
        return tuple(
            Ran(name, result, rules, f"kunit/{name.partition('.')[0]}_kunit.c")
            for result, its in self.cases.items()
            for name, rules in its.items()
        )

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


def decide(mutant: Mutant, clean: KunitResults, ran: KunitResults, whole: bool = True) -> Trial:
    """Judges one mutant. A case kills it if the case fails, but passes on the clean driver. A report of the kernel
    kills it too. `whole`: all suites ran.

    A guest that ends early counts as CRASH, since no report names the case.
    """
    passed = set(clean.names("PASS"))
    tests = ran.tests
    failed = [test for test in tests if test.result == "FAIL" and test.name in passed]
    own = [test.name for test in failed if set(test.rules) & set(mutant.rules)]
    reported = ran.verdict == "FAILED" and not ran.names("FAIL")
    reports = [f"(kernel: {line[:SHOWN]})" for line in ran.problems if reported]
    done = Trial(
        mutant,
        ran.kernel,
        "SURVIVED",
        tried=len(tests),
        observer=patch.KUNIT,
        failed_rules=trial.failed_rules(mutant, failed) if "FAIL" in mutant.kill else (),
        searched=whole and ran.verdict != "NOT_JUDGED",
        ran=tests,
    )
    killers = tuple(own or [test.name for test in failed] or reports)
    if "FAIL" in mutant.kill and killers:
        strange = bool(failed) and not own
        return replace(done, result="KILLED", killed_by=killers, other_rules=strange)
    if ran.verdict == "NOT_JUDGED":
        result = "KILLED" if "CRASH" in mutant.kill else "CRASH"
        return replace(done, result=result, detail="; ".join(ran.problems[:1]))
    return done


def faults(clean: KunitResults) -> list[str]:
    """The errors of the unmutated driver. With one of these, no mutant is judged."""
    return [f"KUnit on {clean.kernel}: {line}" for line in (*clean.names("FAIL"), *clean.problems)]


class Kunit:
    """The KUnit suites on one kernel. One mutant at a time is built."""

    def __init__(self, kernel: str, driver: Path, out: Path, say: Callable[[str], None]) -> None:
        self._kernel = kernel
        self._driver = driver
        self._out = out
        self._say = say
        self._clean: KunitResults | None = None

    def clean(self) -> KunitResults:
        """The results of the unmutated driver. They are computed once."""
        if self._clean is None:
            folder = self._out / "clean-kunit" / self._kernel
            self._clean = run(self._kernel, self._driver, folder)
            passed = len(self._clean.names("PASS"))
            self._say(f"clean driver, KUnit on {self._kernel}: {passed} cases")
        return self._clean

    def faults(self) -> list[str]:
        """The errors of the unmutated driver, if a mutant was judged."""
        return faults(self._clean) if self._clean else []

    def judge(self, mutant: Mutant, known: Killers, goal: Goal) -> Trial:
        """Judges one mutant."""
        clean = self.clean()
        folder = self._out / "workshop-kunit"
        try:
            copy = workshop.restore(self._driver, folder)
            patch.apply(mutant, folder)
            out = self._out / mutant.path.stem / f"kunit-{self._kernel}"
            return decide(mutant, clean, run(self._kernel, copy, out))
        except (patch.PatchError, PmuvmError) as error:
            return replace(trial.broken(mutant, self._kernel, str(error)), observer=patch.KUNIT)
