# SPDX-License-Identifier: Apache-2.0
"""Judges mutants without a guest: by the unit tests of the driver, and by the corpus of a fuzz harness."""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ci.mutation import trial
from ci.mutation.host import UNIT_TESTS, HostTree
from ci.mutation.trial import Ran, Trial
from faults import mutant_file
from faults.mutant_file import Mutant
from fuzz import corpora
from pmubase import store
from pmubase.errors import UserError

KERNEL = "host"
"""The name of this machine where another trial has a kernel."""
UNIT_LIMIT_S = 600
SLOW = "*ModelAtomicity*"
"""The unit tests that interrupt accesses of the model at each instruction. They take longer than all others together."""
CORPUS_LIMIT_S = 300
HARNESS_RULES = ("STR-005", "STR-006")
"""The rules that every harness verifies."""
RUN = re.compile(r"^\[ RUN      \] (\S+)$", re.M)
SUITE = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+)", re.M)
FAILED = re.compile(r"^\[  FAILED  \] (\S+?)(?:,| \()", re.M)
FOUND = re.compile(r"property broken|runtime error")


class Host:
    """The programs of one checkout that judge mutants. One mutant at a time is judged."""

    def __init__(self, root: Path, folder: Path) -> None:
        """`folder` keeps objects between runs."""
        self._folder = folder
        self._tree: HostTree | None = None
        self._root = root
        self._faults: dict[str, list[str]] = {}

    @contextlib.contextmanager
    def program(self, mutant: Mutant | None, target: str) -> Iterator[Path]:
        """The program `target` (UNIT_TESTS, or a harness) with the mutant, or without one. PatchError or UserError if
        there is none."""
        with store.locked(self._folder.parent / f".{self._folder.name}.lock"):
            if self._tree is None:
                self._tree = HostTree(self._root, self._folder)
            if mutant is None:
                yield self._tree.build(target)
                return
            with self._tree.mutated(mutant):
                yield self._tree.build(target)

    def unit(self, mutant: Mutant, every: bool = False) -> Trial:
        """Runs the unit tests on a mutant until one fails, or all of them if `every`."""
        try:
            self._check_clean(UNIT_TESTS)
            with self.program(mutant, UNIT_TESTS) as program:
                status, output = run_unit_tests(program, every, needs_slow(mutant))
                return decide_unit(mutant, status, output, files_of_suites(self._root))
        except (mutant_file.PatchError, UserError) as error:
            return replace(trial.broken(mutant, KERNEL, str(error)), observer=mutant_file.UNIT)

    def fuzz(self, mutant: Mutant) -> Trial:
        """Replays the corpus of the mutant's harness, and the input that is named after the mutant alone."""
        try:
            self._check_clean(mutant.harness)
            with self.program(mutant, mutant.harness) as program:
                return decide_fuzz(mutant, replayed(program, mutant))
        except (mutant_file.PatchError, UserError) as error:
            return replace(trial.broken(mutant, KERNEL, str(error)), observer=mutant_file.FUZZ)

    def faults(self) -> list[str]:
        """The errors of the programs without a mutant, of those that judged one."""
        return [fault for found in self._faults.values() for fault in found]

    def _check_clean(self, target: str) -> None:
        """Runs a program without a mutant, once. UserError if it fails, since it then judges no mutant."""
        if target not in self._faults:
            with self.program(None, target) as program:
                self._faults[target] = _faults_of(program, target)
        if self._faults[target]:
            raise UserError(f"fails without a mutant: {self._faults[target][0]}")


def _faults_of(program: Path, target: str) -> list[str]:
    if target != UNIT_TESTS:
        return [f"harness {name}" for name, bad in replay(program, target, None) if bad]
    status, output = run_unit_tests(program, every=True, slow=True)
    failed = failed_tests(output) or [f"status {status}"] * (status != 0)
    return [f"unit tests: {name}" for name in failed]


def run_unit_tests(program: Path, every: bool, slow: bool) -> tuple[int | None, str]:
    """The exit status of the unit tests, None if they did not end, and their output. The `slow` ones run last, and not
    after a failure, unless `every`."""
    words = [str(program), *([] if every else ["--gtest_fail_fast"])]
    status, output = _run([*words, f"--gtest_filter=-{SLOW}"], UNIT_LIMIT_S)
    if not slow or (status != 0 and not every):
        return status, output
    after, more = _run([*words, f"--gtest_filter={SLOW}"], UNIT_LIMIT_S)
    return after if status == 0 else status, output + more


