# SPDX-License-Identifier: Apache-2.0
"""An unloaded PMU leaves no rotation timer behind.

perf arms a timer if events wait for a counter, for perf_event_mux_interval_ms, and frees it with the PMU even if it is
armed. The next PMU may reuse its memory.
"""

from __future__ import annotations

import pytest

from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

DEADLINE_S = 120
CASE = "Multiplex.EqualEventsGetEqualTurns"  # No rotation happens within a minute, so the test fails quickly.
TIMERS = "grep -c perf_mux_hrtimer_handler /proc/timer_list"
UNLOAD = f"""
echo 60000 >/sys/bus/event_source/devices/refpmu/perf_event_mux_interval_ms || exit 1
pmuconf run --target refpmu --case {CASE} >/dev/null
{TIMERS}
rmmod refpmu || exit 1
{TIMERS}
exit 0
"""


@pytest.mark.parametrize("name", nightly_params.stock_kernels())
def test_no_timer_outlives_the_pmu(name: str) -> None:
    with guest.Guest(runs.machine(kernel.find(name), suite.find_target("refpmu"))) as vm:
        vm.boot()
        vm.load("refpmu.ko", [])
        done = vm.exec(["sh", "-c", UNLOAD], DEADLINE_S)
        assert done.status == 0, done.stderr
        armed, left = map(int, done.stdout.split())
        assert armed > 0 and left == 0
        vm.load("refpmu.ko", [])
        assert vm.kmsg()["reports"] == []
        vm.bye()
