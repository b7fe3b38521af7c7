# SPDX-License-Identifier: Apache-2.0
"""`pmuconf specify` agrees with a right kernel and driver, and finds a wrong driver by a short program. `pmuconf compare`
reports only the wrong driver."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ci import specify
from ci.faults import modules
from vm import guest, kernel, suite

pytestmark = pytest.mark.guest

KERNEL = "6.12"
PROGRAMS = {"refpmu": 400, "refpmu_uncore": 200, "software": 200, "tracepoint": 200}
RUN_S = 300
"""The limit of a run on a busy machine."""
MUTANT = "C49"
"""A count that RESET has cleared comes back."""
RECORDED = "60"
"""Programs of a recording."""
SHORT = 12
"""Operations."""
FINDINGS = Path(__file__).parent / "programs"
SAMPLES = {
    *("the event of a sample", "the task of a sample", "the privilege level of a sample"),
    *("the CPU of a sample", "the period in a sample", "the data address of a sample without one"),
    *("the values in a sample", "the time of a record"),
    *("the number of signals", "the code of the last signal"),
}
"""The checks of records, which only a target with samples is certain to decide."""
SELDOM = {"the number in a LOST record"}
"""Checks that so few programs may not decide."""


@pytest.fixture(scope="module", name="vm")
def booted() -> Iterator[guest.Guest]:
    places = {path.name: path for path in FINDINGS.iterdir()}
    places["modules/broken.ko"] = modules.faulty_module(MUTANT, kernel.find(KERNEL))
    with specify.boot(KERNEL, places) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        yield vm
        vm.bye()


def run(vm: guest.Guest, target: str, *words: str) -> dict[str, Any]:
    return specify.facts(specify.specify(vm, target, ["--seed", "1", *words], RUN_S))


@pytest.mark.parametrize("target", PROGRAMS)
def test_right_kernel_and_driver_agree_with_each_check(vm: guest.Guest, target: str) -> None:
    done = run(vm, target, "--programs", str(PROGRAMS[target]))
    assert (done["found"], done["reports"], done["programs"]) == ([], [], PROGRAMS[target])
    silent = {check["name"] for check in done["checks"] if not check["decided"]}
    undecided = SELDOM if target == "refpmu" else SELDOM | SAMPLES
    assert silent <= undecided


@pytest.mark.parametrize(
    ("program", "known"),
    [("moved_group", {}), ("freed_member", {"freed member": 1}), ("group_lost", {"group lost": 1})],
)
def test_program_of_a_finding_shows_it(
    vm: guest.Guest, program: str, known: dict[str, int]
) -> None:
    done = run(vm, "refpmu", f"/{program}")
    assert (done["found"], done["known_deviations"]) == ([], known)


def recorded(vm: guest.Guest, folder: Path, name: str, *words: str) -> Path:
    run(vm, "refpmu", "--record", specify.RECORDING, *words)
    path = folder / name
    path.write_bytes(vm.get(specify.RECORDING))
    return path


def compare(first: Path, second: Path) -> subprocess.CompletedProcess[str]:
    words = [str(suite.binary()), "compare", str(first), str(second)]
    return subprocess.run(words, capture_output=True, text=True, timeout=RUN_S, check=False)


@pytest.fixture(scope="module", name="right")
def right_recording(vm: guest.Guest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(vm, tmp_path_factory.mktemp("recorded"), "right", "--programs", RECORDED)


def test_recordings_of_one_driver_do_not_differ(
    vm: guest.Guest, right: Path, tmp_path: Path
) -> None:
    done = compare(right, recorded(vm, tmp_path, "again", "--programs", RECORDED))
    assert done.returncode == 0, done.stdout
    assert f"{RECORDED} programs, " in done.stdout and "\nnew: " not in done.stdout


def test_wrong_driver_is_found_by_a_short_program(
    vm: guest.Guest, right: Path, tmp_path: Path
) -> None:
    assert vm.unload("refpmu")["ok"] is True
    vm.load("broken.ko")
    wrong = recorded(vm, tmp_path, "wrong", "--programs", RECORDED)
    differ = compare(right, wrong)
    assert (differ.returncode, "\nnew: " in differ.stdout) == (1, True), differ.stdout
    done = run(vm, "refpmu", "--seconds", str(RUN_S))
    found = done["found"]
    assert len(found) == 1 and found[0]["kind"] == "disagreement", done
    assert found[0]["operations"] <= SHORT, found[0]["text"]
    assert found[0]["rule"] and found[0]["text"].startswith("pmuconf program for refpmu\n")
