# SPDX-License-Identifier: Apache-2.0
"""Unmodified perf works in a guest in which the reference driver is the CPU's PMU.

The test reads perf's output for programs, and its files with perfdata.py. The events come from time and from the tool
`stimulate`, so that most counts can be compared exactly. Debian 12 has one perf, of the 6.1 series, for both kernels.
It expects Intel's names for memory events and AUX areas. On CPUs of other vendors it opens other PMUs. It maps no AUX
area for a PMU called refpmu_trace.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import pathlib
import shlex
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator

import pytest

from vm import guest, image, kernel, runs, suite
from vm.arch import Arch
from vm.testing import nightly_params, perfdata

pytestmark = pytest.mark.guest

WORK = ["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=400"]
LONG_WORK = [*WORK[:-1], "count=40000"]
"""Takes many rotations of more events than counters, on any host."""
PERIOD = 1_000_000
SYSFS = "/sys/bus/event_source/devices"
BRANCHES, CACHE_MISSES, LOADS, DATA_READS = "0xc4", "0x412e", "0x1cd", "0x104"
LBR_DEPTH = 32
RECORD_BYTES = 24


def intel(machine: Arch) -> Arch:
    """perf decodes branch traces and offers memory loads only on CPUs of this vendor."""
    named = {key: f"{cpu},vendor=GenuineIntel" for key, cpu in machine.cpu.items()}
    return dataclasses.replace(machine, cpu=named)


CALLS = """
static volatile unsigned long turns;
__attribute__((noinline)) void innermost(void) { while (turns < 30000000) turns++; }
__attribute__((noinline)) void middle(void) { innermost(); turns++; }
__attribute__((noinline)) void outermost(void) { middle(); turns++; }
int main(void) { outermost(); turns++; return 0; }
"""
"""Each function does more work after the call of the next one, so that it stays on the stack."""


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A program with a known call chain."""
    program = tmp_path_factory.mktemp("called") / "called"
    flags = ["-static", "-O0", "-fno-omit-frame-pointer"]
    argv = ["gcc", *flags, "-x", "c", "-", "-o", str(program)]
    subprocess.run(argv, input=CALLS, text=True, check=True, timeout=60)
    return program


@pytest.fixture(
    scope="module",
    params=nightly_params.stock_kernels("stock-perf"),
)
def vm(request: pytest.FixtureRequest, called: pathlib.Path) -> Iterator[guest.Guest]:
    """A guest with the reference driver as the PMU `cpu`, and the host's perf."""
    stock = kernel.find(request.param)
    programs = {"bin/stimulate": suite.tool("tools/stimulate"), "bin/called": called}
    machine = runs.machine(
        stock, suite.find_target("refpmu"), files=programs | image.with_program("perf")
    )
    with guest.Guest(dataclasses.replace(machine, arch=intel(stock.arch))) as running:
        running.boot()
        running.load("refpmu.ko", ["cpu=1", "bts=1"])
        yield running
        assert running.unload("refpmu")["ok"] is True
        assert running.kmsg()["reports"] == []
        running.bye()


@dataclasses.dataclass(frozen=True)
class Count:
    """A line of perf stat."""

    event: str
    value: float
    unit: str
    ran: float
    """Percentage of its time that it was on a counter."""


def perf(vm: guest.Guest, *words: str) -> guest.Done:
    done = vm.exec(["perf", *words], deadline_s=120)
    assert done.status == 0, done.stderr
    return done


def stat(vm: guest.Guest, events: list[str], work: list[str], *options: str) -> list[Count]:
    """The counts of `events` while `work` runs, from perf's JSON lines."""
    done = perf(vm, "stat", "-j", *options, "-e", ",".join(events), "--", *work)
    rows = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    return [
        Count(row["event"], float(row["counter-value"]), row["unit"], row["pcnt-running"])
        for row in rows
    ]


