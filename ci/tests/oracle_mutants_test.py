# SPDX-License-Identifier: Apache-2.0
"""Which mutants `oracle` tells: what is chosen, what a run means, and what comes of it."""

from __future__ import annotations

import json

import pytest

import oracle
from pmuvm.errors import PmuvmError
from pmuvm.guest import Done

FACTS = {"calls": 7, "seconds": 0.26, "shown": []}
SHOWN = {"reason": "INI-011 bits of config", "model": "EINVAL", "kernel": "opens"}


def told(name: str) -> oracle.Trial:
    return oracle.trial(name, Done(1, json.dumps(FACTS | {"shown": [SHOWN]}), ""))


def agreed(name: str) -> oracle.Trial:
    return oracle.trial(name, Done(0, json.dumps(FACTS), ""))


def test_a_disagreement_is_told_with_its_reason() -> None:
    found = told("M")
    assert (found.told, found.calls, found.seconds) == (True, 7, 0.3)
    assert (found.reason, found.model, found.kernel) == tuple(SHOWN.values())
    assert not agreed("M").told


def test_what_could_not_be_judged_is_no_result() -> None:
    with pytest.raises(PmuvmError, match="M: oracle: no such file"):
        oracle.trial("M", Done(2, "", "no such file\n"))


def test_the_table_counts_those_that_are_told() -> None:
    rows = oracle.table([told("M1"), agreed("M2")]).splitlines()
    assert rows[1].split()[:5] == ["M1", "7", "0.3", "EINVAL", "opens"]
    assert rows[2].endswith("not told")
    assert rows[3] == "1 of 2 are told"


def test_too_few_mutants_or_a_driver_that_is_told_fail() -> None:
    ten = [told(str(i)) for i in range(10)]
    assert oracle.status([agreed("")], [*ten, agreed("M")], False) == 0
    assert oracle.status([agreed("")], [*ten[1:], agreed("M")], False) == 1
    assert oracle.status([told("")], ten, False) == 1
    assert oracle.status([agreed("")], [ten[0]], True) == 0
    assert oracle.status([agreed("")], [ten[0], agreed("M")], True) == 1


def test_mutants_of_an_events_attr_are_chosen() -> None:
    ids = {mutant.id for mutant in oracle.chosen("6.12", [])}
    assert {"M14-1", "M15-2", "M16-1"} <= ids
    assert "M01-1" not in ids  # of another class
    assert "M20-2" not in ids  # of a target without a list of checks
    assert [mutant.id for mutant in oracle.chosen("6.1", ["M15-2", "M01-1"])] == ["M15-2"]


def test_an_unknown_mutant_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert oracle.main(["--id", "nobody"]) == 2
    assert "no such mutant" in capsys.readouterr().err
