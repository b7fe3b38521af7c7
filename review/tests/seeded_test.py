# SPDX-License-Identifier: Apache-2.0
"""Each check reports the mistake of its example, and no check reports a driver without mistakes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from review import examples
from review.engine import review
from review.facts import read_text
from review.view import CHECKS

ROOT = Path(__file__).parents[2]


def found(path: Path) -> set[tuple[str, str]]:
    """The checks and verdicts of a file, without errors."""
    findings, errors = review([path])
    assert not errors
    return {(finding.check, finding.verdict) for finding in findings}


def test_clean_driver_has_no_finding() -> None:
    assert found(examples.CLEAN) == set()


def test_each_check_has_an_example() -> None:
    assert set(examples.read()) == set(CHECKS)


@pytest.mark.parametrize("name", sorted(examples.read()))
def test_check_reports_its_mistake(name: str, tmp_path: Path) -> None:
    example = examples.read()[name]
    file = tmp_path / "example.c"
    file.write_text(example.text(), "utf-8")
    assert (name, example.verdict) in found(file)


@pytest.mark.parametrize("folder", ["core_pmu", "uncore", "trace"])
def test_reference_driver_has_no_finding(folder: str) -> None:
    files = sorted((ROOT / "driver" / folder).glob("*.c"))
    drivers = [file for file in files if re.search(r"struct pmu \w+ =", read_text(file))]
    findings, errors = review(drivers or files)
    assert not errors
    assert findings == []