def record(vm: guest.Guest, options: list[str], work: list[str]) -> str:
    """Runs perf record in the guest. Returns the path of its file."""
    data = "/tmp/perf.data"
    # Without build ids, since perf takes seconds to read them from all files.
    perf(vm, "record", "-q", "-B", "-o", data, *options, "--", *work)
    return data


def perf_script(vm: guest.Guest, data: str, fields: str, *options: str) -> list[str]:
    """The given fields of each sample, from perf script, a line each."""
    done = perf(vm, "script", "-i", data, "-F", fields, *options)
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]


def read(vm: guest.Guest, data: str) -> list[perfdata.Record]:
    done = vm.exec(["base64", data])
    assert done.status == 0, done.stderr
    return list(perfdata.records(base64.b64decode(done.stdout)))


def stimulate(what: str, *words: str, device: str = "refpmu") -> list[str]:
    return ["stimulate", "--device", f"/dev/{device}", what, *words]


def test_the_driver_is_the_cpus_pmu(vm: guest.Guest) -> None:
    done = vm.exec(["cat", f"{SYSFS}/cpu/type"])
    assert (done.status, done.stdout.strip()) == (0, "4")


def test_perf_list_shows_the_events_and_perf_stat_accepts_each(vm: guest.Guest) -> None:
    done = vm.exec(["sh", "-c", f"cd {SYSFS}/cpu/events && ls"])
    names = [name for name in done.stdout.split() if not name.endswith((".scale", ".unit"))]
    assert {"cycles", "instructions", "mem-loads"} <= set(names)
    # Only the names, as for completion in a shell.
    listed = perf(vm, "list", "--raw-dump", "pmu").stdout.split()
    assert {f"cpu/{name}/" for name in names} <= {*listed, *(f"cpu/{word}/" for word in listed)}
    counts = stat(vm, [f"cpu/{name}/" for name in names], LONG_WORK)
    assert len(counts) == len(names)
    assert all(count.ran > 0 for count in counts)


@pytest.fixture
def manual_clock(vm: guest.Guest) -> Iterator[None]:
    """Cycles in the guest pass only by `stimulate advance`."""
    assert vm.exec(stimulate("clock", "manual")).status == 0
    yield
    assert vm.exec(stimulate("clock", "auto")).status == 0


@pytest.mark.usefixtures("manual_clock")
def test_perf_stat_counts_events_exactly(vm: guest.Guest) -> None:
    happens = (
        stimulate("advance", "--count", "1000000"),
        stimulate("pulse", CACHE_MISSES, "--count", "77"),
        stimulate("pulse", BRANCHES, "--count", "1000"),
    )
    work = ["sh", "-c", " && ".join(shlex.join(words) for words in happens)]
    counts = stat(vm, ["cycles", "instructions", "cache-misses", "branches"], work)
    assert [(count.event, count.value) for count in counts] == [
        ("cycles", 1_000_000),
        ("instructions", 500_000),
        ("cache-misses", 77),
        ("branches", 1000),
    ]
    assert [count.ran for count in counts] == [100.0] * 4


def test_perf_stat_counts_cycles_as_time_passes(vm: guest.Guest) -> None:
    counts = stat(vm, ["task-clock", "cycles", "instructions"], LONG_WORK)
    clock, cycles, instructions = (count.value for count in counts)
    # The counters start and stop separately, a few of the model's ticks apart.
    assert cycles == pytest.approx(clock * 1e6, rel=0.05)
    assert instructions == pytest.approx(cycles / 2, rel=0.01)


def test_perf_stat_scales_twelve_events_to_within_five_per_cent(vm: guest.Guest) -> None:
    # An emulated CPU needs much time for a rotation, in which nothing counts, so rotations are rare.
    interval = f"{SYSFS}/cpu/perf_event_mux_interval_ms"
    assert vm.exec(["sh", "-c", f"echo 20 >{interval}"]).status == 0
    # A software event counts the nanoseconds of the task, on no counter; the same number of cycles passes.
    cycles = "cpu/event=0x3c/"
    truth, *counts = stat(vm, ["task-clock", *[cycles] * 12], LONG_WORK)
    assert len(counts) == 12
    assert truth.unit == "msec"
    for count in counts:
        assert count.ran < 60.0
        assert count.value == pytest.approx(truth.value * 1e6, rel=0.05)


