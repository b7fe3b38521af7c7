# SPDX-License-Identifier: Apache-2.0
"""`pmuconf watch` reports only the breaches of docs/findings.md for the kernel's own drivers, while the suite runs.

Some of their kernels have no BTF. They use a file of types, generated as docs/watch.md describes.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from vm import arch, guest, kernel, runs, suite
from vm.testing import btf

pytestmark = [pytest.mark.guest, pytest.mark.nightly, pytest.mark.timeout(3600)]


class Driver(NamedTuple):
    """A driver of the kernel, its guest, and the module that its target needs."""

    target: str
    kernel: str
    arch: arch.Arch = arch.AMD64
    module: str = ""


DRIVERS = (
    Driver("intel", "6.1-msr"),
    Driver("intel", "6.12-msr"),
    Driver("amd", "6.12-msr"),
    Driver("armv8_pmuv3", "6.1", arch.ARM64, "refpmu_swinc.ko"),
    Driver("armv8_pmuv3", "6.12", arch.ARM64, "refpmu_swinc.ko"),
)
BREACHES = {
    ("armv8_pmuv3", "THR-*"): {"started-twice"},
    ("amd", "SMP-*"): {"last-period"},
}
"""The breaches of a target's driver under the cases of some rules. docs/findings.md describes each."""
WARNS = {"amd": "amd_pmu_v2_handle_irq"}
"""A warning of the kernel during the run, which is a finding as well."""
RULES = ("CNT-*", "SMP-*", "THR-*", "MUX-*", "GRP-*")
EXEC_S = 1500


class Guest(NamedTuple):
    """A guest with a driver of the kernel, and the option that names the types of that kernel."""

    vm: guest.Guest
    driver: Driver
    pmu: str
    types: list[str]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(driver, id=name, marks=pytest.mark.xdist_group(f"watch-{name}"))
        for driver in DRIVERS
        for name in [f"{driver.target}-{driver.kernel}-{driver.arch.name}"]
    ],
)
def watched(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Guest]:
    driver: Driver = request.param
    found = kernel.find(driver.kernel, driver.arch)
    types = btf.of(found, tmp_path_factory.mktemp("types") / "types")
    other = kernel.find("6.1" if driver.kernel.startswith("6.12") else "6.12", driver.arch)
    wrong = btf.of(other, tmp_path_factory.mktemp("wrong") / "types")
    machine = runs.machine(
        found, suite.find_target(driver.target), files={"types.btf": types, "wrong.btf": wrong}
    )
    with guest.Guest(machine) as running:
        running.boot()
        if driver.module:
            running.load(driver.module)
        script = "cd /sys/bus/event_source/devices && ls -d cpu armv8_pmuv3* 2>/dev/null"
        pmu = running.exec(["sh", "-c", script]).stdout.split()[0]
        own = running.exec(["test", "-e", "/sys/kernel/btf/vmlinux"]).status == 0
        yield Guest(running, driver, pmu, [] if own else ["--btf", "/types.btf"])
        known = WARNS.get(driver.target)
        reports = running.kmsg()["reports"]
        assert [report for report in reports if known is None or known not in report] == []
        running.bye()


@pytest.mark.parametrize("rule", RULES)
def test_suite_causes_only_the_documented_breaches(watched: Guest, rule: str) -> None:
    vm, driver, pmu, types = watched
    work = ["pmuconf", "run", "--target", driver.target, f"--rule={rule}"]
    options = ["--pmu", pmu, "--json", "/tmp/watch.json", *types]
    done = vm.exec(["pmuconf", "watch", *options, "--", *work], EXEC_S)
    figures: dict[str, Any] = json.loads(vm.exec(["cat", "/tmp/watch.json"]).stdout)
    known = BREACHES.get((driver.target, rule), set())
    assert {breach["name"] for breach in figures["breaches"]} == known, done.stdout
    assert done.status == (1 if known else 0), done.stdout + done.stderr
    without_data = driver.arch is arch.ARM64 and driver.kernel == "6.1"
    assert bool(figures["unjudged"]) == without_data, figures["unjudged"]
    calls = {row["name"]: row["calls"] for row in figures["calls"]}
    # Some adds did not get a counter.
    assert calls["add"] >= calls["del"] >= 10


def test_types_from_a_file_work_like_those_of_the_kernel(watched: Guest) -> None:
    work = ["pmuconf", "run", "--target", watched.driver.target, "--rule=CNT-001"]
    options = ["--pmu", watched.pmu, "--btf", "/types.btf"]
    done = watched.vm.exec(["pmuconf", "watch", *options, "--", *work], EXEC_S)
    assert done.status == 0, done.stdout + done.stderr
    assert "no breach of the driver contract was seen\n" in done.stdout


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("/wrong.btf", "--btf /wrong.btf: not the types of this kernel"),
        ("/none.btf", "--btf /none.btf: No such file or directory"),
        ("/init", "--btf /init: the file has no BTF"),
    ],
)
def test_types_of_another_kernel_are_refused(watched: Guest, file: str, said: str) -> None:
    done = watched.vm.exec(["pmuconf", "watch", "--pmu", watched.pmu, "--btf", file])
    assert (done.status, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr
