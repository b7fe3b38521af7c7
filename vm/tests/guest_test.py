# SPDX-License-Identifier: Apache-2.0
"""A guest's states, deadlines and first cause, with a fake machine."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from pmubase.errors import UserError
from vm import guest, qemu


def behaving(machine: qemu.Machine, how: str) -> qemu.Machine:
    return dataclasses.replace(machine, cmdline=f"behave={how}")


@pytest.fixture(autouse=True)
def short_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "CASE_MARGIN_S", 0.5)
    monkeypatch.setattr(guest, "LAST_WORDS_S", 0.2)


def test_a_guest_goes_from_power_on_to_power_off(machine: qemu.Machine) -> None:
    vm = guest.Guest(machine)
    assert vm.state.value == "off"
    with vm:
        assert vm.state.value == "booting"
        assert vm.boot(30)["cpus"] == 2
        assert vm.state.value == "ready"
        vm.load("refpmu.ko", ["cpu=1"])
        states = []
        result = vm.case("A.Passes", 5, started=lambda: states.append(vm.state))
        assert states == [guest.State.RUNNING]
        assert (result["result"], vm.state) == ("PASS", guest.State.READY)
        assert vm.exec(["true"]) == guest.Done(3, "out", "err")
        assert vm.kmsg()["reports"] == []
        assert vm.unload("refpmu")["ok"] is True
        vm.bye()
        assert vm.state.value == "done"


LOSSES = {
    "A.Oopses": ("CRASH", "Oops: 0002", guest.State.PANICKED),
    "A.Hangs": ("TIMEOUT", "no answer to 'case A.Hangs'", guest.State.LOST),
    "A.PowersOff": ("CRASH", "powered off during", guest.State.LOST),
    "A.AnswersForAnother": ("BROKEN", "answered with another case", guest.State.LOST),
    "A.SaysBye": ("BROKEN", "answered 'bye'", guest.State.LOST),
    "A.Refuses": ("BROKEN", "no such case", guest.State.LOST),
    "A.SendsGarbage": ("BROKEN", "not UTF-8", guest.State.LOST),
}


@pytest.mark.parametrize("case", LOSSES)
def test_a_lost_guest_names_its_cause_and_stays_broken(machine: qemu.Machine, case: str) -> None:
    verdict, cause, state = LOSSES[case]
    with guest.Guest(machine) as vm:
        vm.boot(30)
        with pytest.raises(guest.GuestLost) as first:
            vm.case(case, 1)
        assert (first.value.verdict, vm.state) == (verdict, state)
        assert cause in first.value.cause
        with pytest.raises(guest.GuestLost) as second:
            vm.kmsg()
        assert second.value is first.value


def test_a_hang_names_the_stall_that_the_console_showed(machine: qemu.Machine) -> None:
    with guest.Guest(machine) as vm:
        vm.boot(30)
        with pytest.raises(guest.GuestLost, match="soft lockup - CPU#0"):
            vm.case("A.Hangs", 1)


def test_text_of_a_case_on_the_console_is_no_crash(machine: qemu.Machine) -> None:
    with guest.Guest(machine) as vm:
        vm.boot(30)
        assert vm.case("A.PrintsOops", 5)["result"] == "PASS"


@pytest.mark.parametrize(
    ("how", "verdict", "cause"),
    [
        ("no-boot", "CRASH", "Kernel panic - not syncing: No working init found."),
        ("silent", "TIMEOUT", "no answer to 'boot'"),
        ("no-qemu", "CRASH", "QEMU: could not set up this machine"),
        ("protocol-2", "BROKEN", "breaks the protocol"),
    ],
)
def test_guest_that_does_not_boot_reports_the_cause(
    machine: qemu.Machine, how: str, verdict: str, cause: str
) -> None:
    with guest.Guest(behaving(machine, how)) as vm:
        with pytest.raises(guest.GuestLost) as lost:
            vm.boot(1.5 if how == "silent" else 30)
    assert lost.value.verdict == verdict
    assert cause in lost.value.cause
    assert "Linux version 6.12" in lost.value.tail


def test_refused_module_is_not_a_lost_guest(machine: qemu.Machine) -> None:
    with guest.Guest(behaving(machine, "refuse-module")) as vm:
        vm.boot(30)
        with pytest.raises(guest.ModuleRefused, match="Invalid module format"):
            vm.load("refpmu.ko")
        assert vm.case("A.Passes", 5)["result"] == "PASS"


def test_guest_that_stays_on_after_bye_is_lost(
    machine: qemu.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest, "ANSWER_S", 1.0)
    with guest.Guest(behaving(machine, "stay")) as vm:
        vm.boot(30)
        with pytest.raises(guest.GuestLost, match="did not power off"):
            vm.bye()


@pytest.mark.parametrize("word", ["two words", "a\nbye", "", "it's"])
def test_word_with_spaces_or_quotes_is_not_sent(machine: qemu.Machine, word: str) -> None:
    with guest.Guest(machine) as vm:
        vm.boot(30)
        with pytest.raises(UserError, match="cannot be sent"):
            vm.case(word, 5)


def test_the_console_is_saved_even_when_the_guest_is_lost(
    machine: qemu.Machine, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(guest.GuestLost):
        with guest.Guest(machine, tmp_path / "log") as vm:
            vm.boot(30)
            vm.case("A.Oopses", 1)
    assert "Oops: 0002" in (tmp_path / "log").read_text("utf-8")


def test_guest_without_a_cpu_model_has_no_pmu_of_the_processor(machine: qemu.Machine) -> None:
    of = dataclasses.replace(machine.arch, parameters="always", no_pmu="blacklist=driver")
    plain = dataclasses.replace(machine, arch=of, cpu=None, cmdline="own")
    assert guest.command_line(plain).endswith(" always blacklist=driver own")
    with_pmu = dataclasses.replace(plain, cpu="model")
    assert guest.command_line(with_pmu).endswith(" always own")
