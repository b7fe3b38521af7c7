# SPDX-License-Identifier: Apache-2.0
"""Guests share the cases: each case runs once, and an error in one guest ends all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from pmubase.errors import UserError
from vm import together
from vm.session import Session
from vm.suite import Case


class Guest:
    """Takes the place of a session."""

    def __init__(self, result: Callable[[Case], dict[str, Any]]) -> None:
        self.run = result
        self.finished = False
        self.off = threading.Event()

    def finish(self) -> None:
        self.finished = True

    def power_off_now(self) -> None:
        self.off.set()


CASES = [Case(f"A.Case{number}", (), 1.0, "a_test.cpp", 1) for number in range(100)]


def run(guests: list[Guest]) -> list[str]:
    done: list[str] = []
    together.run(cast(list[Session], guests), CASES, lambda message: done.append(message["id"]))
    return done


def test_each_case_runs_once_and_both_guests_run_cases() -> None:
    # Each guest waits in its first case for the other one.
    both = threading.Barrier(2, timeout=60)
    ran: list[list[str]] = [[], []]

    def guest(number: int) -> Guest:
        def result(case: Case) -> dict[str, Any]:
            if not ran[number]:
                both.wait()
            ran[number].append(case.id)
            return {"id": case.id}

        return Guest(result)

    guests = [guest(number) for number in (0, 1)]
    assert sorted(run(guests)) == sorted(case.id for case in CASES)
    assert ran[0] and ran[1] and not set(ran[0]) & set(ran[1])
    assert all(guest.finished for guest in guests)


def test_error_in_one_guest_ends_the_other_one() -> None:
    other = Guest(lambda case: {})
    begun = threading.Event()

    def fails(_case: Case) -> dict[str, Any]:
        begun.wait(60)
        raise UserError("no guest boots")

    def waits(case: Case) -> dict[str, Any]:
        begun.set()
        assert other.off.wait(60)
        return {"id": case.id}

    other.run = waits
    with pytest.raises(UserError, match="no guest boots"):
        run([Guest(fails), other])
    assert other.off.is_set() and not other.finished


@pytest.mark.parametrize(
    ("wanted", "cases", "guests"), [(2, 800, 2), (2, 79, 1), (1, 800, 1), (4, 130, 3)]
)
def test_further_guest_needs_enough_cases(wanted: int, cases: int, guests: int) -> None:
    assert together.count(wanted, cases) == guests
