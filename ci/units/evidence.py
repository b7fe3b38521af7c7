# SPDX-License-Identifier: Apache-2.0
"""Which rules of the catalogue the tests of a run verify; a rule that no test verifies is a failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import held
from evidence import OtherTest, read_tests, read_untested
from generate import CatalogueError, read_catalogue
from units.records import Case
from units.unit import ROOT, Outcome, Unit

UNIT = Unit("rules/all", (), 0, "make check")


def outcome(outcomes: Sequence[Outcome]) -> Outcome:
    """A test a rule."""
    folder = ROOT / "conformance" / "rules"
    try:
        rules = [r.id for r in read_catalogue(folder.glob("*.toml")) if r.status == "active"]
        reasons = read_untested(ROOT / "conformance" / "untested.toml")
        found = verified(outcomes, read_tests(ROOT))
        rows = held.judge(rules, found, reasons)
    except (OSError, ValueError, KeyError, CatalogueError) as error:
        return Outcome(UNIT, (Case("catalogue", "FAIL", (), str(error)),))
    return Outcome(UNIT, tuple(Case(row["id"], row["result"], (), row["message"]) for row in rows))


def verified(outcomes: Iterable[Outcome], tests: Sequence[OtherTest]) -> dict[str, list[str]]:
    """Rule → the tests that verify it, and passed."""
    found: dict[str, list[str]] = defaultdict(list)
    for each in outcomes:
        if each.unit.group in ("run", "kunit"):
            for case in each.cases:
                for rule in case.rules if case.result == "PASS" else ():
                    found[rule].append(f"{each.unit.name} {case.id}")
        elif each.unit.group == "pytest":
            for test in _passed(each, tests):
                found[test.rule].append(f"pytest {test.name}")
    return found


def _passed(each: Outcome, tests: Sequence[OtherTest]) -> Iterable[OtherTest]:
    """The marked tests of a file all of whose parameters passed."""
    good: dict[tuple[str, str], bool] = {}
    for case in each.cases:
        module, _, name = case.id.rpartition("::")
        key = (module, name.partition("[")[0])
        good[key] = good.get(key, True) and case.result == "PASS"
    for test in tests:
        module = test.file.removesuffix(".py").replace("/", ".")
        if test.layer != "kunit" and good.get((module, test.name)):
            yield test
