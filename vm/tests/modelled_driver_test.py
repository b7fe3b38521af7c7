# SPDX-License-Identifier: Apache-2.0
"""A guest has the device of a target, its unmodified driver finds it, and the suite generates events through its page."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from vm import driver, kernel, runs, session, suite
from vm.channel import Message

KERNEL = "6.12"
CASE = "Stimulus.CountEqualsStimulus"


@pytest.mark.guest
@pytest.mark.parametrize("name", ["ali_drw", "amd_l3", "cstate_pkg", "hns3", "snb_imc"])
def test_driver_counts_the_events_of_the_page(name: str) -> None:
    target = suite.find_target(name)
    found = kernel.find(KERNEL)
    messages: list[Message] = []
    with session.Session(runs.plan(target, found, None), None, messages.append) as guests:
        for case in suite.cases(target, suite.Selection(case=CASE)):
            result = guests.run(case)
            assert result["result"] == "PASS", result["message"]
        guests.finish()
    assert [m["reports"] for m in messages if m["t"] == "kmsg"] == [[]]


@pytest.mark.guest
def test_device_with_a_pending_interrupt_does_not_spoil_the_next_case() -> None:
    target = suite.find_target("starlink")
    messages: list[Message] = []
    plan = runs.plan(target, kernel.find(KERNEL), None)
    with session.Session(plan, None, messages.append) as guests:
        for name in ("Uncore.ManyWrapsAreCounted", CASE):
            (case,) = suite.cases(target, suite.Selection(case=name))
            guests.run(case)
    results = [m for m in messages if m["t"] == "result"]
    assert [m["result"] for m in results] == ["FAIL", "PASS"]
    assert results[0]["stuck"] and guests.boots == 2


def test_the_built_source_is_that_of_the_kernel() -> None:
    name = "drivers/perf/alibaba_uncore_drw_pmu.c"
    found = kernel.find(KERNEL)
    (module,) = driver.modules([name], found)
    info = subprocess.run(["readelf", "-p", ".modinfo", module], capture_output=True, text=True)
    assert "name=alibaba_uncore_drw_pmu" in info.stdout
    assert f"vermagic={found.release} " in info.stdout


def test_wrong_address_of_a_page_is_named(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "mine.toml"
    text = pathlib.Path(suite.TARGETS / "ali_drw.toml").read_text("utf-8")
    path.write_text(text.replace("page:0xfed81000", "page:4275"), encoding="utf-8")
    words = [str(suite.binary()), "target", "--json", "--target", str(path)]
    done = subprocess.run(words, capture_output=True, text=True)
    wanted = "key 'target.port' must be a file, or the address of a page like \"page:0xfed81000\""
    assert done.returncode == 2 and wanted in done.stderr
