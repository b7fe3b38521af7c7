# SPDX-License-Identifier: Apache-2.0
"""The result of a case is the same alone and in another order."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest

from vm import runs, suite

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("order")]

NIGHTLY = pytest.mark.nightly
FEW, MANY = "Counting.*", "Co*.*"


def results(
    out: pathlib.Path, cases: str, shuffle: int | None = None, isolate: bool = False
) -> pathlib.Path:
    """The folder of a run's reports."""
    asked = runs.Request(
        target="refpmu",
        kernel="6.12",
        arch="amd64",
        selection=suite.Selection(case=cases),
        out=out,
        shuffle=shuffle,
        isolate=isolate,
    )
    assert runs.run_target(asked) == 0
    return out


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], pathlib.Path]:
    """The reports of a run in the suite's order, which the first call runs."""
    made: dict[str, pathlib.Path] = {}

    def run(cases: str) -> pathlib.Path:
        if cases not in made:
            made[cases] = results(tmp_path_factory.mktemp("ordered"), cases)
        return made[cases]

    return run


@pytest.mark.parametrize(
    ("cases", "seeds"), [(FEW, (1,)), pytest.param(MANY, (1, 2), marks=NIGHTLY)], ids=[FEW, MANY]
)
def test_the_order_of_the_cases_changes_no_result(
    ordered: Callable[[str], pathlib.Path], tmp_path: pathlib.Path, cases: str, seeds: list[int]
) -> None:
    for seed in seeds:
        shuffled = results(tmp_path / str(seed), cases, shuffle=seed)
        assert not runs.differences(ordered(cases), shuffled)


@pytest.mark.parametrize(
    ("case", "among"),
    [
        ("Counting.WrapIsExactWithPromptInterrupt", FEW),
        pytest.param("Counting.Wrap*", MANY, marks=NIGHTLY),
    ],
)
def test_a_case_alone_has_the_result_that_it_has_in_the_run(
    ordered: Callable[[str], pathlib.Path], tmp_path: pathlib.Path, case: str, among: str
) -> None:
    alone = results(tmp_path / "alone", case, isolate=True)
    different = runs.differences(alone, ordered(among))
    assert all("not there" in line for line in different)
