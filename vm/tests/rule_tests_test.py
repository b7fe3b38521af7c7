# SPDX-License-Identifier: Apache-2.0
"""The results of the pytest tests that verify rules: which tests run, and the file that they write."""

from __future__ import annotations

from pathlib import Path

import pytest
from junitparser import JUnitXml

from conformance.rules.evidence import OtherTest
from pmubase.errors import UserError
from vm import kernel, rule_tests

TESTS = [
    OtherTest("PM-001", "vm", "test_a", "tools/tests/x_test.py"),
    OtherTest("PM-002", "vm", "test_a", "tools/tests/x_test.py"),
    OtherTest("PM-003", "vm", "test_b", "tools/tests/x_test.py"),
]
IDS = [
    "tools/tests/x_test.py::test_a[6.1]",
    "tools/tests/x_test.py::test_a[6.12]",
    "tools/tests/x_test.py::test_b",
    "tools/tests/x_test.py::test_unmarked[6.12]",
    "tools/tests/y_test.py::test_a[6.12]",
    "",
    "5 tests collected in 0.1s",
]
JUNIT = """<testsuites><testsuite name="pytest" tests="4">
<testcase classname="tools.tests.x_test" name="test_a[6.12]"/>
<testcase classname="tools.tests.x_test" name="test_b"><failure message="m">assert 1 == 2</failure></testcase>
<testcase classname="tools.tests.x_test" name="test_c"><skipped message="no guest"/></testcase>
<testcase classname="tools.tests.x_test" name="test_d"><error message="m">fixture</error></testcase>
</testsuite></testsuites>"""


@pytest.mark.parametrize(
    ("test", "name"),
    [("test_a[6.1]", "6.1"), ("test_a[x-6.12]", "6.12"), ("test_a", None), ("test_a[6.123]", None)],
)
def test_parameter_of_a_test_names_its_kernel(test: str, name: str | None) -> None:
    assert rule_tests.kernel_of(test) == name


def test_marked_tests_of_one_kernel_run() -> None:
    assert rule_tests.chosen(IDS, TESTS, "6.12") == [IDS[1], IDS[2]]
    assert rule_tests.chosen(IDS, TESTS, "6.1") == [IDS[0], IDS[2]]


def test_results_have_the_rules_of_the_tests() -> None:
    cases = [case for suite in JUnitXml.fromstring(JUNIT.encode()) for case in suite]
    head = "tools.tests.x_test."
    assert rule_tests.rows(cases, TESTS) == [
        {
            "id": f"{head}test_a[6.12]",
            "result": "PASS",
            "message": "",
            "rules": ["PM-001", "PM-002"],
        },
        {
            "id": f"{head}test_b",
            "result": "FAIL",
            "message": "assert 1 == 2",
            "rules": ["PM-003"],
        },
        {"id": f"{head}test_c", "result": "SKIP", "message": "no guest", "rules": []},
        {"id": f"{head}test_d", "result": "BROKEN", "message": "fixture", "rules": []},
    ]


def test_file_states_the_kernel_only_if_the_tests_run_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Found:
        release = "6.12.1"

    monkeypatch.setattr(kernel, "find", lambda name: Found)
    assert rule_tests.document("fuzz", "6.12", []) == {
        "layer": "fuzz",
        "driver": "refpmu",
        "cases": [],
        "problems": [],
    }
    head = rule_tests.document("vm", "6.12", [])
    facts = [head[key] for key in ("layer", "target", "release", "arch")]
    assert facts == ["vm", "refpmu", "6.12.1", "x86_64"]


def test_layer_without_tests_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule_tests, "read_tests", lambda root: [])
    with pytest.raises(UserError, match="no test of layer vm on 6.12"):
        rule_tests.run("vm", "6.12", tmp_path / "vm.json")
    assert not (tmp_path / "vm.json").exists()
