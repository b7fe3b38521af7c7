# SPDX-License-Identifier: Apache-2.0
"""A case that other tasks disturb runs again, and the report names it."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from vm import guest, kernel, runs, suite
from vm.testing.workloads import compile_program

pytestmark = pytest.mark.guest

CASE = "Record.BranchCountMatchesEntries"
RUNS = 4
DEADLINE_S = 60

TAKER = """
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>
int main(void)
{
  struct sched_param urgent = {.sched_priority = 50};
  struct itimerspec often = {{.tv_nsec = 200000}, {.tv_nsec = 200000}};
  unsigned long long times;
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (sched_setscheduler(0, SCHED_FIFO, &urgent) != 0) return 1;
  pid_t pid = fork();
  if (pid != 0) return printf("%d\\n", (int)pid) < 0;
  close(1);
  timerfd_settime(timer, 0, &often, NULL);
  while (read(timer, &times, sizeof(times)) > 0) {
    *page = 1;
    madvise((void *)page, 4096, MADV_DONTNEED);
  }
  return 1;
}
"""
"""A child repeatedly takes the CPU for a moment from less urgent tasks, and has a page fault each time. It inherits its
priority, so that it already runs when its parent ends."""


def test_case_that_loses_its_cpu_runs_again(tmp_path: pathlib.Path) -> None:
    files = {"bin/taker": compile_program(tmp_path, "taker", TAKER, "-O1")}
    target = suite.find_target("refpmu").on(cpus=1)
    run = f"pmuconf run --target refpmu --case {CASE} --out /tmp/report"
    counted = """grep -o '"runs": *[0-9]*' /tmp/report/results.json"""
    with guest.Guest(runs.machine(kernel.find("6.12"), target, files=files)) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        disturbed = vm.exec(["sh", "-c", f"pid=$(taker); {run}; kill $pid; {counted}"], DEADLINE_S)
        calm = vm.exec(["sh", "-c", run], DEADLINE_S)
        vm.bye()
    said = f"run again, because other tasks disturbed them: {CASE}\n"
    assert said in disturbed.stdout
    assert disturbed.stdout.endswith(f'"runs": {RUNS}\n')
    # With an undisturbed CPU the same case passes.
    assert "1 passed" in calm.stdout


COUNTS_EVERY_TASK = "Control.SecondEnableChangesNothing"


def test_faults_of_other_tasks_fail_no_case(tmp_path: pathlib.Path) -> None:
    files = {"bin/taker": compile_program(tmp_path, "taker", TAKER, "-O1")}
    target = suite.find_target("software").on(cpus=1)
    run = f"pmuconf run --target software --case {COUNTS_EVERY_TASK}"
    with guest.Guest(runs.machine(kernel.find("6.12"), target, files=files)) as vm:
        vm.boot()
        busy = vm.exec(["sh", "-c", f"pid=$(taker); {run}; kill $pid"], DEADLINE_S)
        calm = vm.exec(["sh", "-c", run], DEADLINE_S)
        vm.bye()
    assert "FAIL" not in busy.stdout
    # The runs in which the other tasks took part were repeated, or none was undisturbed.
    assert f"run again, because other tasks disturbed them: {COUNTS_EVERY_TASK}\n" in busy.stdout
    assert "1 passed" in calm.stdout and "run again" not in calm.stdout
