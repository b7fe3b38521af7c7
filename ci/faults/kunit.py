# SPDX-License-Identifier: Apache-2.0
"""Judges faults by the KUnit suites: one kernel for each fault.

Guests are faster than builds, so the suites that are likely to catch run first, in boots of their own.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ci import kunit_command
from ci.judge import MACHINE, built_inputs, driver_inputs
from ci.faults import modules, trial
from ci.faults.trial import Goal, Planned, Ran, Trial
from ci.remember.inputs import Inputs
from faults import patch
from faults.fault import Fault
from pmubase import store
from pmubase.errors import UserError
from vm.kernel import DEBUG_SUFFIX

SUITES = store.ROOT / "kunit"
DEADLINE_S = 120
"""Deadline of the suites. A fault may make them hang."""
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
        raise UserError(f"{path}: no KUnit results: {error!r}") from error


def build(kernel: str, driver: Path, suites: Path, folder: Path) -> Path:
    """Builds the kernel with the driver in `driver` and the suites in `suites`, and returns the image, in `folder`.
    UserError if that fails."""
    words = [*_words(kernel, folder), "--driver", str(driver), "--suites", str(suites)]
    words += ["--build-only"]
    status, output = kunit_command.run(words, LIMIT_S, f"KUnit on {kernel}: not built")
    if status != 0:
        raise UserError(f"KUnit on {kernel}: {output}")
    return folder / f"bzImage-{kernel.removesuffix(DEBUG_SUFFIX)}"


def boot(kernel: str, image: Path, folder: Path, suite: str = "") -> KunitResults:
    """Boots an image with all suites, or with one."""
    words = [*_words(kernel, folder), "--image", str(image), "--deadline", str(DEADLINE_S)]
    words += ["--filter", suite] if suite else []
    _, output = kunit_command.run(words, LIMIT_S, f"KUnit on {kernel}: not finished")
    results = folder / "results.json"
    if not results.is_file():
        raise UserError(f"KUnit on {kernel}: {output}")
    return read(kernel, results)


def _words(kernel: str, folder: Path) -> list[str]:
    series = kernel.removesuffix(DEBUG_SUFFIX)
    return ["--kernel", series, "--out", str(folder), *(["--debug"] if series != kernel else [])]


def decide(planned: Planned, clean: KunitResults, ran: KunitResults) -> Trial:
    """The result of one run. A case catches the fault if it fails, but passes on the clean driver. A report of the kernel
    catches it too.

    A guest that ends early counts as CRASH, since no report names the case.
    """
    wanted = planned.fault.results
    passed = set(clean.names("PASS"))
    tests = ran.tests
    failed = [test.name for test in tests if test.result == "FAIL" and test.name in passed]
    signs: list[str] = []
    if ran.verdict == "FAILED" and not ran.names("FAIL"):
        signs = [f"(kernel: {line[:SHOWN]})" for line in ran.problems]
    if "FAIL" not in wanted:
        failed, signs = [], []
    died = ran.verdict == "NOT_JUDGED"
    if died and "CRASH" in wanted:
        signs.append("(the guest died)")
    detail = "; ".join(("CRASH", *ran.problems[:1])) if died else ""
    return trial.decide(planned, tests, failed, detail, signs)


def problems(clean: KunitResults) -> list[str]:
    """The errors of the clean driver. With one of these, no fault is judged."""
    return [f"KUnit on {clean.kernel}: {line}" for line in (*clean.names("FAIL"), *clean.problems)]


def first_suites(fault: Fault, clean: KunitResults, catcher: str) -> list[str]:
    """The suites to boot alone before all suites run: that of the test that caught it last, and the one with the most
    tests of the fault's rules."""
    own = Counter(name.partition(".")[0] for name in clean.names("PASS", fault.rules))
    likely = [catcher.partition(".")[0]] if catcher in clean.names("PASS") else []
    likely += [suite for suite, _ in own.most_common(1)] if fault.rules else []
    return list(dict.fromkeys(likely))


class Kunit:
    """The KUnit suites on one kernel. Faults are built one after the other in one tree; guests of several run at the
    same time."""

    def __init__(self, kernel: str, driver: Path, out: Path, say: Callable[[str], None]) -> None:
        """`say` prints a line. The clean driver's image and results are kept below `out`."""
        self._kernel = kernel
        self._driver = driver
        self._out = out
        self._say = say
        self._building = threading.Lock()
        self._clean_lock = threading.Lock()
        self._clean: dict[str, KunitResults] = {}

    def clean(self, suite: str = "") -> KunitResults:
        """The results of the clean driver: of all suites in one boot, or of one suite alone. They are computed once for
        the same inputs."""
        with self._clean_lock:
            if suite not in self._clean:
                self._clean[suite] = self._run_clean(suite)
            return self._clean[suite]

    def problems(self) -> list[str]:
        """The errors of the clean driver, if a fault was judged."""
        return [line for found in self._clean.values() for line in problems(found)]

    def judge(self, planned: Planned, goal: Goal, catcher: str) -> Trial:
        """Judges one fault: by the suites of its rules first, each in a boot of its own, and then by all suites."""
        fault = planned.fault
        clean = self.clean()
        folder = self._out / fault.name / f"kunit-{self._kernel}"
        with self._building:
            shop = self._out / "workshop-kunit"
            copy = modules.restore(self._driver, shop)
            suites = _copy_of_suites(shop) if changes_suites(fault) else SUITES
            patch.apply(fault, shop)
            image = build(self._kernel, copy, suites, folder)
        try:
            for suite in first_suites(fault, clean, catcher) if goal is not Goal.ALL else ():
                ran = boot(self._kernel, image, folder, suite)
                done = decide(planned, self.clean(suite), ran)
                if done.caught and (goal is Goal.CATCH or not done.unfailed_rules):
                    return done
            return decide(planned, clean, boot(self._kernel, image, folder))
        finally:
            image.unlink(missing_ok=True)

    def _run_clean(self, suite: str) -> KunitResults:
        """Boots the clean driver, unless its results with the same inputs are there."""
        folder = self._out / "clean-kunit" / self._kernel
        stamp = folder / "key"
        key = store.digest(
            part.encode() for pair in INPUTS.digests(inputs(self._kernel)).items() for part in pair
        )
        if not stamp.is_file() or stamp.read_text(encoding="ascii") != key:
            shutil.rmtree(folder, ignore_errors=True)
            with self._building:
                build(self._kernel, self._driver, SUITES, folder)
            store.write(stamp, key.encode())
        place = folder / (suite or "all")
        if not (place / "results.json").is_file():
            series = self._kernel.removesuffix(DEBUG_SUFFIX)
            boot(self._kernel, folder / f"bzImage-{series}", place, suite)
        found = read(self._kernel, place / "results.json")
        if problems(found):
            (place / "results.json").unlink()  # A failure is never kept.
        if not suite:
            passed = len(found.names("PASS"))
            self._say(f"clean driver, KUnit on {self._kernel}: {passed} cases")
        return found


def changes_suites(fault: Fault) -> bool:
    """Whether the fault changes the suites instead of the driver."""
    return any(name.startswith("kunit/") for name in fault.files)


def _copy_of_suites(shop: Path) -> Path:
    """Makes `shop` contain a new copy of the suites."""
    copy = shop / SUITES.name
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns("tests", "*.py", "__pycache__")
    return Path(shutil.copytree(SUITES, copy, ignore=ignored))


INPUTS = Inputs()


def inputs(kernel: str) -> list[str]:
    """All that the results of the clean driver depend on."""
    return [
        *(*driver_inputs(), *MACHINE, *built_inputs(kernel)),
        *("glob:kunit/*.[ch]", "glob:kunit/pmukunit/*.py", "glob:kunit/vectors/*"),
        *("file:kunit/Kbuild", "file:kunit/Kconfig", "file:kunit/.kunitconfig"),
        *("file:vm/tree.py", "file:vm/source.py", "file:vm/leaks.py", "file:ci/kunit_command.py"),
    ]