def test_perf_record_writes_a_sample_a_period(vm: guest.Guest) -> None:
    data = record(vm, ["-e", "cycles", "-c", str(PERIOD)], WORK)
    samples = Counter(
        tuple(line.replace(":", " ").split()) for line in perf_script(vm, data, "event,period")
    )
    assert list(samples) == [(str(PERIOD), "cycles")]
    assert samples.total() > 1


def test_perf_record_follows_a_frequency(vm: guest.Guest) -> None:
    data = record(vm, ["-e", "cycles", "-F", "999"], WORK)
    periods = [int(line) for line in perf_script(vm, data, "period")]
    assert len(set(periods)) > 1
    assert all(period > 0 for period in periods)


def test_perf_record_g_shows_how_the_kernel_was_entered(vm: guest.Guest) -> None:
    data = record(vm, ["-g", "-e", "cycles:k", "-c", str(PERIOD)], WORK)
    done = perf(vm, "script", "-i", data, "-F", "ip,sym")
    chains = [chain.split("\n") for chain in done.stdout.strip().split("\n\n")]
    symbols = [[line.split()[1] for line in chain if line.strip()] for chain in chains]
    assert len(symbols) > 1
    assert sum("do_syscall_64" in chain for chain in symbols) > len(symbols) / 2
    # A sample shows the interrupted code, not the code that caused the event. On 6.1 that may be the driver, which the
    # kernel calls for each event of a mapping.
    samplers = ("refpmu", "perf_event_overflow", "__perf_event_overflow", "perf_prepare_sample")
    others = [chain for chain in symbols if "pmu_filter_match" not in chain]
    assert [chain for chain in others if chain[0].startswith(samplers)] == []


def test_perf_record_g_shows_who_called_in_user_space(vm: guest.Guest) -> None:
    data = record(vm, ["-g", "-e", "cycles:u", "-c", str(PERIOD)], ["called"])
    done = perf(vm, "script", "-i", data, "-F", "ip,sym")
    chains = [chain.split("\n") for chain in done.stdout.strip().split("\n\n")]
    symbols = [[line.split()[1] for line in chain if line.strip()] for chain in chains]
    busy = [chain for chain in symbols if chain[0] == "innermost"]
    # The rest is the program's start.
    assert len(busy) > len(symbols) / 2
    assert {tuple(chain[:4]) for chain in busy} == {("innermost", "middle", "outermost", "main")}


def test_perf_record_takes_precise_samples(vm: guest.Guest) -> None:
    data = record(vm, ["-e", "cycles:pp", "-c", str(PERIOD)], WORK)
    samples = [one for one in read(vm, data) if one.type == perfdata.SAMPLE]
    assert len(samples) > 1
    assert all(sample.misc & perfdata.EXACT_IP for sample in samples)
    assert set(perf_script(vm, data, "period")) == {str(PERIOD)}


def chain_of(line: str) -> list[int]:
    """Numbers of the branches of `stimulate` in a brstack, as assigned by that tool."""
    numbers = []
    for word in line.split():
        source, to, missed, _, _, cycles = word.rstrip("/").split("/")[:6]
        number = (int(source, 16) - 0x1000) // 0x10
        assert int(to, 16) == int(source, 16) + 0x10
        assert (missed, int(cycles)) == ("M" if number % 2 else "P", number + 1)
        numbers.append(number)
    return numbers


