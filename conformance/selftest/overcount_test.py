# SPDX-License-Identifier: Apache-2.0
"""A PMU that counts interrupts of a task in user mode, as many processors do, is judged only by undisturbed work.

The emulator adds an instruction to user mode for each return from an interrupt.
"""

from __future__ import annotations

import dataclasses
import pathlib
import tomllib
from typing import Any

import pytest

from vm import guest, kernel, runs, suite
from vm.testing.workloads import compile_program

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("overcount")]

DEADLINE_S = 200
PERIOD_NS = 10_000

TICKER = f"""
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{{
  struct perf_event_attr attr = {{.size = sizeof(attr)}};
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = {PERIOD_NS};
  if (syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0) < 0) return 1;
  pid_t pid = fork();
  if (pid != 0) return printf("%d\\n", (int)pid) < 0;
  close(1);
  return pause();
}}
"""
"""A timer interrupts CPU 0 often while the child lives. No task runs for it."""


def stimulated(draft: str) -> list[dict[str, Any]]:
    return [event for event in tomllib.loads(draft)["event"] if event["stimulus"] == "work"]


def work_guest(*work: str, files: dict[str, pathlib.Path] | None = None) -> guest.Guest:
    machine = runs.machine(kernel.find("6.12"), suite.find_target("refpmu_work"), files=files or {})
    return guest.Guest(dataclasses.replace(machine, work=(*work, "overcount=1")))


def test_draft_works_with_an_event_that_interrupts_leave_alone() -> None:
    parameters = suite.find_target("refpmu_work").parameters
    with work_guest("instructions", "branches") as vm:
        vm.boot()
        vm.load("refpmu.ko", parameters)
        draft = vm.exec(["pmuconf", "probe", "refpmu"], DEADLINE_S).stdout
        vm.bye()
    (event,) = stimulated(draft)
    assert (event["name"], event["accuracy"]) == ("branches", "exact")
    assert "work_interrupts" not in event


def test_failures_of_interrupted_work_are_no_evidence(tmp_path: pathlib.Path) -> None:
    files = {"bin/ticker": compile_program(tmp_path, "ticker", TICKER, "-O1")}
    parameters = suite.find_target("refpmu_work").parameters
    # An interrupt may miss the work of one run.
    run = "for i in 1 2 3 4 5 6; do pmuconf run --case 'Group.FullGroup*' --target"
    with work_guest("instructions", files=files) as vm:
        vm.boot()
        vm.load("refpmu.ko", parameters)
        draft = vm.exec(["pmuconf", "probe", "refpmu", "--out", "/tmp/draft.toml"], DEADLINE_S)
        text = vm.exec(["cat", "/tmp/draft.toml"], DEADLINE_S).stdout
        vm.exec(
            ["sh", "-c", "grep -v ^work_interrupts /tmp/draft.toml >/tmp/unaware.toml"], DEADLINE_S
        )
        said = {
            name: vm.exec(
                ["sh", "-c", f"pid=$(ticker); {run} /tmp/{name}.toml; done; kill $pid"], DEADLINE_S
            ).stdout
            for name in ("draft", "unaware")
        }
        vm.bye()
    print(draft.stderr, said)
    (event,) = stimulated(text)
    assert (event["name"], event["accuracy"]) == ("instructions", "exact")
    # A fault adds an instruction, too, but is no interrupt.
    assert event["work_interrupts"] in (1, 2)
    assert "FAIL" not in said["draft"]
    assert (
        "run again, because they were disturbed: Group.FullGroupCountsInEveryOrder" in said["draft"]
    )
    # The same interrupts look like wrong counts to a target that does not state the habit.
    assert "FAIL  Group.FullGroupCountsInEveryOrder" in said["unaware"]
