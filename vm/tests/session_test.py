# SPDX-License-Identifier: Apache-2.0
"""A crash costs one case and a boot, never the session."""

from __future__ import annotations

import dataclasses
import pathlib
import tempfile
from typing import Any

import pytest

from pmubase.errors import UserError
from vm import guest, qemu, session, suite, together


@pytest.fixture(autouse=True)
def short_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "CASE_MARGIN_S", 0.5)
    monkeypatch.setattr(guest, "LAST_WORDS_S", 0.2)


def case(name: str) -> suite.Case:
    return suite.Case(name, ("CNT-002",), 1.0, "a_test.cpp", 3)


def run(
    machine: qemu.Machine,
    names: list[str],
    how: str = "well",
    alone: bool = False,
    debug: bool = False,
    modelled: bool = False,
) -> tuple[list[Any], int]:
    records: list[Any] = []
    behaving = dataclasses.replace(machine, cmdline=f"behave={how}")
    plan = session.Plan(behaving, "refpmu.ko", (), slowness=1.0, boot_s=30, debug=debug)
    plan = dataclasses.replace(plan, modelled=modelled)
    with session.Session(plan, None, records.append, alone) as guests:
        together.run([guests], [case(name) for name in names], lambda message: None)
    return records, guests.boots


def test_results_come_in_order_and_the_end_is_recorded(machine: qemu.Machine) -> None:
    records, boots = run(machine, ["A.One", "A.Two"])
    assert [record.get("id") for record in records[:2]] == ["A.One", "A.Two"]
    assert [record["t"] for record in records] == ["result", "result", "unload", "kmsg"]
    assert boots == 1


def test_each_crash_is_one_result_and_one_more_boot(machine: qemu.Machine) -> None:
    records, boots = run(machine, ["A.Oopses", "A.Two", "A.Hangs", "A.PowersOff", "A.Last"])
    verdicts = [record["result"] for record in records if record["t"] == "result"]
    assert verdicts == ["CRASH", "PASS", "TIMEOUT", "CRASH", "PASS"]
    assert boots == 4
    assert records[0]["rules"] == ["CNT-002"]
    assert "Oops: 0002" in records[0]["message"]


def test_no_boot_follows_a_crash_in_the_last_case(machine: qemu.Machine) -> None:
    records, boots = run(machine, ["A.One", "A.Oopses"])
    assert [record["t"] for record in records] == ["result", "result"]
    assert boots == 1


def test_guest_that_never_boots_stops_the_session(machine: qemu.Machine) -> None:
    with pytest.raises(UserError, match="no guest boots on .*No working init") as error:
        run(machine, ["A.One"], "no-boot")
    assert "Kernel panic" in error.value.details


def test_a_module_that_does_not_load_stops_the_session(machine: qemu.Machine) -> None:
    with pytest.raises(UserError, match="refpmu.ko does not load: Invalid module format"):
        run(machine, ["A.One"], "refuse-module")


@pytest.mark.parametrize(
    ("how", "record"),
    [
        ("busy-module", {"t": "unload", "ok": False, "error": "Resource temporarily unavailable"}),
        ("warn", {"t": "kmsg", "reports": ["WARNING: at x.c:1"]}),
    ],
)
def test_errors_at_the_end_are_recorded(
    machine: qemu.Machine, how: str, record: dict[str, Any]
) -> None:
    assert record in run(machine, ["A.One"], how)[0]


def test_a_guest_that_dies_at_the_end_leaves_a_report(machine: qemu.Machine) -> None:
    last = run(machine, ["A.One"], "die-at-unload")[0][-1]
    assert last["t"] == "kmsg"
    assert "BUG: unable to handle page fault" in last["reports"][0]


def test_memory_leak_fails_the_case_whose_process_allocated_it(machine: qemu.Machine) -> None:
    how = "well lose=114,refpmu_event_init"
    records, boots = run(machine, ["A.One", "A.Two", "A.Three"], how, debug=True)
    results = [(r["id"], r["result"]) for r in records if r["t"] == "result"]
    passed = [("A.One", "PASS"), ("A.Two", "PASS"), ("A.Three", "PASS")]
    assert results == [*passed, ("A.Two", "CRASH")]
    assert 'kmemleak: 96 bytes leaked by "pmuconf" (114) in refpmu_event_init' in str(records)
    assert boots == 1


@pytest.mark.parametrize("owner", ["0,refpmu_timer", "114,worker_thread", "7,init_module"])
def test_memory_leak_without_a_case_is_a_report_of_the_run(
    machine: qemu.Machine, owner: str
) -> None:
    records, _ = run(machine, ["A.One", "A.Two"], f"well lose={owner}", debug=True)
    assert [r["result"] for r in records if r["t"] == "result"] == ["PASS", "PASS"]
    reports = [report for r in records if r["t"] == "kmsg" for report in r["reports"]]
    assert [report.split(":")[0] for report in reports] == ["kmemleak"]