def test_perf_record_b_shows_the_branches_before_each_sample(vm: guest.Guest) -> None:
    work = stimulate("branches", "--count", "100")
    data = record(vm, ["-b", "-e", "branches:u", "-c", "10"], work)
    chains = [chain_of(line) for line in perf_script(vm, data, "brstack")]
    assert chains == [
        list(range(last - 1, max(last - 1 - LBR_DEPTH, -1), -1)) for last in range(10, 101, 10)
    ]


def test_perf_record_j_shows_branches_of_one_kind(vm: guest.Guest) -> None:
    work = stimulate("branches", "--count", "70")
    data = record(vm, ["-j", "ind_call,u", "-e", "branches:u", "-c", "70"], work)
    chains = [chain_of(line) for line in perf_script(vm, data, "brstack")]
    assert chains == [list(range(65, 0, -7))]


def test_perf_mem_records_loads_with_their_data(vm: guest.Guest) -> None:
    address, latency, source = 0x1234000, 100, 0x142
    data = "/tmp/mem.data"
    slow = stimulate(
        "pulse",
        LOADS,
        *("--count", "20", "--latency", str(latency)),
        *("--addr", str(address), "--source", str(source)),
    )
    perf(vm, "mem", "record", "-t", "load", "-o", data, "-c", "1", "--", *slow)
    lines = perf_script(vm, data, "addr,data_src,weight")
    assert len(lines) == 20
    for line in lines:
        words = line.split()
        assert (int(words[0], 16), int(words[1], 16)) == (address, source)
        assert int(words[-1]) == latency


def test_perf_mem_omits_fast_loads(vm: guest.Guest) -> None:
    quick = stimulate("pulse", LOADS, "--count", "20", "--latency", "3")
    assert [count.value for count in stat(vm, ["cpu/mem-loads,ldlat=30/"], quick)] == [0]


def test_perf_stat_a_counts_on_the_uncore_with_its_unit(vm: guest.Guest) -> None:
    lines_in_a_mebibyte = str((1 << 20) // 64)
    work = stimulate("pulse", DATA_READS, "--count", lines_in_a_mebibyte, device="refpmu_uncore")
    work[1:1] = ["--cpu", "0"]
    events = ["refpmu_uncore/data_reads/", "refpmu_uncore/requests/"]
    reads, requests = stat(vm, events, work, "-a")
    assert (reads.value, reads.unit) == (1.0, "MiB")
    assert requests.value == 0


def test_perf_stat_a_counts_only_on_the_uncores_cpu(vm: guest.Guest) -> None:
    work = stimulate("--cpu", "0", "pulse", DATA_READS, "--count", "64", device="refpmu_uncore")
    options = ["stat", "-j", "-a", "-A", "-e", "refpmu_uncore/event=0x04,umask=0x01/"]
    done = perf(vm, *options, "--", *work)
    rows = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    cpumask = vm.exec(["cat", f"{SYSFS}/refpmu_uncore/cpumask"]).stdout.strip()
    assert [(row["cpu"], float(row["counter-value"])) for row in rows] == [(cpumask, 64.0)]


def test_perf_record_gets_the_complete_branch_trace(vm: guest.Guest) -> None:
    work = stimulate("branches", "--count", "100", device="refpmu_trace")
    data = record(vm, ["--per-thread", "-e", "intel_bts//u"], work)
    found = read(vm, data)
    (area,) = [one for one in found if one.type == perfdata.AUX]
    assert area.words(3) == (0, 100 * RECORD_BYTES, 0)
    trace = b"".join(one.trace for one in found if one.type == perfdata.AUXTRACE)
    branches = [(source, to) for source, to, _ in struct.iter_unpack("<3Q", trace)]
    assert branches == [(0x1000 + 0x10 * i, 0x1010 + 0x10 * i) for i in range(100)]
    # perf's own decoder agrees. One branch begins or ends outside of the visible range.
    shown = {
        (int(source, 16), int(to, 16))
        for source, _, to in (
            line.split() for line in perf_script(vm, data, "ip,addr", "--itrace=b")
        )
    }
    assert len(shown) >= 99
    assert shown <= set(branches)
