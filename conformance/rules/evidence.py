# SPDX-License-Identifier: Apache-2.0
"""Find the rules that KUnit and pytest tests name in their sources, and read untested.toml."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterable
from pathlib import Path

from pmubase import toml_file
from pmubase.toml_file import TEXT

ID = r"[A-Z][A-Z0-9]*-[0-9]{3}"
QUOTED = re.compile(rf'"({ID})"')
VERIFIES = re.compile(r"\bVERIFIES\(\s*test\s*,([^;]*?)\)\s*;", re.S)
FUNCTION = re.compile(r"^(?:static )?void (\w+)\(struct kunit \*test\)\n\{(.*?)^\}", re.S | re.M)
CASE_LIST = re.compile(r"struct kunit_case (\w+)\[\] = \{(.*?)^\};", re.S | re.M)
CASE = re.compile(r"\bKUNIT_CASE\w*\((\w+)")
SUITE = re.compile(r"struct kunit_suite \w+ = \{(.*?)^\};", re.S | re.M)
SUITE_NAME = re.compile(r'\.name = "([^"]+)"')
SUITE_CASES = re.compile(r"\.test_cases = (\w+)")
# The functions of this suite are in several files. Their names have the name of the suite as prefix.
SHARED = "pmu_contract"
UNTESTED = toml_file.table(dict.fromkeys(("rule", "reason", "lacking"), TEXT), optional=["lacking"])
PYTEST_FOLDERS = {
    "conformance/selftest": "vm",
    "driver/tests": "vm",
    "fuzz": "fuzz",
    "oracle": "vm",
    "tools": "vm",
    "vm": "vm",
}
"""The layer of the pytest tests below each folder."""


@dataclasses.dataclass(frozen=True)
class OtherTest:
    """A test outside the suite that verifies a rule."""

    rule: str
    layer: str
    name: str
    """As the test run reports it: "suite.test" of KUnit, "test_name" of pytest."""
    file: str
    """Relative to the root of the project."""


def kunit_tests(text: str, file: str) -> list[OtherTest]:
    """The rules in VERIFIES() of one file of KUnit suites."""
    suites = {}
    for body in SUITE.findall(text):
        name, cases = SUITE_NAME.search(body), SUITE_CASES.search(body)
        if name and cases:
            suites[cases[1]] = name[1]
    suite_of = {
        case: suites[array]
        for array, body in CASE_LIST.findall(text)
        if array in suites
        for case in CASE.findall(body)
    }
    names = {case: f"{suite}.{case}" for case, suite in suite_of.items()}
    for function, _ in FUNCTION.findall(text):
        if function.startswith(f"{SHARED}_"):
            names[function] = f"{SHARED}.{function.removeprefix(f'{SHARED}_')}"
    return [
        OtherTest(rule, "kunit", names[function], file)
        for function, body in FUNCTION.findall(text)
        if function in names
        for arguments in VERIFIES.findall(body)
        for rule in QUOTED.findall(arguments)
    ]


def _marks(function: ast.FunctionDef) -> Iterable[str]:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.rule":
            for argument in decorator.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value


def pytest_tests(text: str, layer: str, file: str) -> list[OtherTest]:
    """The tests with rule marks in one file of pytest tests."""
    return [
        OtherTest(rule, layer, node.name, file)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
        for rule in _marks(node)
    ]


def read_tests(root: Path) -> list[OtherTest]:
    """The tests of the whole project, sorted by rule."""
    found = []
    for path in sorted((root / "kunit").glob("*.c")):
        found += kunit_tests(path.read_text(), str(path.relative_to(root)))
    for room, layer in PYTEST_FOLDERS.items():
        for path in sorted((root / room).rglob("*_test.py")):
            found += pytest_tests(path.read_text(), layer, str(path.relative_to(root)))
    return sorted(found, key=lambda test: (test.rule, test.layer, test.file, test.name))


def untested_entries(path: Path) -> list[dict[str, str]]:
    """The entries of untested.toml. Empty if there is no such file."""
    found = toml_file.load(path, toml_file.tables("untested", UNTESTED)) if path.exists() else {}
    return list(found.get("untested", []))


def read_untested(path: Path) -> dict[str, str]:
    """Map from rule id to the reason why no test verifies it."""
    return {entry["rule"]: " ".join(entry["reason"].split()) for entry in untested_entries(path)}
