# SPDX-License-Identifier: Apache-2.0
"""The suite passes a PMU with habits of processors, and fails one with defects (docs/exact-pmu.md).

The draft of `pmuconf probe` must have bounds for a skid that cover it and are at most four times as wide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from vm import guest, kernel, runs, suite

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("accuracy")]

DEADLINE_S = 200
TARGET = suite.find_target("refpmu_work")
DRAFT = "/tmp/draft.toml"
SAMPLES = "Sampling.EventsSlowerThanTheFrequencyAreAllSampled"
COUNTS = "Counting.RepeatedEnableDisableCountsExactly"
SKID = r"^# skid: at most (\d+) events"
SAFE_PERIOD = r"^# safe period: (\d+)"


@pytest.fixture(scope="module")
def vm() -> Iterator[guest.Guest]:
    with guest.Guest(runs.machine(kernel.find("6.12"), TARGET)) as running:
        running.boot()
        yield running
        assert running.kmsg()["reports"] == []
        running.bye()


@pytest.mark.parametrize(
    ("habit", "skid"), [("skid=200 skid_varies=1", 200), ("skid=10000", 10_000)]
)
def test_draft_bounds_an_allowed_habit_and_passes(vm: guest.Guest, habit: str, skid: int) -> None:
    vm.load("refpmu.ko", [*TARGET.parameters, *habit.split()])
    try:
        words = f"pmuconf probe refpmu --name {TARGET.name} >{DRAFT} && cat {DRAFT}"
        draft = vm.exec(["sh", "-c", words], DEADLINE_S).stdout
        done = vm.exec(["pmuconf", "run", "--target", DRAFT, "--case", SAMPLES], DEADLINE_S)
    finally:
        vm.unload("refpmu")
    for pattern in (SKID, SAFE_PERIOD):
        found = re.search(pattern, draft, re.M)
        assert found, draft
        assert skid <= int(found[1]) <= 4 * skid
    assert "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("defect", "case", "rule"),
    [("loses=7", SAMPLES, "SMP-019"), ("jumps_back=7", COUNTS, "CNT-005")],
)
def test_defect_fails_the_rule_of_its_symptom(
    vm: guest.Guest, defect: str, case: str, rule: str
) -> None:
    vm.load("refpmu.ko", [*TARGET.parameters, *defect.split()])
    try:
        done = vm.exec(["pmuconf", "run", "--target", TARGET.name, "--case", case], DEADLINE_S)
    finally:
        vm.unload("refpmu")
    assert f"FAIL  {case}" in done.stdout, done.stdout + done.stderr
    assert re.search(rf"^driver: NOT CONFORMANT: failed: .*{rule}", done.stdout, re.M)
