# SPDX-License-Identifier: Apache-2.0
"""No case needs another's state: alone, and in another order, it has the same result."""

from __future__ import annotations

import pathlib

import pytest

from pmuvm import runs, suite

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("order")]

CASES = "Co*.*"


def results(out: pathlib.Path, shuffle: int | None = None, cases: str = CASES) -> pathlib.Path:
    """The folder of a run's reports."""
    asked = runs.Request(
        target="refpmu",
        kernel="6.12",
        arch="amd64",
        selection=suite.Selection(case=cases),
        out=out,
        shuffle=shuffle,
        isolate=cases != CASES,
    )
    assert runs.one(asked) == 0
    return out


def test_the_order_of_the_cases_changes_no_result(tmp_path: pathlib.Path) -> None:
    ordered = results(tmp_path / "ordered")
    for seed in (1, 2):
        assert not runs.differences(ordered, results(tmp_path / str(seed), seed))


def test_a_case_alone_has_the_result_that_it_has_in_the_run(tmp_path: pathlib.Path) -> None:
    few = "Counting.Wrap*"
    alone = results(tmp_path / "alone", cases=few)
    together = results(tmp_path / "together")
    different = runs.differences(alone, together)
    assert all("not there" in line for line in different)
