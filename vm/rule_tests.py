# SPDX-License-Identifier: Apache-2.0
"""Runs the pytest tests that verify rules, of the layer vm or fuzz, and writes their results for a joined verdict.

`pmuconf report --layer vm=FILE` reads the file: docs/judging.md, "Results of other layers".
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from junitparser import Failure, JUnitXml, JUnitXmlError, Skipped, TestCase

from conformance.rules.evidence import OtherTest, read_tests
from pmubase import store
from pmubase.errors import UserError

from . import arch, kernel, module

LAYERS = ("vm", "fuzz")
TARGET = "refpmu"
LIMIT_S = 3500
MESSAGE = 2000
"""Maximum number of characters of a message."""


def kernel_of(test: str) -> str | None:
    """The stock kernel in the parameters of a test: "6.12" for "test_x[6.12-a]"."""
    parameters = test.partition("[")[2].removesuffix("]").split("-")
    return next((name for name in parameters if name in kernel.known()), None)


def chosen(ids: Iterable[str], tests: Iterable[OtherTest], name: str) -> list[str]:
    """The ids of pytest (FILE::TEST) that verify a rule, and that run on the kernel `name` or on none."""
    marked = {(test.file, test.name) for test in tests}
    found = []
    for one in ids:
        file, _, test = one.partition("::")
        if (file, test.partition("[")[0]) in marked and kernel_of(test) in (None, name):
            found.append(one)
    return found


def rows(cases: Iterable[TestCase], tests: Sequence[OtherTest]) -> list[dict[str, Any]]:
    """The results of pytest's cases, with the rules that they verify."""
    rules: dict[tuple[str, str], list[str]] = defaultdict(list)
    for test in tests:
        rules[(test.file.removesuffix(".py").replace("/", "."), test.name)].append(test.rule)
    found = []
    for case in cases:
        key = (str(case.classname or ""), str(case.name).partition("[")[0])
        result, message = _result(case)
        found.append(
            {
                "id": f"{key[0]}.{case.name}",
                "result": result,
                "message": message[:MESSAGE],
                "rules": sorted(set(rules.get(key, []))),
            }
        )
    return found


def _result(case: TestCase) -> tuple[str, str]:
    if case.is_passed:
        return "PASS", ""
    for one in case.result:
        if isinstance(one, Skipped):
            return "SKIP", str(one.message or "")
        if isinstance(one, Failure):
            return "FAIL", str(one.text or one.message or "")
    return "BROKEN", "; ".join(str(one.text or one.message or "") for one in case.result)


def document(layer: str, name: str, cases: list[dict[str, Any]]) -> dict[str, Any]:
    """The content of the layer's file. The tests of the layer fuzz run no kernel."""
    head: dict[str, Any] = {"layer": layer, "driver": module.NAME}
    if layer == "vm":
        head |= {"target": TARGET, "release": kernel.find(name).release, "arch": arch.AMD64.machine}
    return {**head, "cases": cases, "problems": []}


def _pytest(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    try:
        return subprocess.run(argv, cwd=store.ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired as late:
        raise UserError(f"no result after {LIMIT_S} s") from late


def run(layer: str, name: str, out: Path) -> int:
    """Runs the tests of a layer and writes their results. Returns 1 if a test failed."""
    tests = [test for test in read_tests(store.ROOT) if test.layer == layer]
    files = sorted({test.file for test in tests})
    # The other kernels of the vm tests are for make nightly; a run needs the one that it judges.
    marks = ["-m", "rule" if layer == "vm" else "rule and not nightly"]
    listed = _pytest(["--collect-only", *marks, *files])
    ids = chosen(listed.stdout.splitlines(), tests, name)
    if not ids:
        raise UserError(f"no test of layer {layer} on {name}", details=listed.stdout[-2000:])
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "junit.xml"
        done = _pytest([*marks, f"--junitxml={report}", *ids])
        try:
            read = JUnitXml.fromfile(str(report))
        except (OSError, JUnitXmlError) as error:
            raise UserError(f"pytest: no report: {error}", details=done.stdout[-2000:]) from error
    suites = read if isinstance(read, JUnitXml) else [read]
    found = rows((case for each in suites for case in each), tests)
    store.write(out, (json.dumps(document(layer, name, found), indent=1) + "\n").encode())
    bad = [row for row in found if row["result"] in ("FAIL", "BROKEN")]
    for row in bad:
        print(f"{row['result']} {row['id']}")
    print(f"{layer}: {len(found)} tests: {len(bad)} did not pass")
    return 1 if bad else 0


def main(argv: Sequence[str]) -> int:
    """Returns 0 if all tests passed, 1 if one did not, 2 if they could not run."""
    parser = argparse.ArgumentParser(prog="python3 -m vm.rule_tests", description=__doc__)
    parser.add_argument("--layer", required=True, choices=LAYERS)
    parser.add_argument("--kernel", default="6.12", choices=kernel.known())
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    options = parser.parse_args(argv)
    try:
        return run(options.layer, options.kernel, options.out)
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"rule_tests: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
