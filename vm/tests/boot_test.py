# SPDX-License-Identifier: Apache-2.0
"""Real guests on the stock kernels, with an agent that misbehaves on request."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

import pytest

from vm import accel, guest, image, kernel, qemu, session, suite, together
from vm.testing import nightly_params
from vm.testing.stubs import TESTS

pytestmark = pytest.mark.guest


def machine(name: str) -> qemu.Machine:
    stock = kernel.find(name)
    packed = image.build(image.Contents(agent=TESTS / "agents/pmuconf"))
    return qemu.Machine(stock.arch, stock.image, packed, accel=accel.choose(stock))


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_a_stock_kernel_boots_answers_and_powers_off(name: str) -> None:
    with guest.Guest(machine(name)) as vm:
        hello = vm.boot()
        assert hello["kernel"] == kernel.find(name).release
        assert vm.case("A.Passes", 20)["result"] == "PASS"
        assert vm.kmsg()["reports"] == []
        vm.bye()
        assert vm.state is guest.State.DONE
        assert vm.console.death == ""


def judged(name: str, expected: dict[str, str]) -> int:
    """Runs cases and compares their results with the expected ones. Returns the number of boots."""
    records: list[dict[str, Any]] = []
    plan = session.Plan(machine(name), None, (), slowness=1.0)
    with session.Session(plan, None, records.append) as guests:
        cases = [suite.Case(case, ("CNT-002",), 2.0, "", 0) for case in expected]
        together.run([guests], cases, lambda message: None)
    assert {r["id"]: r["result"] for r in records if r["t"] == "result"} == expected
    assert records[-1] == {"t": "kmsg", "reports": []}
    return guests.boots


def test_a_panic_costs_one_case() -> None:
    expected = {"A.Passes": "PASS", "A.Panics": "CRASH", "A.Skips": "SKIP"}
    assert judged("6.12", expected) == 2


@pytest.mark.nightly
@pytest.mark.parametrize("name", kernel.known())
def test_deaths_of_all_kinds_cost_one_case_each(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "CASE_MARGIN_S", 2.0)
    expected = {
        "A.Passes": "PASS",
        "A.Panics": "CRASH",
        "A.Hangs": "TIMEOUT",
        "A.Floods": "BROKEN",
        "A.SendsOneGiantLine": "BROKEN",
        "A.Skips": "SKIP",
    }
    assert judged(name, expected) == 5


def test_a_kernel_without_an_init_is_a_panic_at_boot(tmp_path: pathlib.Path) -> None:
    bare = dataclasses.replace(machine("6.12"), initrd=None)
    with guest.Guest(bare) as vm, pytest.raises(guest.GuestLost) as lost:
        vm.boot()
    assert lost.value.verdict == "CRASH"
    assert "Kernel panic - not syncing: VFS: Unable to mount root fs" in lost.value.cause


def test_probe_detects_a_working_accelerator() -> None:
    assert accel.probe(kernel.find("6.12"), "tcg", deadline_s=60)
