# SPDX-License-Identifier: Apache-2.0
"""`profile` shows where a guest spends its time, with events of the reference driver and with cpu-clock.

The test compares samples of functions with the work that each did. The functions run the same loop and count their
iterations, so disturbances affect each in proportion. The samples of one function are thus binomially distributed. A
deviation of five sigma occurs once in 1.7 million runs.
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

from vm import guest, kernel, runs, suite
from vm.testing import nightly_params
from vm.testing.workloads import DEPTH, FOR_ROUNDS, SHARES, compile_program

pytestmark = pytest.mark.guest

EVENTS = ("refpmu/cycles/", "cpu-clock")
MISSING = "node-prefetch-misses"
PERIOD_NS = 1_000_000
"""Period of both events: a cycle of the model takes one nanosecond."""
SIGMAS = 5.0

INLINED = """
#include <stdlib.h>
#define INTO static inline __attribute__((always_inline))
static volatile unsigned long sink;
INTO void deepest(void) { for (int i = 0; i < 5000; ++i) sink += i; }
INTO void between(void) { deepest(); }
INTO void first(void) { between(); }
__attribute__((noinline)) void around(void) { first(); sink++; }
int main(int argc, char **argv)
{
  for (long left = atol(argv[argc - 1]); left > 0; --left) around();
  return 0;
}
"""
INLINES = ["around", "first", "between", "deepest"]

MADE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile unsigned long sink;
static __attribute__((noinline)) void copied(volatile unsigned long *at)
{ for (int i = 0; i < 5000; ++i) *at += i; }
int main(int argc, char **argv)
{
  char name[64];
  int rights = PROT_READ | PROT_WRITE | PROT_EXEC;
  char *code = mmap(0, 4096, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(code + 512, (char *)copied, 256);
  snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
  FILE *map = fopen(name, "w");
  fprintf(map, "%lx 100 before\\n%lx 100 made to measure\\n", (long)code, (long)code + 512);
  fclose(map);
  for (long left = atol(argv[argc - 1]); left > 0; --left)
    ((void (*)(volatile unsigned long *))(code + 512))(&sink);
  return 0;
}
"""
"""Runs generated code, and writes its name to the file that perf reads."""