def needs_slow(mutant: Mutant) -> bool:
    """Whether the slow unit tests run code that the mutant changes."""
    return any(
        name.startswith(("driver/model/", "driver/include/"))
        for name in mutant_file.touched(mutant)
    )


def _run(words: Sequence[str], limit_s: float) -> tuple[int | None, str]:
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                timeout=limit_s,
                check=False,
            )
            status: int | None = done.returncode
        except subprocess.TimeoutExpired:
            status = None
        output.seek(0)
        return status, output.read().decode("utf-8", "replace")


def failed_tests(output: str) -> list[str]:
    """The failed tests in the output of the unit tests."""
    return list(dict.fromkeys(FAILED.findall(output)))


def files_of_suites(root: Path) -> dict[str, str]:
    """The source file of each test suite of the unit tests."""
    return {
        suite: str(path.relative_to(root))
        for path in sorted((root / "driver" / "unit").glob("*.cpp"))
        for suite in SUITE.findall(path.read_text(encoding="utf-8"))
    }


def decide_unit(mutant: Mutant, status: int | None, output: str, files: Mapping[str, str]) -> Trial:
    """Judges a mutant by a run of the unit tests. A test in which the program dies has failed, too.

    `files`: the source file of each suite.
    """
    begun = RUN.findall(output)
    failed = failed_tests(output)
    done = Trial(
        mutant, KERNEL, "SURVIVED", tried=len(begun), observer=mutant_file.UNIT, searched=True
    )
    if not begun:
        return replace(done, result="BROKEN", detail=f"the unit tests ended with status {status}")
    if status is None:
        lost = "TIMEOUT"
    else:
        lost = "FAIL" if status != 0 and not failed else ""
    results = {name: "FAIL" if name in failed else "PASS" for name in begun}
    results[begun[-1]] = lost or results[begun[-1]]
    ran = [Ran(n, r, (), files.get(_suite(n), "")) for n, r in results.items()]
    done = replace(done, ran=tuple(ran))
    killers = [
        name for name, result in results.items() if result == "FAIL" or result in mutant.kill
    ]
    if killers:
        return replace(done, result="KILLED", killed_by=tuple(killers))
    return replace(done, result=lost or "SURVIVED", detail=f"{lost} in {begun[-1]}" if lost else "")


def _suite(test: str) -> str:
    """The suite of a test. A parameterized one has its instance before it."""
    return test.partition(".")[0].rpartition("/")[2]


def replay(program: Path, harness: str, name: str | None) -> list[tuple[str, bool]]:
    """Runs the corpus of a harness, and the input `name` alone. Returns for each whether the harness found a fault.

    UserError if the harness ended without a finding.
    """
    inputs = corpora.inputs(harness)
    with tempfile.TemporaryDirectory() as folder:
        corpus = corpora.fill(Path(folder) / "corpus", inputs)
        runs = [("corpus", corpus), *([(name, corpus / name)] if name in inputs else [])]
        found = []
        for label, place in runs:
            # libFuzzer otherwise writes the input that failed into the current folder.
            words = [str(program), "-runs=0", f"-artifact_prefix={folder}/", str(place)]
            status, output = _run(words, CORPUS_LIMIT_S)
            if status is None:
                raise UserError(f"{harness}: {label}: no end after {CORPUS_LIMIT_S} s")
            if status != 0 and not FOUND.search(output):
                raise UserError(f"{harness}: {label}: status {status}: {output[-200:].strip()}")
            found.append((f"{harness}/{label}", status != 0))
        return found


def replayed(program: Path, mutant: Mutant) -> list[tuple[str, bool]]:
    """The same for the harness of a mutant. The input that is named after the mutant must detect it alone."""
    return replay(
        program, mutant.harness, mutant.path.stem.removeprefix(f"{mutant.id}-").replace("-", "_")
    )


def decide_fuzz(mutant: Mutant, found: Sequence[tuple[str, bool]]) -> Trial:
    """Judges a mutant by the replayed inputs: all of them must detect it."""
    ran = tuple(Ran(name, "FAIL" if bad else "PASS", HARNESS_RULES) for name, bad in found)
    missed = [test.name for test in ran if test.result == "PASS"]
    done = Trial(mutant, KERNEL, "SURVIVED", tried=len(ran), observer=mutant_file.FUZZ, ran=ran)
    if missed:
        return replace(done, searched=True, detail=f"not detected by {', '.join(missed)}")
    names = tuple(test.name for test in ran)
    rules = trial.failed_rules(mutant, ran)
    return replace(done, result="KILLED", killed_by=names, failed_rules=rules, searched=True)
