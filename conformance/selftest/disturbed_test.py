# SPDX-License-Identifier: Apache-2.0
"""A case that other tasks disturb runs again, and the report names it."""

from __future__ import annotations

import json
import pathlib

import pytest

from vm import guest, kernel, runs, suite
from vm.testing.workloads import compile_program

pytestmark = pytest.mark.guest

# Many cases each, because one run can be lucky and end between two wake-ups of the other task.
KEEP_THEIR_CPU = "BranchStack.H*"
COUNT_EVERY_TASK = "Control.S*able*"
MOST_RUNS = 4
AGAIN = "run again, because they were disturbed: "
DEADLINE_S = 120

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


def test_cases_that_lose_their_cpu_run_again(tmp_path: pathlib.Path) -> None:
    files = {"bin/taker": compile_program(tmp_path, "taker", TAKER, "-O1")}
    target = suite.find_target("refpmu").on(cpus=1)
    run = f"pmuconf run --target refpmu --case '{KEEP_THEIR_CPU}' --out /tmp/report"
    with guest.Guest(runs.machine(kernel.find("6.12"), target, files=files)) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        disturbed = vm.exec(["sh", "-c", f"pid=$(taker); {run}; kill $pid"], DEADLINE_S)
        results = json.loads(vm.exec(["cat", "/tmp/report/results.json"], DEADLINE_S).stdout)
        calm = vm.exec(["sh", "-c", run], DEADLINE_S)
        vm.bye()
    print(disturbed.stdout, calm.stdout)
    again = {case["id"]: case["runs"] for case in results["cases"] if case["runs"] > 1}
    assert again
    assert max(again.values()) <= MOST_RUNS
    assert f"{AGAIN}{next(iter(again))}" in disturbed.stdout
    assert "FAIL" not in disturbed.stdout
    # Without the other task, the cases pass.
    assert "3 passed" in calm.stdout


def test_faults_of_other_tasks_fail_no_case(tmp_path: pathlib.Path) -> None:
    files = {"bin/taker": compile_program(tmp_path, "taker", TAKER, "-O1")}
    target = suite.find_target("software").on(cpus=1)
    run = f"pmuconf run --target software --case '{COUNT_EVERY_TASK}'"
    with guest.Guest(runs.machine(kernel.find("6.12"), target, files=files)) as vm:
        vm.boot()
        busy = vm.exec(["sh", "-c", f"pid=$(taker); {run}; kill $pid"], DEADLINE_S)
        calm = vm.exec(["sh", "-c", run], DEADLINE_S)
        vm.bye()
    print(busy.stdout, calm.stdout)
    assert "FAIL" not in busy.stdout
    # The runs in which the other task took part were repeated.
    assert AGAIN in busy.stdout
    assert "FAIL" not in calm.stdout
