# SPDX-License-Identifier: Apache-2.0
"""Reports the rules that the tests of a run verify. A rule that no test verifies is a failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ci import verified_rules
from ci.units.catalogue import KERNELS
from ci.units.records import Case
from ci.units.unit import ROOT, Outcome, Unit
from conformance.rules.evidence import OtherTest, read_tests, read_untested
from conformance.rules.generate import read_catalogue
from pmubase.errors import UserError

LATER = "applies only to older kernels: make nightly"
UNIT = Unit("rules/all", (), 0, "make check")


def outcome(outcomes: Sequence[Outcome], night: bool = False) -> Outcome:
    """A test for each rule. A rule that applies only to older kernels is skipped in make check, since KUnit runs on
    them at night."""
    folder = ROOT / "conformance" / "rules"
    try:
        active = [r for r in read_catalogue(folder.glob("*.toml")) if r.status == "active"]
        rules = [rule.id for rule in active]
        reasons = read_untested(ROOT / "conformance" / "untested.toml")
        if not night:
            reasons |= {r.id: LATER for r in active if not applies(r.kernels, KERNELS[0])}
        found = verified(outcomes, read_tests(ROOT))
        rows = verified_rules.judge(rules, found, reasons)
    except (OSError, ValueError, KeyError, UserError) as error:
        return Outcome(UNIT, (Case("catalogue", "FAIL", (), str(error)),))
    return Outcome(UNIT, tuple(Case(row["id"], row["result"], (), row["message"]) for row in rows))


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


def verified(outcomes: Iterable[Outcome], tests: Sequence[OtherTest]) -> dict[str, list[str]]:
    """The passed tests that verify each rule."""
    found: dict[str, list[str]] = defaultdict(list)
    for each in outcomes:
        if each.unit.group in ("run", "kunit"):
            for case in each.cases:
                for rule in case.rules if case.result == "PASS" else ():
                    found[rule].append(f"{each.unit.name} {case.id}")
        elif each.unit.group == "pytest":
            for test in passed_tests(each, tests):
                found[test.rule].append(f"pytest {test.name}")
    return found


def passed_tests(each: Outcome, tests: Sequence[OtherTest]) -> Iterable[OtherTest]:
    """The marked tests of a file that passed with all their parameters."""
    good: dict[tuple[str, str], bool] = {}
    for case in each.cases:
        module, _, name = case.id.rpartition("::")
        key = (module, name.partition("[")[0])
        good[key] = good.get(key, True) and case.result == "PASS"
    for test in tests:
        module = test.file.removesuffix(".py").replace("/", ".")
        if test.layer != "kunit" and good.get((module, test.name)):
            yield test
