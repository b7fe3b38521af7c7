# SPDX-License-Identifier: Apache-2.0
"""On a CPU without a periodic tick perf still does what it does by time."""

from __future__ import annotations

import pytest

from pmuvm import accel, guest, image, kernel, module, qemu, store, suite

pytestmark = pytest.mark.guest

CASE = "Context.EventsTakeTurnsWithoutATick"
DEADLINE_S = 30


@pytest.mark.rule("CTX-013")
@pytest.mark.parametrize("name", kernel.known())
def test_events_take_turns_without_a_tick(name: str) -> None:
    stock = kernel.find(name)
    packed = image.build(
        image.Contents(
            agent=suite.binary(),
            target=suite.find_target("refpmu").path,
            modules=(module.build(stock, store.ROOT / "driver", module.default_out(stock)),),
        )
    )
    machine = qemu.Machine(
        stock.arch, stock.image, packed, accel=accel.choose(stock), cmdline="nohz_full=1"
    )
    with guest.Guest(machine) as vm:
        vm.boot()
        at_boot = vm.kmsg()["reports"]
        vm.load("refpmu.ko")
        result = vm.case(CASE, DEADLINE_S)
        assert result["result"] == "PASS", result["message"]
        assert vm.kmsg()["reports"] == at_boot
        vm.bye()
