# SPDX-License-Identifier: Apache-2.0
"""Unchanged perf works in a guest on the reference driver when that stands in for the CPU's PMU."""

from __future__ import annotations

import pathlib
from collections import Counter
from collections.abc import Iterator

import pytest

from pmuvm import accel, guest, image, kernel, module, qemu, store, suite

pytestmark = pytest.mark.guest

WORK = ["dd", "if=/dev/zero", "of=/dev/null", "bs=64k", "count=400"]
PERIOD = 1_000_000


@pytest.fixture(scope="module", params=kernel.known())
def vm(request: pytest.FixtureRequest) -> Iterator[guest.Guest]:
    """A guest whose `cpu` PMU is the reference driver, with the host's perf in it."""
    stock = kernel.find(request.param)
    packed = image.build(
        image.Contents(
            agent=suite.binary(),
            target=suite.find_target("refpmu").path,
            modules=(module.build(stock, store.ROOT / "driver", module.default_out(stock)),),
            files=image.with_program("perf"),
        )
    )
    with guest.Guest(
        qemu.Machine(stock.arch, stock.image, packed, accel=accel.choose(stock))
    ) as running:
        running.boot()
        running.load("refpmu.ko", ["cpu=1"])
        yield running
        assert running.unload("refpmu")["ok"] is True
        assert running.kmsg()["reports"] == []
        running.bye()


def perf(vm: guest.Guest, *words: str) -> guest.Done:
    done = vm.exec(["perf", *words], deadline_s=120)
    assert done.status == 0, done.stderr
    return done


def stat(
    vm: guest.Guest, events: list[str], work: list[str] | None = None
) -> list[tuple[str, int, float]]:
    """Event, count and per cent of its time that it ran, from the fields that -x separates."""
    done = perf(vm, "stat", "-x,", "-e", ",".join(events), "--", *(work or WORK))
    rows = [line.split(",") for line in done.stderr.splitlines() if line.count(",") >= 4]
    return [(row[2], int(row[0]), float(row[4])) for row in rows]


def test_the_driver_is_the_cpus_pmu(vm: guest.Guest) -> None:
    done = vm.exec(["cat", "/sys/bus/event_source/devices/cpu/type"])
    assert (done.status, done.stdout.strip()) == (0, "4")


def test_perf_stat_counts_with_the_ratios_of_the_model(vm: guest.Guest) -> None:
    rows = stat(vm, ["cycles", "instructions", "ref-cycles"])
    names = [name.split(":")[0] for name, _, _ in rows]
    assert names == ["cycles", "instructions", "ref-cycles"]
    cycles, instructions, references = (count for _, count, _ in rows)
    assert cycles > PERIOD
    # Each counter starts and stops on its own: a few of the model's ticks apart.
    assert instructions == pytest.approx(cycles / 2, rel=0.01)
    assert references == pytest.approx(cycles / 4, rel=0.01)
    assert [ran for _, _, ran in rows] == [100.0] * 3


def test_perf_stat_takes_turns_when_there_are_more_events_than_counters(vm: guest.Guest) -> None:
    # Work that lasts for many turns of one millisecond, however fast the host is.
    interval = "/sys/bus/event_source/devices/cpu/perf_event_mux_interval_ms"
    assert vm.exec(["sh", "-c", f"echo 1 >{interval}"]).status == 0
    rows = stat(vm, ["cycles"] * 9, [*WORK[:-1], "count=20000"])
    assert len(rows) == 9
    assert all(count > 0 for _, count, _ in rows)
    assert any(ran < 100.0 for _, _, ran in rows)


def test_perf_record_writes_a_sample_a_period(vm: guest.Guest) -> None:
    data = "/tmp/fixed.data"
    perf(vm, "record", "-e", "cycles", "-c", str(PERIOD), "-o", data, "--", *WORK)
    done = perf(vm, "script", "-i", data, "-F", "event,period")
    samples = Counter(tuple(line.replace(":", " ").split()) for line in done.stdout.splitlines())
    assert list(samples) == [(str(PERIOD), "cycles")]
    assert samples.total() > 1


def test_perf_record_follows_a_frequency(vm: guest.Guest) -> None:
    data = "/tmp/frequency.data"
    perf(vm, "record", "-e", "cycles", "-F", "999", "-o", data, "--", *WORK)
    done = perf(vm, "script", "-i", data, "-F", "period")
    periods = [int(line) for line in done.stdout.split()]
    assert len(periods) > 1
    assert len(set(periods)) > 1
    assert all(period > 0 for period in periods)
