# SPDX-License-Identifier: Apache-2.0
"""The parsers of other projects read the results of a run: that of the kernel for KTAP, and one for JUnit's XML."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import junitparser
import pytest

from ci import intree
from pmubase import store
from results.document import Run
from results.tests import runs

FAILED = {"Counting.DisabledTimeIsNotCounted": "a_test.cpp:7: 999 & <1000>\nopened: type=4"}
SKIPPED = {
    "BranchStack.EntriesReportFlagsAndCycles": "needs branches",
    "Counting.WrapIsExactInEachPlace": "needs port",
}


@pytest.fixture(scope="module", name="run")
def fixture_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with a failed case and two skipped ones."""
    folder = tmp_path_factory.mktemp("run") / "run"
    return runs.judged(folder, failed=FAILED, skipped=SKIPPED)


def test_junit_parser_reads_each_case(run: Run) -> None:
    document = junitparser.JUnitXml.fromfile(str(run.path.parent / "junit.xml"))
    totals = run.data["totals"]
    found = {f"{case.classname}.{case.name}": case for suite in document for case in suite}
    found |= {case.name: case for suite in document for case in suite}
    cases = sum(1 for suite in document for _ in suite)
    assert (document.tests, cases) == (totals["cases"], totals["cases"])
    assert (document.failures, document.errors, document.skipped) == (1, 0, 2)
    for name, message in FAILED.items():
        (result,) = found[name].result
        assert isinstance(result, junitparser.Failure)
        assert message.splitlines()[0] in (result.text or "") + (result.message or "")
    for name, message in SKIPPED.items():
        (result,) = found[name].result
        assert isinstance(result, junitparser.Skipped) and message in result.message


def test_parser_of_the_kernel_reads_each_case(run: Run) -> None:
    cache = store.cache()
    with store.locked(cache / "intree" / "6.12.lock"):
        tree = intree.unpack_once("6.12", cache)
    parser = tree / "tools" / "testing" / "kunit" / "kunit.py"
    file: Path = run.path.parent / "results.ktap"
    done = subprocess.run(
        [sys.executable, "-B", parser, "parse", file],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    totals = run.data["totals"]
    counts = f"passed: {totals['passed']}, failed: 1, skipped: 2"
    assert f"Ran {totals['cases']} tests: {counts}" in done.stdout, done.stdout[-500:]
    (failed,) = FAILED
    assert f"[FAILED] {failed}" in done.stdout
    for name in SKIPPED:
        assert f"[SKIPPED] {name}" in done.stdout
    assert done.returncode == 1
