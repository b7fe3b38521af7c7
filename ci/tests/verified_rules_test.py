# SPDX-License-Identifier: Apache-2.0
"""Only a test that passed in this run verifies a rule."""

from __future__ import annotations

import json
from pathlib import Path

from ci.verified_rules import judge, read
from conformance.rules.evidence import OtherTest, kunit_tests, pytest_tests

KUNIT = """
static void it_holds(struct kunit *test)
{
	VERIFIES(test, "DRV-001",
	      "DRV-002");
}

static void not_listed(struct kunit *test)
{
	VERIFIES(test, "DRV-003");
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(it_holds, way_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "refpmu_x",
	.test_cases = cases,
};
"""
SHARED = """
bool contract_added(struct kunit *test, int flags)
{
	return true;
}

void pmu_contract_it_holds(struct kunit *test)
{
	VERIFIES(test, "DRV-001");
}
"""
PYTEST = """
@pytest.mark.rule("HOT-001", "HOT-002")
@pytest.mark.parametrize("name", ["a"])
def test_it(name): ...

def test_unmarked(): ...
"""
JUNIT = """<testsuites><testsuite name="pytest" tests="3">
<testcase classname="vm.tests.x_test" name="test_it[a]"/>
<testcase classname="vm.tests.x_test" name="test_it[b]">{}</testcase>
<testcase classname="vm.tests.y_test" name="test_it"/>
</testsuite></testsuites>"""


def test_kunit_tests_have_the_names_of_the_report() -> None:
    assert kunit_tests(KUNIT, "kunit/x.c") == [
        OtherTest("DRV-001", "kunit", "refpmu_x.it_holds", "kunit/x.c"),
        OtherTest("DRV-002", "kunit", "refpmu_x.it_holds", "kunit/x.c"),
    ]


def test_shared_kunit_cases_belong_to_their_suite() -> None:
    assert kunit_tests(SHARED, "kunit/x.c") == [
        OtherTest("DRV-001", "kunit", "pmu_contract.it_holds", "kunit/x.c"),
    ]


def test_pytest_marks_are_read() -> None:
    found = pytest_tests(PYTEST, "vm", "vm/tests/x_test.py")
    assert [(test.rule, test.name) for test in found] == [
        ("HOT-001", "test_it"),
        ("HOT-002", "test_it"),
    ]


def test_only_passed_tests_verify_rules(tmp_path: Path) -> None:
    results = tmp_path / "refpmu-6.12" / "results.json"
    results.parent.mkdir()
    cases = [
        {"id": "A.B", "result": "PASS", "rules": ["CNT-001"]},
        {"id": "A.C", "result": "SKIP", "rules": ["CNT-002"]},
        {"id": "A.D", "result": "FAIL", "rules": ["CNT-003"]},
    ]
    results.write_text(json.dumps({"cases": cases}))
    junit = tmp_path / "pytest.xml"
    tests = pytest_tests(PYTEST, "vm", "vm/tests/x_test.py")
    junit.write_text(JUNIT.format(""))
    assert read([results, junit], tests).keys() == {"CNT-001", "HOT-001", "HOT-002"}
    junit.write_text(JUNIT.format('<failure message="no"/>'))
    assert read([results, junit], tests) == {"CNT-001": ["refpmu-6.12 A.B"]}


def test_a_rule_without_test_and_reason_is_a_failure() -> None:
    rows = judge(["A-001", "A-002", "A-003"], {"A-001": ["t"] * 5}, {"A-002": "No guest can."})
    assert [row["result"] for row in rows] == ["PASS", "SKIP", "FAIL"]
    assert rows[0]["message"] == "t, t, t and 2 more"
