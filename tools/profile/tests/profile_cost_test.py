# SPDX-License-Identifier: Apache-2.0
"""Compares `profile` with `perf record -g` in one guest: the cost of a sample, lost samples, and seen functions.

The guest's clock counts instructions, so CPU time is the same on any host. The cost of a sample is the slope of the CPU
time of profiler and work: many samples of some work compared with few of the same. Costs that do not depend on samples
are in both.
"""

from __future__ import annotations

import base64
import bisect
import dataclasses
import gzip
import json
import math
import pathlib
import statistics
import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest

from vm import guest, image, kernel, runs, suite
from vm.testing import perfdata
from vm.testing.resource_usage import USAGE_PROGRAM, ResourceUsage
from vm.testing.workloads import FOR_ROUNDS, SHARES, compile_program

pytestmark = [
    pytest.mark.guest,
    pytest.mark.nightly,
    pytest.mark.xdist_group("profile-cost"),
    pytest.mark.timeout(3000),
]

EVENTS = ("cpu-clock", "refpmu/cycles/")
OFTEN_NS, SELDOM_NS = 20_000, 1_000_000
WORK = ("rounds", "12000")
ROUNDS = 3
AT_MOST = {"perf record -g": 1.2, "perf record -g --no-buildid": 1.35}
"""Fraction of perf's cost. The second command only writes the data that it read."""
SIGMAS = 5.0
EXEC_S = 600


@dataclasses.dataclass(frozen=True)
class Taken:
    """A profile: CPU time of the profiler and the work, samples, and the number of samples in each function."""

    cpu_us: int
    samples: int
    lost: int
    functions: Counter[str]


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return compile_program(tmp_path_factory.mktemp("cost"), "rounds", FOR_ROUNDS, "-O0", "-no-pie")


@pytest.fixture(scope="module")
def vm(rounds: pathlib.Path) -> Iterator[guest.Guest]:
    """A guest whose clock counts instructions, with both profilers."""
    target = suite.find_target("refpmu").on(cpus=1, icount=0)
    files = {
        "bin/profile": suite.tool("tools/profile/profile"),
        "bin/rounds": rounds,
        "bin/meter": compile_program(rounds.parent, "meter", USAGE_PROGRAM, "-O2"),
    }
    machine = runs.machine(kernel.find("6.12"), target, files=files | image.with_program("perf"))
    with guest.Guest(machine) as running:
        running.boot()
        running.load("refpmu.ko")
        # Otherwise the kernel would reduce the rate of both, because of the cost of the first one.
        said = running.exec(["sh", "-c", "echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent"])
        assert said.status == 0, said.stderr
        yield running
        assert running.unload("refpmu")["ok"] is True
        running.bye()


def metered(vm: guest.Guest, *words: str) -> int:
    done = vm.exec(["meter", *words, "--", *WORK], EXEC_S)
    assert done.status == 0, done.stderr
    return ResourceUsage.parse(done.stdout).cpu_us


def written(vm: guest.Guest, file: str) -> bytes:
    """Reads a file of the guest in pieces that fit into a message."""
    piece = 32 << 10
    done = vm.exec(["sh", "-c", f"gzip -c {file} >{file}.gz && wc -c <{file}.gz"], EXEC_S)
    assert done.status == 0, done.stderr
    packed = b""
    for at in range(math.ceil(int(done.stdout) / piece)):
        script = f"dd if={file}.gz bs={piece} skip={at} count=1 2>/dev/null | base64"
        packed += base64.b64decode(vm.exec(["sh", "-c", script]).stdout)
    return gzip.decompress(packed)


class Symbols:
    """The functions of a program with a fixed load address."""

    def __init__(self, program: pathlib.Path) -> None:
        argv = ["nm", "--defined-only", "-n", str(program)]
        listed = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
        rows = [line.split() for line in listed.stdout.splitlines()]
        self._begins = [int(row[0], 16) for row in rows]
        self._names = [row[2] for row in rows]

    def at(self, address: int) -> str:
        place = bisect.bisect_right(self._begins, address)
        return self._names[place - 1] if place else ""


def by_profile(vm: guest.Guest, event: str, period: int) -> Taken:
    out = "/tmp/out.json"
    cpu_us = metered(vm, "profile", "-e", event, "-c", str(period), "-o", out)
    found = json.loads(written(vm, out))
    names = [frame["name"] for frame in found["frames"]]
    functions: Counter[str] = Counter()
    for stack in found["stacks"]:
        functions[names[stack["frames"][-1]]] += stack["samples"]
    assert found["throttled"] == 0
    return Taken(cpu_us, found["samples"], found["lost"], functions)


def by_perf(vm: guest.Guest, symbols: Symbols, command: str, event: str, period: int) -> Taken:
    out = "/tmp/perf.data"
    cpu_us = metered(vm, *command.split(), "-q", "-e", event, "-c", str(period), "-o", out)
    records = list(perfdata.records(written(vm, out)))
    samples = [record for record in records if record.type == perfdata.SAMPLE]
    functions = Counter(symbols.at(record.words(1)[0]) for record in samples)
    lost = sum(record.words(2)[1] for record in records if record.type == perfdata.LOST)
    assert not [record for record in records if record.type == perfdata.THROTTLE]
    return Taken(cpu_us, len(samples), lost, functions)


def a_sample_us(often: Taken, seldom: Taken) -> float:
    return (often.cpu_us - seldom.cpu_us) / (often.samples - seldom.samples)


def the_same_was_seen(ours: Taken, theirs: Taken) -> None:
    n, m = (sum(taken.functions[name] for name in SHARES) for taken in (ours, theirs))
    assert n > 0.9 * ours.samples > 5000 and m > 0.9 * theirs.samples > 5000
    for name in SHARES:
        p, q = ours.functions[name] / n, theirs.functions[name] / m
        bound = SIGMAS * math.sqrt(p * (1 - p) * (1 / n + 1 / m))
        assert p == pytest.approx(q, abs=bound), (ours, theirs)


@pytest.mark.parametrize("command", AT_MOST)
@pytest.mark.parametrize("event", EVENTS)
def test_a_sample_costs_no_more_than_that_of_perf_record(
    vm: guest.Guest, rounds: pathlib.Path, event: str, command: str
) -> None:
    symbols = Symbols(rounds)
    ratios = []
    for _ in range(ROUNDS):
        ours, ours_few = by_profile(vm, event, OFTEN_NS), by_profile(vm, event, SELDOM_NS)
        theirs = by_perf(vm, symbols, command, event, OFTEN_NS)
        theirs_few = by_perf(vm, symbols, command, event, SELDOM_NS)
        cost, of_perf = a_sample_us(ours, ours_few), a_sample_us(theirs, theirs_few)
        ratios.append(cost / of_perf)
        print(f"{event}: profile {cost:.2f} us a sample, {command} {of_perf:.2f} us")
        assert (ours.lost, theirs.lost) == (0, 0)
        the_same_was_seen(ours, theirs)
    assert statistics.median(ratios) <= AT_MOST[command], ratios