@pytest.fixture(
    scope="module",
    params=nightly_params.stock_kernels("profile"),
)
def vm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[guest.Guest]:
    """A guest with the driver, `profile`, and a workload of known shares."""
    folder = tmp_path_factory.mktemp("profile")
    inlined = compile_program(folder, "inlined", INLINED, "-O2", "-g")
    # clang writes DWARF units that are not sorted by address.
    unlisted = folder / "unlisted"
    argv = ["objcopy", "--remove-section=.debug_aranges", str(inlined), str(unlisted)]
    subprocess.run(argv, check=True, timeout=60)
    files = {
        "bin/profile": suite.tool("tools/profile/profile"),
        "bin/shares": compile_program(folder, "shares", FOR_ROUNDS, "-O0"),
        "bin/nameless": compile_program(folder, "nameless", FOR_ROUNDS, "-O0", "-s"),
        "bin/inlined": inlined,
        "bin/unlisted": unlisted,
        "bin/made": compile_program(folder, "made", MADE, "-O1"),
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
    """Reads a file of the guest."""
    done = vm.exec(["sh", "-c", f"gzip -c {file} | base64"])
    assert done.status == 0, done.stderr
    return gzip.decompress(base64.b64decode(done.stdout))


def sampled(vm: guest.Guest, *words: str) -> dict[str, Any]:
    """The result of profile as JSON."""
    profile(vm, "-o", "/tmp/out.json", *words)
    found = json.loads(written(vm, "/tmp/out.json"))
    assert isinstance(found, dict)
    return found


def stacks(found: dict[str, Any]) -> Iterator[tuple[list[str], int]]:
    """The names of each stack, the outermost first, and its samples."""
    names = [frame["name"] for frame in found["frames"]]
    for stack in found["stacks"]:
        yield [names[frame] for frame in stack["frames"]], stack["samples"]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=pytest.mark.xdist_group(f"profile-{name}"))
        for name in ("6.1-msr", "6.12-msr")
    ],
)
def intel(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[guest.Guest]:
    """A guest with the kernel's own driver on modelled registers, `profile`, and a workload."""
    folder = tmp_path_factory.mktemp("intel")
    files = {
        "bin/profile": suite.tool("tools/profile/profile"),
        "bin/shares": compile_program(folder, "shares", FOR_ROUNDS, "-O0"),
    }
    machine = runs.machine(kernel.find(request.param), suite.find_target("intel"), files=files)
    with guest.Guest(machine) as running:
        running.boot()
        yield running
        assert running.kmsg()["reports"] == []
        running.bye()


@pytest.mark.parametrize("event", nightly_params.choose(EVENTS, EVENTS[0]))
def test_sample_shares_equal_work_shares(vm: guest.Guest, event: str) -> None:
    assert_known_shares(vm, event)


@pytest.mark.nightly
@pytest.mark.parametrize("event", ["cpu/cpu-cycles/", "cpu-cycles"])
def test_sample_shares_equal_work_shares_with_nmis(intel: guest.Guest, event: str) -> None:
    assert_known_shares(intel, event)


def assert_known_shares(vm: guest.Guest, event: str) -> None:
    """Checks that the profile of a workload has the known shares within the bound, and the callers of all samples."""
    options = ("-e", event, "-c", str(PERIOD_NS), "--user-only")
    found = sampled(vm, *options, "--", "shares", "20000")
    seen: Counter[str] = Counter()
    deep = 0
    for names, samples in stacks(found):
        if names[-1] in SHARES:
            seen[names[-1]] += samples
            deep += samples if names[-1 - len(DEPTH) : -1] == DEPTH else 0
    n = seen.total()
    # At the begin and end of a function its frame is missing, so its caller is unknown. That is less than one in a
    # thousand instructions.
    assert deep >= 0.98 * n
    # The rest is the program's start and the code that measures its time.
    assert n > 0.9 * found["samples"]
    # While a guest waits for its host, time passes without samples.
    assert n > 200
    for name, share in SHARES.items():
        bound = SIGMAS * math.sqrt(share * (1 - share) / n)
        assert seen[name] / n == pytest.approx(share, abs=bound), (seen, n)
    assert found["lost"] == 0


@pytest.mark.parametrize("event", nightly_params.choose(EVENTS, EVENTS[1]))
def test_a_flame_graph_names_functions_of_the_kernel_and_of_programs(
    vm: guest.Guest, event: str
) -> None:
    load = "dd if=/dev/zero of=/dev/null bs=1M & shares 100000000 & "
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


CLICK_AND_SEARCH = """
document.querySelector('[data-name="spin_third"]').dispatchEvent(new MouseEvent("click"));
document.documentElement.setAttribute("data-share", search("^spin_(half|third)$"));
"""


def browsed(svg: bytes, script: str, folder: pathlib.Path) -> xml.etree.ElementTree.Element:
    """The picture in a browser after `script` ran in it."""
    page = folder / "out.svg"
    page.write_bytes(svg.replace(b"</svg>", f"<script>{script}</script></svg>".encode()))
    argv = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    argv += [f"--user-data-dir={folder / 'browser'}", page.as_uri()]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=200)
    return xml.etree.ElementTree.fromstring(done.stdout)


def test_a_browser_zooms_and_searches_the_flame_graph(
    vm: guest.Guest, tmp_path: pathlib.Path
) -> None:
    options = ("-e", "cpu-clock", "-c", str(PERIOD_NS), "--user-only", "-o", "/tmp/out.svg")
    profile(vm, *options, "--", "shares", "3000")
    svg = browsed(written(vm, "/tmp/out.svg"), CLICK_AND_SEARCH, tmp_path)
    boxes = [box for box in svg.iter() if box.get("data-name")]
    # A function with some samples without a caller has two boxes. The test clicked the first one.
    clicked = next(box for box in boxes if box.get("data-name") == "spin_third")
    assert float(clicked[1].get("width") or 0) == pytest.approx(1180), "as wide as the picture"
    assert clicked[2].text == "spin_third"
    others = [box for box in boxes if box.get("data-name") == "spin_half"]
    assert others and all("display: none" in (box.get("style") or "") for box in others)
    wanted = [box for box in boxes if box.get("data-name") in ("spin_half", "spin_third")]
    hit = [box for box in boxes if "hit" in (box.get("class") or "").split()]
    assert hit == wanted
    share = sum(float(box.get("data-w") or 0) for box in wanted)
    assert float(svg.get("data-share") or 0) == pytest.approx(share, abs=1e-5)
    assert any(text.text == f"matched: {100 * share:.2f}%" for text in svg.iter())


def innermost(found: dict[str, Any], command: str) -> Counter[str]:
    """The innermost names in the stacks of a command, with their samples."""
    names: Counter[str] = Counter()
    for stack, samples in stacks(found):
        if stack[0] == command:
            names[stack[-1]] += samples
    return names


def mostly_spins(found: dict[str, Any], command: str) -> bool:
    names = innermost(found, command)
    return names.total() > 20 and sum(names[name] for name in SHARES) > 0.9 * names.total()


APART = (
    "mkdir -p /tmp/apart && exec unshare -m sh -c 'mount -t tmpfs none /tmp/apart &&"
    " cp /bin/shares /tmp/apart/hidden && /tmp/apart/hidden 5000'"
)
"""A program in a mount namespace that ends with it."""
GONE = (
    "cp /bin/shares /tmp/gone; /tmp/gone 5000 & p=$!;"
    " until grep -q gone /proc/$p/maps; do :; done; rm /tmp/gone; wait $p"
)
"""A program whose file is deleted while it runs."""


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("shares", "for i in 1 2 3 4; do shares 1500; done; true"),
        ("gone", GONE),
        ("hidden", APART),
    ],
)
def test_ended_process_has_symbol_names(vm: guest.Guest, command: str, script: str) -> None:
    options = ("-e", "cpu-clock", "-c", str(PERIOD_NS), "--user-only")
    found = sampled(vm, *options, "--", "sh", "-c", script)
    assert mostly_spins(found, command), found


def test_code_without_symbols_is_shown_by_module_and_offset(vm: guest.Guest) -> None:
    options = ("-e", "cpu-clock", "-c", str(PERIOD_NS), "--user-only")
    found = sampled(vm, *options, "--", "nameless", "5000")
    # The kernel's page in each process (vdso) only has names of exported functions.
    frames = [frame for frame in found["frames"] if frame["module"] == "/bin/nameless"]
    assert {frame["name"] for frame in frames} == {"[unknown]"}
    assert all(frame["offset"] > 0 for frame in frames)
    ids = {module["path"]: module["build_id"] for module in found["modules"]}
    assert len(ids["/bin/nameless"]) == 40


@pytest.mark.parametrize("program", ["inlined", "unlisted"])
def test_inlined_functions_are_in_call_order(vm: guest.Guest, program: str) -> None:
    options = ("-e", "cpu-clock", "-c", str(PERIOD_NS), "--user-only")
    found = sampled(vm, *options, "--", program, "40000")
    kinds = {frame["name"]: frame["kind"] for frame in found["frames"]}
    assert [kinds[name] for name in INLINES] == ["user", "inlined", "inlined", "inlined"]
    seen = {tuple(names[-4:]): samples for names, samples in stacks(found) if "deepest" in names}
    assert set(seen) == {tuple(INLINES)}
    assert sum(seen.values()) > 0.9 * found["samples"] > 0


def test_no_inlines_omits_inlined_functions(vm: guest.Guest) -> None:
    options = ("-e", "cpu-clock", "-c", str(PERIOD_NS), "--user-only", "--no-inlines")
    found = sampled(vm, *options, "--", "inlined", "40000")
    assert innermost(found, "inlined")["around"] > 0.9 * found["samples"] > 0


