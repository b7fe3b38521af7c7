# SPDX-License-Identifier: Apache-2.0
"""`profile` runs for five minutes on four busy CPUs, with bounded memory and without lost samples.

It runs on arm64, where four CPUs can have a clock that counts instructions, so a timer's delay does not depend on the
host. These CPUs are slow, and cpu-clock's timer skips periods when it is a whole period late. So the kernel counts the
expiries of the timer, and each of them must be a sample.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re

import pytest

from vm import arch, guest, kernel, runs, suite
from vm.testing.resource_usage import USAGE_PROGRAM, ResourceUsage
from vm.testing.workloads import FOR_ROUNDS, compile_program

pytestmark = [
    pytest.mark.guest,
    pytest.mark.nightly,
    pytest.mark.xdist_group("profile-memory"),
    pytest.mark.timeout(3600),
]

CPUS, SECONDS, HZ = 4, 300, 999
AT_MOST_KB = 64 << 10
INSTRUCTION = 2
"""Instructions take 4 ns: 250 million per second, which the CPUs share."""
EXEC_S = 3300
AT_LEAST = 0.9
"""Minimum fraction of the expiries on CPUs that are never late."""
AT_THE_ENDS = 2
"""Expiries on a CPU while its event starts or ends."""
TIMER = "perf_swevent_hrtimer"
TRACING = "/sys/kernel/tracing"
EXPIRED = f"{TRACING}/events/timer/hrtimer_expire_entry"
FIELDS = ("lost", "records_lost", "samples", "throttled")

WORK = """
while :; do find /proc /sys -name none; done >/dev/null 2>&1 &
while :; do rounds 1; done &
while :; do dd if=/dev/zero of=/dev/null bs=64k count=100 2>/dev/null | wc -c >/dev/null; done &
rounds 1000000000 &
"""
"""Short processes, system calls and endless loops: more processes than CPUs."""


def test_five_minutes_at_999_hz_lose_no_sample_and_use_little_memory(
    tmp_path: pathlib.Path,
) -> None:
    of = arch.ARM64
    target = suite.find_target("software").on(cpus=CPUS, icount=INSTRUCTION)
    files = {
        "bin/profile": suite.tool("tools/profile/profile", of),
        "bin/rounds": compile_program(tmp_path, "rounds", FOR_ROUNDS, "-O0", of=of),
        "bin/meter": compile_program(tmp_path, "meter", USAGE_PROGRAM, "-O2", of=of),
    }
    machine = runs.machine(kernel.find("6.12", of), target, files=files)
    with guest.Guest(machine) as vm:
        vm.boot()
        count = f"grep -q {TRACING} /proc/mounts || mount -t tracefs tracefs {TRACING}"
        count += f" && echo hist:keys=function.sym > {EXPIRED}/trigger"
        done = vm.exec(["sh", "-c", count])
        assert done.status == 0, done.stderr
        options = f"-e cpu-clock -F {HZ} -a -d {SECONDS} -o /tmp/out.json"
        done = vm.exec(["sh", "-c", f"{WORK} meter profile {options}"], EXEC_S)
        assert done.status == 0, done.stderr
        taken = ResourceUsage.parse(done.stdout)
        print(f"{taken} {done.stderr}")
        pattern = f'"({"|".join(FIELDS)})": *[0-9]+'
        # The totals come first, then the values of each stack.
        script = f"grep -oE '{pattern}' /tmp/out.json | head -n {len(FIELDS)}"
        said = vm.exec(["sh", "-c", script], EXEC_S).stdout
        times = vm.exec(["grep", TIMER, f"{EXPIRED}/hist"]).stdout
        vm.bye()
    found = {name: int(n) for name, n in re.findall(r'"(\w+)": *(\d+)', said)}
    assert sorted(found) == sorted(FIELDS), said
    expired = re.search(r"hitcount: *(\d+)", times)
    assert expired, times
    went_off = int(expired.group(1))
    print(f"{taken.resident_kb} KB resident, {found['samples']} samples of {went_off}")
    assert (found["lost"], found["records_lost"], found["throttled"]) == (0, 0, 0)
    assert went_off >= AT_LEAST * CPUS * SECONDS * HZ
    assert went_off - AT_THE_ENDS * CPUS <= found["samples"] <= went_off
    assert taken.resident_kb <= AT_MOST_KB
