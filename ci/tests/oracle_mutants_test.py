# SPDX-License-Identifier: Apache-2.0
"""ci/oracle.py chooses the mutants, counts the detected ones, and survives a guest that dies."""

from __future__ import annotations

import json
from typing import cast

import pytest

from ci import oracle
from faults.mutant_file import Mutant
from pmubase.errors import UserError
from vm.guest import Done, GuestLost

FACTS = {"calls": 7, "seconds": 0.26, "shown": []}
SHOWN = {"reason": "INI-011 bits of config", "model": "EINVAL", "kernel": "opens"}


def disagreed(name: str) -> oracle.Trial:
    return oracle.trial(name, Done(1, json.dumps(FACTS | {"shown": [SHOWN]}), ""))


def agreed(name: str) -> oracle.Trial:
    return oracle.trial(name, Done(0, json.dumps(FACTS), ""))


def test_disagreement_is_reported_with_its_reason() -> None:
    found = disagreed("M")
    assert (found.disagrees, found.calls, found.seconds) == (True, 7, 0.3)
    assert (found.reason, found.model, found.kernel) == tuple(SHOWN.values())
    assert not agreed("M").disagrees


def test_failed_oracle_run_is_an_error() -> None:
    with pytest.raises(UserError, match="M: oracle: no such file"):
        oracle.trial("M", Done(2, "", "no such file\n"))


def test_table_counts_agreements_and_detected_mutants() -> None:
    rows = oracle.table([agreed("refpmu")], [disagreed("M1"), agreed("M2")]).splitlines()
    assert rows[1].split() == ["refpmu", "7", "0.3", "agree"]
    assert rows[2].split()[:5] == ["M1", "7", "0.3", "EINVAL", "opens"]
    assert rows[3].endswith("agree")
    assert rows[4:] == [
        "7 calls: 1 of 1 types of calls agree with the model",
        "1 of 2 mutants are detected",
    ]


def test_too_few_detected_mutants_or_a_wrong_driver_fail() -> None:
    ten = [disagreed(str(i)) for i in range(10)]
    assert oracle.status([agreed("")], [*ten, agreed("M")], 10) == 0
    assert oracle.status([agreed("")], [*ten[1:], agreed("M")], 10) == 1
    assert oracle.status([disagreed("")], ten, 10) == 1
    assert oracle.status([agreed("")], [], 0) == 0


def test_undetected_mutant_fails_only_if_too_few_are_detected() -> None:
    def found(enough: int) -> tuple[int, int, int]:
        totals = oracle.totals([agreed("")], [disagreed("M1"), agreed("M2")], enough)
        assert totals["cases"] == totals["passed"] + totals["failed"] + totals["skipped"]
        return totals["passed"], totals["failed"], totals["skipped"]

    assert (found(1), found(2)) == ((2, 0, 1), (2, 1, 0))
    assert oracle.totals([disagreed("")], [], 0)["failed"] == 1


class Mortal:
    """A guest that one mutant kills."""

    def mutant(self, mutant: Mutant) -> oracle.Trial:
        if mutant.id == "M15-2":
            raise GuestLost("LOST", "BUG: kernel NULL pointer dereference")
        return disagreed(mutant.id)


def test_mutant_that_kills_the_guest_is_detected_and_others_remain_pending() -> None:
    pending = oracle.select_mutants("6.12", ["M14-1", "M15-2", "M16-1"])
    trials = oracle.run_mutants(cast(oracle.OracleGuest, Mortal()), pending)
    assert [t.disagrees for t in trials] == [True, True]
    assert (trials[1].kernel, trials[1].reason) == ("dies", "BUG: kernel NULL pointer dereference")
    assert [mutant.id for mutant in pending] == ["M16-1"]


def test_refpmu_gets_most_calls() -> None:
    request = oracle.Request("6.12", (), 5_000, 60)
    assert (request.calls_to("refpmu"), request.calls_to("software")) == (5_000, 500)


@pytest.mark.parametrize("words", [["--calls", "0", "--no-mutants"], ["--seconds", "0"]])
def test_run_without_calls_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert oracle.main(words) == 2
    assert "at least 1" in capsys.readouterr().err


def test_mutants_of_the_event_attr_are_chosen() -> None:
    ids = {mutant.id for mutant in oracle.select_mutants("6.12", [])}
    assert {"M14-1", "M15-2", "M16-1"} <= ids
    assert "M01-1" not in ids  # another class
    assert "M20-2" not in ids  # a target that `oracle` cannot check
    assert [mutant.id for mutant in oracle.select_mutants("6.1", ["M15-2", "M01-1"])] == ["M15-2"]


def test_an_unknown_mutant_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert oracle.main(["--id", "nobody"]) == 2
    assert "no such mutant" in capsys.readouterr().err
