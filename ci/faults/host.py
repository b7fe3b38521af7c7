# SPDX-License-Identifier: Apache-2.0
"""Judges faults on this machine: by the unit tests of the driver, and by the corpus of a fuzz harness.

The project's own build compiles a copy of the sources, which keeps its objects. A fault costs only the objects that
depend on the changed files, and a link.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ci.faults import trial
from ci.faults.trial import Goal, Planned, Ran, Trial
from ci.remember.inputs import Inputs
from faults import patch
from faults.fault import UNIT, Fault
from fuzz import corpora
from pmubase import store
from pmubase.errors import UserError

UNIT_TESTS = "driver_tests"
LIMIT_S = 1800
"""Time limit of a build. The first one compiles everything."""
COPIED = (
    *("cmake", "conformance", "driver", "fuzz", "kunit", "oracle", "pmubase", "tools", "vm"),
    *("CMakeLists.txt", "CMakePresets.json", "ci/build"),
)
"""The folders and files that the build reads."""
HEAVY = ("ktap", "target_toml")
"""Harnesses that need a parser of TOML or JSON, which takes minutes to compile on a slow machine."""
UNIT_LIMIT_S = 600
SLOW = "*ModelAtomicity*"
"""The unit tests that interrupt accesses of the model at each instruction. They take longer than all others together."""
CORPUS_LIMIT_S = 300
HARNESS_RULES = ("STR-005", "STR-006")
"""The rules that every harness verifies."""
RUN = re.compile(r"^\[ RUN      \] (\S+)$", re.M)
TEST_SUITE = re.compile(r"^TEST(?:_[FP])?\(\s*(\w+)", re.M)
FAILED = re.compile(r"^\[  FAILED  \] (\S+?)(?:,| \()", re.M)
FOUND = re.compile(r"property broken|runtime error")


def suite_sources(root: Path) -> list[str]:
    """The files of the suite that harnesses need."""
    lines = (root / "fuzz" / "suite.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def copy_sources(root: Path, folder: Path) -> None:
    """Makes `folder` have the sources of `root`. An unchanged file keeps its time."""
    names = {n for n in Inputs(root).files if n in COPIED or n.partition("/")[0] in COPIED}
    patch.restore(folder)
    for name in sorted(names):
        original, copy = root / name, folder / name
        if not original.is_file() or (
            copy.is_file() and copy.read_bytes() == original.read_bytes()
        ):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(original, copy)
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        name = str(path.relative_to(folder))
        if name not in names and not name.startswith("build/"):
            path.unlink()  # The project's file was removed.


class Host:
    """The programs of one checkout that judge faults. One fault at a time is judged."""

    def __init__(self, root: Path, folder: Path) -> None:
        """`folder` keeps objects between runs."""
        self._root = root
        self._folder = folder
        self._copied = False
        self._lock = threading.Lock()
        self._problems: dict[str, list[str]] = {}

    @contextlib.contextmanager
    def program(self, fault: Fault | None, target: str) -> Iterator[Path]:
        """The program `target` (UNIT_TESTS, or a harness) with the fault, or without one. UserError if there is none."""
        with store.locked(self._folder.parent / f".{self._folder.name}.lock"):
            if not self._copied:
                copy_sources(self._root, self._folder)
                self._copied = True
            with contextlib.nullcontext() if fault is None else patch.applied(fault, self._folder):
                yield self._build(target)

    def _build(self, target: str) -> Path:
        preset, name, place = ("dev", target, "driver/unit")
        if target != UNIT_TESTS:
            preset, name, place = ("fuzz", f"{target}_fuzzer", "fuzz")
        build = self._folder / "build" / preset
        commands = [[str(self._folder / "ci" / "build"), preset, name]]
        if not (build / "build.ninja").exists():
            # A fault may cause a warning, such as one about an unused parameter.
            commands.insert(0, ["cmake", "--preset", preset, "-DPMUCONF_WARNINGS_ARE_ERRORS=OFF"])
        for command in commands:
            done = self._run(command)
            if done.returncode != 0:
                lines = [line for line in done.stderr.splitlines() if "error" in line]
                raise UserError(f"{target} does not build: {(lines or [done.stderr])[0].strip()}")
        return build / place / name

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )

    def judge(self, planned: Planned, goal: Goal) -> Trial:
        """Runs the unit tests until one fails (all of them for Goal.ALL), or replays the corpus of the harness and the
        input that is named after the fault alone."""
        fault = planned.fault
        target = UNIT_TESTS if planned.observer == UNIT else fault.harness
        with self._lock:
            self._check_clean(target)
            with self.program(fault, target) as program:
                if target != UNIT_TESTS:
                    return decide_fuzz(planned, replayed(program, fault))
                status, output = run_unit_tests(program, goal is Goal.ALL, needs_slow(fault))
                return decide_unit(planned, status, output, files_of_suites(self._root))

    def problems(self) -> list[str]:
        """The errors of the programs without a fault, of those that judged one."""
        return [problem for found in self._problems.values() for problem in found]

    def _check_clean(self, target: str) -> None:
        """Runs a program without a fault, once. UserError if it fails, since it then judges no fault."""
        if target not in self._problems:
            with self.program(None, target) as program:
                self._problems[target] = _problems_of(program, target)
        if self._problems[target]:
            raise UserError(f"fails without a fault: {self._problems[target][0]}")


def _problems_of(program: Path, target: str) -> list[str]:
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


def needs_slow(fault: Fault) -> bool:
    """Whether the slow unit tests run code that the fault changes."""
    return any(name.startswith(("driver/model/", "driver/include/")) for name in fault.files)


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
        for suite in TEST_SUITE.findall(path.read_text(encoding="utf-8"))
    }


def decide_unit(
    planned: Planned, status: int | None, output: str, files: Mapping[str, str]
) -> Trial:
    """The result of a run of the unit tests. A test in which the program dies has failed, too.

    `files`: the source file of each suite.
    """
    begun = RUN.findall(output)
    failed = failed_tests(output)
    if not begun:
        return trial.broken(planned, f"the unit tests ended with status {status}")
    results = {name: "FAIL" if name in failed else "PASS" for name in begun}
    if status is None:
        results[begun[-1]] = "TIMEOUT"
    elif status != 0 and not failed:
        results[begun[-1]] = "FAIL"
    # A parameterized suite has its instance before it.
    place = {name: files.get(name.partition(".")[0].rpartition("/")[2], "") for name in results}
    ran = [Ran(name, result, (), place[name]) for name, result in results.items()]
    catches = [name for name, how in results.items() if how in ("FAIL", *planned.fault.results)]
    detail = f"TIMEOUT in {begun[-1]}" if status is None else ""
    return trial.decide(planned, ran, catches, detail)


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


def replayed(program: Path, fault: Fault) -> list[tuple[str, bool]]:
    """The same for the harness of a fault. The input that is named after the fault must detect it alone."""
    name = fault.name.removeprefix(f"{fault.id}-").replace("-", "_")
    return replay(program, fault.harness, name)


def decide_fuzz(planned: Planned, found: Sequence[tuple[str, bool]]) -> Trial:
    """The result of the replayed inputs: all of them must detect the fault."""
    ran = [Ran(name, "FAIL" if bad else "PASS", HARNESS_RULES) for name, bad in found]
    missed = [test.name for test in ran if test.result == "PASS"]
    detail = f"not detected by {', '.join(missed)}" if missed else ""
    return trial.decide(planned, ran, [] if missed else [test.name for test in ran], detail)
