# SPDX-License-Identifier: Apache-2.0
"""A case that asks for its CPU, and does not get it, is run again whatever it came to, and says so."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from pmuvm import guest, kernel, runs, suite
from spinners import compiled

pytestmark = pytest.mark.guest

CASE = "Record.BranchesAreAsManyAsTheirNumberSays"
RUNS = 4
DEADLINE_S = 60

TAKER = """
#include <sched.h>
#include <time.h>
int main(void)
{
  struct sched_param urgent = {.sched_priority = 50};
  struct timespec often = {.tv_nsec = 50000};
  if (sched_setscheduler(0, SCHED_FIFO, &urgent) != 0) return 1;
  for (;;) nanosleep(&often, 0);
}
"""
"""Takes the CPU from what is less urgent, for a moment, and again."""


def test_a_case_whose_cpu_is_taken_away_is_run_again(tmp_path: pathlib.Path) -> None:
    files = {"bin/taker": compiled(tmp_path, "taker", TAKER, "-O1")}
    target = dataclasses.replace(suite.find_target("refpmu"), cpus=1)
    with guest.Guest(runs.machine(kernel.find("6.12"), target, files=files)) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        begun = vm.exec(["sh", "-c", "taker >/dev/null 2>&1 & echo $!"])
        disturbed = vm.case(CASE, DEADLINE_S)
        assert vm.exec(["kill", begun.stdout.strip()]).status == 0
        # It is not there any more: nothing is run again without a reason.
        calm = vm.case(CASE, DEADLINE_S)
        vm.bye()
    assert disturbed["runs"] == RUNS
    assert calm["result"] == "PASS", calm["message"]
    assert "runs" not in calm
