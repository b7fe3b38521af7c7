# SPDX-License-Identifier: Apache-2.0
"""`pmuconf watch` reports no breach of the driver while perf and its benchmarks run.

It also reports missing requirements.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from vm import guest, image, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

PULSES = ("pulse_a", "pulse_b", "pulse_c", "pulse_d", "branches", "cache-misses")
EVENTS = ",".join(f"refpmu/{name}/" for name in ("cycles", "instructions", "ref-cycles", *PULSES))
"""More events than counters, so that they rotate."""
COUNT = f"perf stat -o /dev/null -e {EVENTS}"
SAMPLE = "perf record -q -g -o /tmp/watched.data -e refpmu/cycles/"
PIPE = "perf bench sched pipe -l 500"
MESSAGING = "perf bench sched messaging -g 1 -l 5"
LOADS = {
    "pipe, counted": f"{COUNT} -- {PIPE}",
    "messaging, counted": f"{COUNT} -- {MESSAGING}",
    "messaging, counted on all CPUs": f"{COUNT} -a -- {MESSAGING}",
    "pipe, sampled by period": f"{SAMPLE} -c 200000 -- {PIPE}",
    "messaging, sampled by frequency": f"{SAMPLE} -F 2000 -- {MESSAGING}",
    "messaging, sampled on all CPUs": f"{SAMPLE} -a -F 999 -- {MESSAGING}",
}
DAILY = ("pipe, counted", "messaging, sampled on all CPUs")
"""The other loads run in make nightly."""


@pytest.fixture(
    scope="module",
    params=nightly_params.stock_kernels("watch-load"),
)
def vm(request: pytest.FixtureRequest) -> Iterator[guest.Guest]:
    """A guest with the driver and perf."""
    perf = image.with_program("perf")
    machine = runs.machine(kernel.find(request.param), suite.find_target("refpmu"), files=perf)
    with guest.Guest(machine) as running:
        running.boot()
        running.load("refpmu.ko")
        yield running
        assert running.unload("refpmu")["ok"] is True
        assert running.kmsg()["reports"] == []
        running.bye()


@pytest.mark.parametrize(
    "load",
    [pytest.param(load, marks=[] if load in DAILY else pytest.mark.nightly) for load in LOADS],
)
def test_load_causes_no_breach(vm: guest.Guest, load: str) -> None:
    command = ["pmuconf", "watch", "--pmu", "refpmu", "--json", "/tmp/watch.json", "--"]
    done = vm.exec([*command, "sh", "-c", f"{LOADS[load]} >/tmp/said 2>&1 && echo >/tmp/well"], 300)
    assert done.status == 0, done.stdout + done.stderr
    # The load itself succeeded.
    well = vm.exec(["rm", "/tmp/well"])
    assert well.status == 0, vm.exec(["cat", "/tmp/said"]).stdout
    figures: dict[str, Any] = json.loads(vm.exec(["cat", "/tmp/watch.json"]).stdout)
    assert figures["breaches"] == []
    calls = {row["name"]: row["calls"] for row in figures["calls"]}
    assert calls["add"] == calls["del"] > 0
    assert sum(calls.values()) > 100


WITHOUT_TYPES = "mount -t tmpfs none /sys/kernel/btf && exec pmuconf watch --pmu refpmu"


@pytest.mark.parametrize(
    ("around", "said"),
    [
        (["-U", "pmuconf", "watch", "--pmu", "refpmu"], "watching needs root"),
        (["-m", "sh", "-c", WITHOUT_TYPES], "this kernel has no BTF"),
    ],
)
def test_missing_requirement_is_a_one_line_error(
    vm: guest.Guest, around: list[str], said: str
) -> None:
    done = vm.exec(["unshare", *around])
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
