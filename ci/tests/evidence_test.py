# SPDX-License-Identifier: Apache-2.0
"""A rule that no passed test of a run verifies is a failure of that run."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.units import evidence
from ci.units.records import Case
from ci.units.unit import ROOT, Outcome, Unit
from conformance.rules.evidence import OtherTest, read_tests


def outcome(name: str, *cases: Case) -> Outcome:
    return Outcome(Unit(name, (), 1, ""), cases)


def test_cases_of_guests_and_of_kunit_verify_their_rules_if_they_pass() -> None:
    found = evidence.verified(
        [
            outcome("run/refpmu-6.12", Case("A.One", "PASS", ("CNT-001",))),
            outcome("kunit/6.12", Case("b.two", "FAIL", ("CNT-002",))),
            outcome("lint/black", Case("c", "PASS", ("CNT-003",))),
        ],
        [],
    )
    assert dict(found) == {"CNT-001": ["run/refpmu-6.12 A.One"]}


def test_a_marked_test_verifies_its_rule_if_all_of_its_parameters_pass() -> None:
    tests = [test for test in read_tests(ROOT) if test.layer != "kunit"]
    test: OtherTest = tests[0]
    module = str(Path(test.file).with_suffix("")).replace("/", ".")
    one, other = (f"{module}::{test.name}[{n}]" for n in (1, 2))
    for result, expected in (("PASS", True), ("FAIL", False)):
        ran = outcome(f"pytest/{test.file}", Case(one, "PASS"), Case(other, result))
        assert (test.rule in evidence.verified([ran], tests)) == expected


def test_without_tests_each_rule_without_a_reason_fails_nightly_also_those_of_older_kernels() -> (
    None
):
    day, night = (evidence.outcome([], night=night) for night in (False, True))
    assert len(day.failed) > 600
    old = {case.id for case in night.failed} - {case.id for case in day.failed}
    assert old == {case.id for case in day.cases if case.message == evidence.LATER}
    assert "DRV-029" in old


@pytest.mark.parametrize(
    ("kernels", "expected"),
    [("", True), (">=6.1", True), (">=6.1,<6.12", False), ("<=6.12", True), (">6.12", False)],
)
def test_a_range_of_kernels_is_read(kernels: str, expected: bool) -> None:
    assert evidence.applies(kernels, "6.12") == expected
