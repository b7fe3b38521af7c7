# SPDX-License-Identifier: Apache-2.0
"""Reports the rules that the tests of this run verified. A rule that no test verified is a failure.

A rule that applies only to older kernels is skipped without --nightly, since KUnit runs on them at night.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from junitparser import JUnitXml, JUnitXmlError

from conformance.rules.evidence import OtherTest, read_tests, read_untested
from conformance.rules.generate import read_catalogue
from pmubase.errors import UserError
from vm import kernel

ROOT = Path(__file__).resolve().parent.parent

OUT = ROOT / "build" / "rules"
SHOWN = 3
LATER = "applies only to older kernels: make nightly"


def passed_in_results(document: dict[str, Any], where: str) -> Iterable[tuple[str, str]]:
    """The pairs (rule, test) of the passed cases in a results.json of the suite or of KUnit."""
    for case in document.get("cases", []):
        if case.get("result") == "PASS":
            for rule in case.get("rules", []):
                yield rule, f"{where} {case['id']}"


def passed_in_junit(path: Path, tests: Iterable[OtherTest]) -> Iterable[tuple[str, str]]:
    """The pairs (rule, test) in a report of pytest. A marked test counts if it passed with all its parameters."""
    passed: dict[tuple[str, str], bool] = {}
    report = JUnitXml.fromfile(str(path))
    for suite in report if isinstance(report, JUnitXml) else [report]:
        for case in suite:
            # The class name is "vm.tests.hotplug_test": the path of the file, in some reports with a class after it.
            key = (str(case.classname or ""), str(case.name).partition("[")[0])
            passed[key] = passed.get(key, True) and bool(case.is_passed)
    for test in tests:
        module = test.file.removesuffix(".py").replace("/", ".")
        if passed.get((module, test.name)):
            yield test.rule, f"pytest {test.name}"


def read(files: Iterable[Path], tests: list[OtherTest]) -> dict[str, list[str]]:
    """The passed tests that verify each rule. OSError or ValueError if a file cannot be read."""
    held: dict[str, list[str]] = defaultdict(list)
    for path in files:
        if path.suffix == ".xml":
            pairs = passed_in_junit(path, [test for test in tests if test.layer != "kunit"])
        else:
            pairs = passed_in_results(json.loads(path.read_text()), path.parent.name)
        for rule, test in pairs:
            held[rule].append(test)
    return held


def judge(
    rules: Iterable[str], held: dict[str, list[str]], reasons: dict[str, str]
) -> list[dict[str, str]]:
    """The result of each rule."""
    rows = []
    for rule in rules:
        if held.get(rule):
            tests = held[rule]
            more = f" and {len(tests) - SHOWN} more" if len(tests) > SHOWN else ""
            rows.append({"id": rule, "result": "PASS", "message": ", ".join(tests[:SHOWN]) + more})
        elif rule in reasons:
            rows.append({"id": rule, "result": "SKIP", "message": reasons[rule]})
        else:
            rows.append(
                {
                    "id": rule,
                    "result": "FAIL",
                    "message": "no test that passed in this run verifies it",
                }
            )
    return rows


def applies(kernels: str, series: str) -> bool:
    """Whether a range such as ">=6.1,<6.12" includes a series."""
    version = tuple(map(int, series.split(".")))
    for term in filter(None, (word.strip() for word in kernels.split(","))):
        sign = term.rstrip("0123456789.")
        other = tuple(map(int, term.removeprefix(sign).split(".")))
        good = {">=": version >= other, "<": version < other, ">": version > other}
        if not {**good, "<=": version <= other, "==": version == other}[sign]:
            return False
    return True


def main(argv: Sequence[str]) -> int:
    """Returns 0 if each active rule is verified or has a reason."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.verified_rules", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument(
        "files", type=Path, nargs="+", help="a results.json, or a JUnit file of pytest"
    )
    parser.add_argument("--nightly", action="store_true", help="do not skip older kernels' rules")
    options = parser.parse_args(argv)
    files = [path for path in options.files if path.exists()]
    missing = [path for path in options.files if not path.exists()]
    try:
        folder = ROOT / "conformance" / "rules"
        active = [r for r in read_catalogue(folder.glob("*.toml")) if r.status == "active"]
        reasons = read_untested(ROOT / "conformance" / "untested.toml")
        if not options.nightly:
            newest = kernel.known()[-1]
            reasons |= {rule.id: LATER for rule in active if not applies(rule.kernels, newest)}
        rows = judge([rule.id for rule in active], read(files, read_tests(ROOT)), reasons)
    except (OSError, ValueError, KeyError, JUnitXmlError, UserError) as error:
        print(f"verified_rules: {error}", file=sys.stderr)
        return 2
    count = {word: sum(row["result"] == word for row in rows) for word in ("PASS", "SKIP", "FAIL")}
    totals = {
        "cases": len(rows),
        "passed": count["PASS"],
        "failed": count["FAIL"],
        "skipped": count["SKIP"],
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "results.json").write_text(
        json.dumps({"totals": totals, "cases": rows}, indent=1) + "\n"
    )
    for path in missing:
        print(f"no report {path}")
    for row in rows:
        if row["result"] == "FAIL":
            print(f"{row['id']}: {row['message']}")
    tail = f", {count['FAIL']} by nothing" if count["FAIL"] else ""
    print(f"{len(rows)} rules: {count['PASS']} verified, {count['SKIP']} with reasons{tail}")
    return 1 if count["FAIL"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
