# SPDX-License-Identifier: Apache-2.0
"""`profile` for five minutes on four busy CPUs: how much memory it keeps, and that nothing is lost.

On arm64, where four CPUs can have a time that is what they execute: the guest takes each of its
samples, however busy its host is.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib

import pytest

from meter import METER, Metered
from pmuvm import arch, guest, kernel, runs, suite
from spinners import FOR_ROUNDS, compiled

pytestmark = [
    pytest.mark.guest,
    pytest.mark.nightly,
    pytest.mark.xdist_group("profile-memory"),
    pytest.mark.timeout(3600),
]

CPUS, SECONDS, HZ = 4, 300, 999
AT_MOST_KB = 64 << 10
INSTRUCTION = 2
"""Of 4 ns: 250 million a second, which the CPUs share."""
EXEC_S = 3000

WORK = """
while :; do find /proc /sys -name none; done >/dev/null 2>&1 &
while :; do rounds 1; done &
while :; do dd if=/dev/zero of=/dev/null bs=64k count=100 2>/dev/null | wc -c >/dev/null; done &
rounds 1000000000 &
"""
"""Processes that come and go, ask much of the kernel, or go on: one for each CPU, and more."""


def test_five_minutes_at_999_hz_lose_nothing_and_take_little_memory(
    tmp_path: pathlib.Path,
) -> None:
    of = arch.ARM64
    target = dataclasses.replace(suite.find_target("software"), cpus=CPUS, icount=INSTRUCTION)
    files = {
        "bin/profile": suite.tool("profile/profile", of),
        "bin/rounds": compiled(tmp_path, "rounds", FOR_ROUNDS, "-O0", of=of),
        "bin/meter": compiled(tmp_path, "meter", METER, "-O2", of=of),
    }
    machine = runs.machine(kernel.find("6.12", of), target, files=files)
    with guest.Guest(machine) as vm:
        vm.boot()
        options = f"-e cpu-clock -F {HZ} -a -d {SECONDS} -o /tmp/out.json"
        done = vm.exec(["sh", "-c", f"{WORK} meter profile {options}"], EXEC_S)
        assert done.status == 0, done.stderr
        fields = "event lost records_lost samples throttled"
        kept = vm.exec(["grep", "-oE", f'"({fields.replace(" ", "|")})": *[0-9]+', "/tmp/out.json"])
        found = json.loads("{" + ",".join(kept.stdout.splitlines()) + "}")
        vm.bye()
    taken = Metered.of(done.stdout)
    print(f"{taken.resident_kb} KB resident, {found['samples']} samples")
    assert (found["lost"], found["records_lost"], found["throttled"]) == (0, 0, 0)
    assert found["samples"] == pytest.approx(CPUS * SECONDS * HZ, rel=0.01)
    assert taken.resident_kb <= AT_MOST_KB