@pytest.mark.parametrize("around", [[], ["unshare", "-p", "-f"]])
def test_generated_code_has_the_names_of_its_map(vm: guest.Guest, around: list[str]) -> None:
    options = ("-e", "cpu-clock", "-c", str(PERIOD_NS), "--user-only")
    found = sampled(vm, *options, "--", *around, "made", "40000")
    names = innermost(found, "made")
    assert names["made to measure"] > 0.9 * names.total() > 20
    assert names["before"] == 0


def test_a_cpu_that_comes_online_is_sampled(vm: guest.Guest) -> None:
    online = "/sys/devices/system/cpu/cpu1/online"
    # Each link to the program runs on one CPU.
    script = f"""
on() {{ until [ "$(ls -l /proc/$p/fd 2>/dev/null | grep -c bpf_link)" = $1 ]; do :; done; }}
echo 0 >{online}
profile -e cpu-clock -c {PERIOD_NS} -a --user-only -o /tmp/out.json & p=$!
on 1
echo 1 >{online}
on 2
cp /bin/shares /tmp/newcomer
taskset 2 /tmp/newcomer 5000
echo 0 >{online}
shares 1500
echo 1 >{online}
kill -INT $p
wait $p
"""
    done = vm.exec(["sh", "-c", script], deadline_s=120)
    assert done.status == 0, done.stderr
    found = json.loads(written(vm, "/tmp/out.json"))
    assert found["cpus"] == [0, 1]
    assert mostly_spins(found, "newcomer")
    assert innermost(found, "shares").total() > 0


@pytest.fixture
def low_limit(vm: guest.Guest) -> Iterator[None]:
    """The kernel permits at most a thousand samples per second, which is four in a tick."""
    names = ("perf_cpu_time_max_percent", "perf_event_max_sample_rate")
    before = vm.exec(["sh", "-c", f"cd /proc/sys/kernel && cat {' '.join(names)}"]).stdout.split()
    # With the percentage 0 or 100 the kernel does not enforce the limit.
    for name, value in zip(names, ("50", "1000")):
        assert vm.exec(["sh", "-c", f"echo {value} >/proc/sys/kernel/{name}"]).status == 0
    yield
    vm.exec(["sh", "-c", f"echo {before[1]} >/proc/sys/kernel/{names[1]}"])
    vm.exec(["sh", "-c", f"echo {before[0]} >/proc/sys/kernel/{names[0]}"])


@pytest.mark.usefixtures("low_limit")
def test_throttling_is_counted(vm: guest.Guest) -> None:
    often = sampled(vm, "-e", EVENTS[0], "-c", "20000", "--", "shares", "5000")
    assert often["throttled"] > 0
    seldom = sampled(vm, "-e", EVENTS[0], "-c", "50000000", "--", "shares", "1000")
    assert seldom["throttled"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-e", MISSING), f"event '{MISSING}' is not supported on this machine"),
        (("-e", "refpmu/nosuch/"), "a term is unknown to refpmu"),
        (("-e", "cpu-clock", "-F", "999999"), "-F 999999 may be above"),
        (("-e", "cpu-clock", "-C", "77"), "no CPU of -C that has the PMU is online"),
        (("-p", "99999"), "-p 99999: there is no such process"),
    ],
)
def test_impossible_sampling_is_a_one_line_error(
    vm: guest.Guest, words: tuple[str, ...], said: str
) -> None:
    done = vm.exec(["profile", "-d", "1", *words])
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_missing_privilege_is_reported(vm: guest.Guest) -> None:
    done = vm.exec(["unshare", "-U", "profile", "-e", "cpu-clock", "-d", "1"])
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "run it as root, or with CAP_BPF and CAP_PERFMON" in done.stderr


def test_missing_event_is_replaced_on_request(vm: guest.Guest) -> None:
    done = profile(vm, "-e", MISSING, "--fallback", "--", "shares", "3000")
    assert "sampling cpu-clock instead" in done.stderr
    assert "spin_half  shares" in done.stdout