def test_count_of_a_scan_is_reported_only_without_a_listing(machine: qemu.Machine) -> None:
    records, _ = run(machine, ["A.One"], "warn lose=0,start_kernel", debug=True)
    reports = [report for r in records if r["t"] == "kmsg" for report in r["reports"]]
    assert reports == ["WARNING: at x.c:1"]
    # A kernel without a listing has only the count.
    counted = run(machine, ["A.One"], "lose=0,start_kernel")[0][-1]
    assert "1 new suspected memory leaks" in counted["reports"][0]


def test_failed_leak_scan_is_reported(machine: qemu.Machine) -> None:
    records, _ = run(machine, ["A.One"], "no-scan", debug=True)
    assert {"t": "kmsg", "reports": ["no scan for memory leaks: EBUSY"]} in records


def test_after_a_report_a_debug_kernel_is_booted_again(machine: qemu.Machine) -> None:
    names = ["A.IsReported", "A.Two"]
    assert run(machine, names, debug=True)[1] == 2
    assert run(machine, names)[1] == 1


@pytest.mark.parametrize(
    ("name", "boots"), [("Breaks", 2), ("TimesOut", 2), ("LeavesItStuck", 2), ("BreaksARule", 1)]
)
def test_a_modelled_device_in_an_unknown_state_is_replaced(
    machine: qemu.Machine, name: str, boots: int
) -> None:
    names = [f"A.{name}", "A.Two"]
    assert run(machine, names, modelled=True)[1] == boots
    assert run(machine, names)[1] == 1


def test_a_deadline_follows_budget_and_slowness() -> None:
    assert case("A.One").deadline_s(1.0) == 1
    assert case("A.One").deadline_s(2.5) == 3


def test_isolated_cases_start_from_one_boot(machine: qemu.Machine) -> None:
    records, boots = run(machine, ["A.One", "A.Oopses", "A.Two"], alone=True)
    kinds = [record["t"] for record in records]
    assert kinds == ["result", "unload", "kmsg", "result", "result", "unload", "kmsg"]
    verdicts = [record["result"] for record in records if record["t"] == "result"]
    assert verdicts == ["PASS", "CRASH", "PASS"]
    assert boots == 1


def handed(machine: qemu.Machine, folder: pathlib.Path, how: str) -> session.Session:
    """Guests that start from the state after a boot and receive their module."""
    behaving = dataclasses.replace(machine, cmdline=f"behave={how}")
    plan = session.Plan(behaving, None, (), slowness=1.0, boot_s=30)
    with session.Session(plan, None, lambda _: None) as first:
        first.save(folder / "state")
    files = {"state": folder / "state", "handed": folder / "refpmu.ko.gz"}
    goes_on = dataclasses.replace(behaving, **files)
    plan = dataclasses.replace(plan, machine=goes_on, module="refpmu.ko")
    return session.Session(plan, folder / "console.log", lambda _: None)


def test_guests_receive_their_module_after_one_boot(
    machine: qemu.Machine, tmp_path: pathlib.Path
) -> None:
    with handed(machine, tmp_path, "well") as guests:
        verdicts = [guests.run(case(name))["result"] for name in ("A.One", "A.Oopses", "A.Two")]
    assert verdicts == ["PASS", "CRASH", "PASS"]
    said = (tmp_path / "console.log").read_text()
    assert "load qemu_fw_cfg.ko" in said and "load refpmu.ko" in said


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("no-room", "the guest cannot store refpmu.ko: err"),
        ("die-at-load", "the guest died while it loaded refpmu.ko: BUG: kernel NULL"),
        ("bad-state", "QEMU cannot save or restore its state: failed"),
    ],
)
def test_guest_without_its_module_stops_the_session(
    machine: qemu.Machine, tmp_path: pathlib.Path, how: str, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        with handed(machine, tmp_path, how) as guests:
            guests.run(case("A.One"))


def test_a_session_leaves_no_state_of_a_guest_behind(
    machine: qemu.Machine, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "states"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    run(machine, ["A.One"], alone=True)
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("how", "message", "deadline_s"),
    [
        ("no-state", "QEMU: State blocked by x", 60),
        ("bad-state", "QEMU cannot save or restore its state: failed", 60),
        ("mute-monitor", "QEMU's monitor does not answer: QMP", 0.5),
    ],
)
def test_a_qemu_that_cannot_save_a_guest_stops_the_session(
    machine: qemu.Machine,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    message: str,
    deadline_s: float,
) -> None:
    monkeypatch.setattr(guest, "SAVE_S", deadline_s)
    with pytest.raises(UserError, match=message):
        run(machine, ["A.One"], how, alone=True)
