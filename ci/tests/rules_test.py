# SPDX-License-Identifier: Apache-2.0
"""The check of the catalogue reports a rule that claims fewer or more layers than its tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import rules

ROOT = Path(__file__).resolve().parent.parent.parent


def rule(rule_id: str, *more: str, status: str = "active") -> str:
    lines = (
        "[[rule]]",
        f'id = "{rule_id}"',
        'level = "MUST"',
        f'status = "{status}"',
        'subject = "driver"',
        'text = "It MUST."',
        'why = "So."',
        'source = ["man:x(1)#x"]',
        *more,
    )
    return "\n".join(lines) + "\n"


FILES = {
    "conformance/rules/CNT.toml": rule("CNT-001")
    + rule("CNT-002", 'layer = ["case", "kunit"]')
    + rule("CNT-003", 'layer = ["vm"]')
    + rule("CNT-004", 'layer = ["review"]')
    + rule("CNT-005", 'applies = "wings"')
    + rule("CNT-008", status="draft")
    + rule("CNT-009", status="retired"),
    "conformance/cases/x/x_test.cpp": "CONFORMANCE_CASE(New, Counts,\n"
    "{rule::CNT_001, rule::CNT_002, rule::CNT_005}\n",
    "kunit/x_kunit.c": 'VERIFIES(test,\n\t"CNT-002");\n',
    "vm/tests/x_test.py": '@pytest.mark.rule("CNT-003")\n',
    "conformance/untested.toml": '[[untested]]\nrule = "CNT-004"\nreason = "No guest can."\n'
    '[[untested]]\nrule = "CNT-005"\nreason = "No target flies."\nlacking = "wings"\n',
    "conformance/targets/hen.toml": "wings = false\n",
}


def findings(root: Path, changed: dict[str, str]) -> list[str]:
    for name, text in (FILES | changed).items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return rules.findings(root, [path for path in root.rglob("*") if path.is_file()])


def test_correct_catalogue_has_no_finding(tmp_path: Path) -> None:
    assert not findings(tmp_path, {})


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("conformance/cases/x/x_test.cpp", "rule::CNT_001, ", "", "CNT-001: no test verifies it"),
        (
            "kunit/x_kunit.c",
            "CNT-002",
            "CNT-001",
            "CNT-001: layer is case, but these name it: case, kunit",
        ),
        (
            "kunit/x_kunit.c",
            "CNT-002",
            "CNT-007",
            "CNT-007: a test names it, but it is not in the catalogue",
        ),
        ("kunit/x_kunit.c", "CNT-002", "CNT-009", "CNT-009: is retired, but is named by: kunit"),
        ("kunit/x_kunit.c", '"CNT-002"', '"CNT-002", "CNT-008"', "CNT-008: layer is case, but"),
        ("kunit/x_kunit.c", "CNT-002", "CNT-004", "CNT-004: is in conformance/untested.toml, but"),
        ("vm/tests/x_test.py", "mark.rule", "mark.rules", "CNT-003: no test verifies it"),
        ("conformance/untested.toml", "CNT-004", "CNT-007", "untested.toml: no rule 'CNT-007'"),
        ("conformance/targets/hen.toml", "false", "true", "lacks 'wings', but hen.toml has it"),
        ("conformance/untested.toml", '"wings"', '"fins"', "CNT-005: lacks 'fins', but applies"),
        ("conformance/cases/x/x_test.cpp", ", rule::CNT_005", "", "CNT-005: no test verifies it"),
        ("conformance/rules/CNT.toml", '"review"', '"case"', "CNT-004: is in conformance/untested"),
        ("conformance/untested.toml", "No guest can.", " ", "untested.reason: ' ' is not a text"),
        ("conformance/untested.toml", "reason", "why", "untested: unknown key 'why'"),
        ("conformance/untested.toml", "[[untested]]", "[[tested]]", "unknown key 'tested'"),
        ("conformance/rules/CNT.toml", "CNT-001", "CTL-001", "rule.id: 'CTL-001' is not CNT-"),
        ("conformance/rules/CNT.toml", "CNT-001", "CNT-002", "CNT-002 occurs twice"),
    ],
)
def test_disagreement_with_tests_is_reported(
    tmp_path: Path, name: str, old: str, new: str, said: str
) -> None:
    found = findings(tmp_path, {name: FILES[name].replace(old, new)})
    assert any(said in line for line in found), found


def text_findings(tmp_path: Path, text: str, level: str = "MUST") -> list[str]:
    catalogue = FILES["conformance/rules/CNT.toml"]
    first = catalogue.replace('text = "It MUST."', f'text = "{text}"', 1)
    first = first.replace('level = "MUST"', f'level = "{level}"', 1)
    return findings(tmp_path, {"conformance/rules/CNT.toml": first})


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("The driver MUST count.", "MUST"),
        ("A read MUST NOT block.", "MUST"),
        ("The kernel SHOULD count.", "SHOULD"),
        ("The kernel SHOULD NOT block.", "SHOULD"),
        ("The kernel MAY count.", "MAY"),
        ("From 6.12 on a read MUST return 2^63 - 1; it may wait for X_MAY.", "MUST"),
        ("The driver MUST" + 36 * " count" + " - on.", "MUST"),
    ],
)
def test_rule_text_of_one_sentence_has_no_finding(tmp_path: Path, text: str, level: str) -> None:
    assert not text_findings(tmp_path, text, level)


@pytest.mark.parametrize(
    ("text", "level", "said"),
    [
        ("The driver counts.", "MUST", "exactly one of MUST / MUST NOT, not: none"),
        ("The driver must count.", "MUST", "exactly one of MUST / MUST NOT, not: none"),
        ("It MUST count and MUST NOT block.", "MUST", "MUST / MUST NOT, not: MUST, MUST NOT"),
        ("It MAY count and MUST stop.", "MUST", "exactly one of MUST / MUST NOT, not: MAY, MUST"),
        ("It SHOULD count.", "MUST", "text has SHOULD, but level MUST needs MUST or MUST NOT"),
        ("It MUST count.", "SHOULD", "text has MUST, but level SHOULD needs SHOULD or SHOULD NOT"),
        ("It MUST count.", "MAY", "text has MUST, but level MAY needs MAY"),
        ("It MAY NOT count.", "MAY", "text has MAY NOT, but level MAY needs MAY"),
        ("It MUST count. It stops.", "MUST", "text must be one sentence"),
        ("It MUST count", "MUST", "text must be one sentence that ends with a full stop"),
        ("It MUST" + 39 * " count" + ".", "MUST", "text has 41 words; at most 40 are allowed"),
    ],
)
def test_wrong_rule_text_is_reported_with_its_file_and_id(
    tmp_path: Path, text: str, level: str, said: str
) -> None:
    found = text_findings(tmp_path, text, level)
    assert len(found) == 1
    assert found[0].startswith("conformance/rules/CNT.toml: CNT-001: ")
    assert said in found[0]
