# SPDX-License-Identifier: Apache-2.0
"""The check of the guide reports wrong and missing names in the texts, and accepts correct ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import guide

ROOT = Path(__file__).resolve().parent.parent.parent

FILES = {
    "driver/core_pmu/pmu.c": "",
    "driver/core/period.h": "",
    "driver/unit/a_test.cpp": "TEST(Model, CountsWhatHappens) {}\n",
    "conformance/cases/x/a_test.cpp": "CONFORMANCE_CASE(Counting,\n    IsExact, .rules = {}) {}\n",
    "conformance/rules/CNT.toml": '[[rule]]\nid = "CNT-001"\nstatus = "active"\n'
    '[[rule]]\nid = "CNT-009"\nstatus = "retired"\n',
    "conformance/target/target_file.cpp": 'root.Table("target"); head->StringOr("port", "");\n',
    "conformance/target/target_claims.cpp": '{{Cap::kFast, "fast"},\n',
    "docs/targets.md": "`[target]` has `port`; `fast` is what it can be. `Counting.IsExact`\n",
}

TEXT = """\
# A driver

`core_pmu/pmu.c` has `one()`. CNT-001 holds: `Counting.IsExact`, `Counting.*`, `Model.CountsWhatHappens`. See
`driver/core/period.h`, the folder `core_pmu/` and `core_pmu/*.c`; `CONFIG=y` is no name.

```
nothing_in_here is looked at: `core_pmu/gone.c`
```
"""


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path) -> Path:
    """A tree whose text is correct."""
    for name, text in {**FILES, str(guide.GUIDE): TEXT}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def add(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.write_text((path.read_text() if path.exists() else "") + text)


def test_correct_text_has_no_finding(tree: Path) -> None:
    assert guide.findings(tree) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("`core_pmu/gone.c`", "`core_pmu/gone.c`: no such file"),
        ("`pmu.c`", "`pmu.c`: no such file"),
        ("`core_pmu/gone*.c`", "`core_pmu/gone*.c`: no such file"),
        ("`gone/`", "`gone/`: no such folder"),
        ("`Counting.IsGone`", "`Counting.IsGone`: no such case"),
        ("`Gone.*`", "`Gone.*`: no such case"),
        ("CNT-002", "CNT-002 is not an active or draft rule"),
        ("CNT-009", "CNT-009 is not an active or draft rule"),
    ],
)
def test_unknown_name_is_reported(tree: Path, line: str, complaint: str) -> None:
    add(tree, str(guide.GUIDE), f"\n{line}\n")
    (found,) = guide.findings(tree)
    assert complaint in found


def test_unknown_name_is_reported_in_every_text(tree: Path) -> None:
    add(tree, "docs/other.md", "`Counting.IsGone` holds\n")
    assert guide.findings(tree) == ["docs/other.md: `Counting.IsGone`: no such case"]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("target_file.cpp", 'vm->IntOr("smp", 2, 1, 64);\n', "does not name key smp"),
        ("target_claims.cpp", '{Cap::kRed, "red"},\n', "does not name capability red"),
    ],
)
def test_undescribed_claim_is_reported(tree: Path, name: str, text: str, complaint: str) -> None:
    add(tree, f"conformance/target/{name}", text)
    assert guide.findings(tree) == [f"docs/targets.md: {complaint}"]


@pytest.mark.parametrize(
    "link", ["[x](gone.md)", "[x](#gone)", "[x](../driver/README.md#gone)", "[x](../gone/)"]
)
def test_broken_link_is_reported(tree: Path, link: str) -> None:
    add(
        tree,
        "docs/other.md",
        f"# A title, and more\n{link} [y](#a-title-and-more) [z](https://a.b/c)\n",
    )
    add(tree, "docs/other.md", "[u](targets.md) [v](../driver/README.md#a-driver) [w](../driver)\n")
    (found,) = guide.findings(tree)
    assert found.startswith("docs/other.md: the link (")


def test_only_headings_on_which_renderers_agree_have_anchors() -> None:
    assert guide.anchors("# One `a_b`, two\n## A - b\n## \u00dcber\n") == {"one-a_b-two"}


@pytest.mark.parametrize("name", ["driver/README.md", "docs/targets.md"])
def test_missing_text_is_reported(tree: Path, name: str) -> None:
    (tree / name).unlink()
    assert guide.findings(tree) == [f"{name}: the file is missing"]


def test_texts_of_the_project_have_no_finding() -> None:
    assert guide.findings(ROOT) == []
