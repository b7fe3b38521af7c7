# SPDX-License-Identifier: Apache-2.0
"""Unmodified perf measures real work in a guest in which the reference driver counts executed instructions."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest

from pmubase import store
from vm import PACKAGE, guest, image, kernel, runs, suite
from vm.testing import nightly_params
from vm.testing.workloads import FOR_ROUNDS, SHARES, compile_program

pytestmark = pytest.mark.guest

TURNS = """
int main(int argc, char **argv)
{
  unsigned long turns = argc > 1 ? 1000000 : 1000;
  __asm__ volatile("1: dec %0; jnz 1b" : "+r"(turns));
  return 0;
}
"""
SAMPLES = PACKAGE / "testing" / "samples_program.c"
MORE_TURNS = 999_000
"""How many more turns it takes with an argument. A turn is two instructions, of which one is a branch."""
ROUNDS = "1000"
"""For some 7000 samples: by chance, a share of them is then wrong by 0.6 percentage points."""
SHARE_ERROR = 2.0
"""Percentage points."""


@pytest.fixture(scope="module", params=nightly_params.stock_kernels("work-perf"))
def vm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[guest.Guest]:
    """A guest with perf, and the reference driver with the work clock as the PMU `cpu`."""
    folder = tmp_path_factory.mktemp("programs")
    programs = {
        "bin/turns": compile_program(folder, "turns", TURNS, "-O1"),
        "bin/shares": compile_program(folder, "shares", FOR_ROUNDS, "-O0"),
        "bin/samples": compile_program(folder, "samples", SAMPLES.read_text("utf-8"), "-O1"),
    }
    target = suite.find_target("refpmu_work")
    files = programs | image.with_program("perf")
    with guest.Guest(runs.machine(kernel.find(request.param), target, files=files)) as running:
        running.boot()
        running.load("refpmu.ko", ["work=1", "cpu=1"])
        yield running
        assert running.unload("refpmu")["ok"] is True
        assert running.kmsg()["reports"] == []
        running.bye()


def perf(vm: guest.Guest, *words: str) -> guest.Done:
    done = vm.exec(["perf", *words], deadline_s=120)
    assert done.status == 0, done.stderr
    return done


def counts(vm: guest.Guest, *work: str) -> dict[str, int]:
    """The counts of perf stat by event, in user mode."""
    events = "instructions:u,branches:u,cycles:u,page-faults:u"
    done = perf(vm, "stat", "-j", "-e", events, "--", *work)
    rows = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return {row["event"]: int(float(row["counter-value"])) for row in rows}


def shares(vm: guest.Guest, *options: str) -> dict[str, float]:
    """The percentage of each function in perf report."""
    data = "/tmp/perf.data"
    perf(vm, "record", "-q", "-B", "-o", data, *options, "--", "shares", ROUNDS)
    words = ("--stdio", "--no-children", "-g", "none", "-F", "overhead,sym")
    lines = perf(vm, "report", "-i", data, *words).stdout.splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {row[-1]: float(row[0].rstrip("%")) for row in rows}


def test_perf_stat_counts_each_instruction_of_the_work(vm: guest.Guest) -> None:
    little, much = counts(vm, "turns"), counts(vm, "turns", "more")
    more = {event: much[event] - little[event] for event in much}
    # The argument itself costs some instructions of the program's start.
    assert abs(more["branches:u"] - MORE_TURNS) < 200
    assert abs(more["instructions:u"] - 2 * MORE_TURNS) < 1000
    assert more["cycles:u"] == 2 * more["instructions:u"]


def test_same_work_has_the_same_count_each_time(vm: guest.Guest) -> None:
    runs_of_it = [counts(vm, "turns") for _ in range(5)]
    # The number of page faults depends on the address of the stack.
    assert len({run["instructions:u"] - run["page-faults:u"] for run in runs_of_it}) == 1


@pytest.mark.parametrize(
    "options",
    [("-g", "-e", "instructions:u", "-c", "10007"), ("-e", "cycles:u", "-F", "20000")],
    ids=["by-period-with-callchains", "by-frequency"],
)
def test_perf_record_finds_the_shares_of_functions(
    vm: guest.Guest, options: tuple[str, ...]
) -> None:
    found = shares(vm, *options)
    for function, share in SHARES.items():
        assert abs(found[function] - 100 * share) <= SHARE_ERROR, found


@pytest.mark.parametrize("privileges", ["user", "all"])
@pytest.mark.parametrize("period", [100, 1000, 10_007])
def test_number_of_samples_is_count_by_period(
    vm: guest.Guest, period: int, privileges: str
) -> None:
    done = vm.exec(["samples", str(period), privileges, "3000"], deadline_s=120)
    assert done.status == 0, done.stderr
    count, samples = map(int, done.stdout.split())
    assert samples == count // period
    # A system call takes at least some instructions in each mode.
    assert samples > (0 if privileges == "user" else 10)
