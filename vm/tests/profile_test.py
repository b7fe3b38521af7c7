# SPDX-License-Identifier: Apache-2.0
"""`profile` tells where a guest spends its time: on the reference driver and on cpu-clock.

How often functions are seen is compared with how much each did. They are the same loop, and count
their turns: what happens to the machine meanwhile happens to each in proportion. So the samples of
one of n are binomial; five of its deviations miss the truth once in 1.7 million.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
import pathlib
import subprocess
import xml.etree.ElementTree
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from pmuvm import guest, kernel, runs, suite

pytestmark = pytest.mark.guest

EVENTS = ("refpmu/cycles/", "cpu-clock")
PERIOD_NS = 1_000_000
"""Of both events: a cycle of the model takes a nanosecond."""
SHARES = {"spin_half": 0.5, "spin_third": 0.3, "spin_rest": 0.2}
DEPTH = ["main", "outer", "middle"]
SIGMAS = 5.0

SPINNER = """
__attribute__((noinline, aligned(64))) void {name}(unsigned long turns)
{{ for (unsigned long i = 0; i < turns; ++i) sink += i; }}
"""
WORK = (
    """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
"""
    + "".join(SPINNER.format(name=name) for name in SHARES)
    + """
__attribute__((noinline)) void middle(unsigned long n)
{ spin_half(50 * n); spin_third(30 * n); spin_rest(20 * n); sink++; }
__attribute__((noinline)) void outer(unsigned long n) { middle(n); sink++; }
int main(int argc, char **argv)
{
  unsigned long seed = 1;
  double end = atof(argv[argc - 1]);
  struct timespec t;
  do {
    /* No two rounds are as long: samples must not keep step with them. */
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    outer(20 + (seed >> 57));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  } while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < end);
  return 0;
}
"""
)
"""Works for so many seconds of its CPU time."""


def compiled(folder: pathlib.Path, name: str, text: str, *flags: str) -> pathlib.Path:
    program = folder / name
    argv = ["gcc", "-static", "-fno-omit-frame-pointer", *flags, "-x", "c", "-", "-o", str(program)]
    subprocess.run(argv, input=text, text=True, check=True, timeout=60)
    return program


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(f"profile-{name}"))
        for name in kernel.known()
    ],
)
def vm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[guest.Guest]:
    """A guest with the driver, `profile`, and work of known shares."""
    folder = tmp_path_factory.mktemp("profile")
    files = {
        "bin/profile": suite.tool("profile/profile"),
        "bin/shares": compiled(folder, "shares", WORK, "-O0"),
    }
    found = kernel.find(request.param)
    machine = runs.machine(found, suite.find_target("refpmu"), files=files)
    with guest.Guest(machine) as running:
        running.boot()
        running.load("refpmu.ko")
        yield running
        assert running.unload("refpmu")["ok"] is True
        assert running.kmsg()["reports"] == []
        running.bye()


def profile(vm: guest.Guest, *words: str) -> guest.Done:
    done = vm.exec(["profile", *words], deadline_s=120)
    assert done.status == 0, done.stderr
    return done


def written(vm: guest.Guest, file: str) -> bytes:
    """A file of the guest."""
    done = vm.exec(["sh", "-c", f"gzip -c {file} | base64"])
    assert done.status == 0, done.stderr
    return gzip.decompress(base64.b64decode(done.stdout))


def sampled(vm: guest.Guest, *words: str) -> dict[str, Any]:
    """What profile finds, as JSON."""
    profile(vm, "-o", "/tmp/out.json", *words)
    found = json.loads(written(vm, "/tmp/out.json"))
    assert isinstance(found, dict)
    return found


def stacks(found: dict[str, Any]) -> Iterator[tuple[list[str], int]]:
    """Each stack's names, the outermost first, and its samples."""
    names = [frame["name"] for frame in found["frames"]]
    for stack in found["stacks"]:
        yield [names[frame] for frame in stack["frames"]], stack["samples"]


@pytest.mark.parametrize("event", EVENTS)
def test_shares_are_those_of_the_work(vm: guest.Guest, event: str) -> None:
    options = ("-e", event, "-c", str(PERIOD_NS), "--user-only")
    found = sampled(vm, *options, "--", "shares", "4")
    seen: Counter[str] = Counter()
    for names, samples in stacks(found):
        if names[-1] in SHARES:
            assert names[-4:-1] == DEPTH
            seen[names[-1]] += samples
    n = seen.total()
    # The rest is the start of the program, and what counts its time.
    assert n > 0.9 * found["samples"]
    # A guest that waits for its host has time pass without samples.
    assert n > 200
    for name, share in SHARES.items():
        bound = SIGMAS * math.sqrt(share * (1 - share) / n)
        assert seen[name] / n == pytest.approx(share, abs=bound), (seen, n)
    assert found["lost"] == 0


@pytest.mark.parametrize("event", EVENTS)
def test_a_flame_graph_names_functions_of_the_kernel_and_of_programs(
    vm: guest.Guest, event: str
) -> None:
    load = "dd if=/dev/zero of=/dev/null bs=1M & shares 60 & "
    script = f"{load} profile -e {event} -F 99 -a -d 5 -o /tmp/out.svg; kill $!; kill %1"
    done = vm.exec(["sh", "-c", script], deadline_s=120)
    assert "profile: " in done.stderr, done.stderr
    svg = xml.etree.ElementTree.fromstring(written(vm, "/tmp/out.svg"))
    frames = [frame.get("data-name") or "" for frame in svg.iter() if frame.get("class") == "f"]
    assert {"all", "shares", "dd", "main", "spin_half"} <= set(frames)
    in_kernel = [name for name in frames if name.endswith("_[k]")]
    assert any(name.startswith("read_zero") or "clear_user" in name for name in in_kernel)
    assert not [name for name in frames if name.startswith("[unknown] [kernel]")]
    assert " 0 lost" in done.stderr
