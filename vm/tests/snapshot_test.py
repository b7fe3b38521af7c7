# SPDX-License-Identifier: Apache-2.0
"""A run of some cases starts from a snapshot of a booted guest if there is one, and boots otherwise."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import time
from typing import Any

import pytest

from pmubase import store
from pmubase.errors import UserError
from vm import accel, arch, guest, image, kernel, qemu, runs, session, snapshot, suite
from vm.cli import main
from vm.testing.stubs import TESTS, boot_image, target_text

SOFTWARE = target_text("soft")


@pytest.fixture(autouse=True)
def stand_in(fakes: pathlib.Path, cache: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMUCONF_BINARY", str(TESTS / "agents/pmuconf"))
    monkeypatch.setenv("PMUCONF_ACCEL", "tcg")
    monkeypatch.setattr(guest, "LAST_WORDS_S", 0.2)


def run(tmp_path: pathlib.Path, *more: str, how: str = "well", case: str = "Stand.P*") -> int:
    path = tmp_path / "soft.toml"
    path.write_text(SOFTWARE, encoding="utf-8")
    kernel_image = tmp_path / f"behave={how}"
    if not kernel_image.is_file():
        boot_image(kernel_image)
    words = ["run", "--target", str(path), "--kernel", str(kernel_image)]
    words += ["--case", case] if case else []
    return main([*words, "--out", str(tmp_path / "out"), *more])


def states() -> list[pathlib.Path]:
    return sorted((store.cache() / "states").glob("*.state"))


@pytest.fixture
def kept(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> pathlib.Path:
    """The snapshot after two runs."""
    assert run(tmp_path) == 0
    assert not states()
    assert run(tmp_path) == 0
    capfd.readouterr()
    (state,) = states()
    return state


def test_second_run_makes_a_snapshot_and_the_third_uses_it(
    tmp_path: pathlib.Path, kept: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = kept.stat().st_ino
    assert run(tmp_path) == 0
    assert "(tcg snapshot): 1 cases" in capfd.readouterr().err
    assert [state.stat().st_ino for state in states()] == [made]


def test_the_console_of_a_run_begins_with_the_boot(
    tmp_path: pathlib.Path, kept: pathlib.Path
) -> None:
    snapshot.console(kept).write_text("[    0.1] booted\n", encoding="utf-8")
    assert run(tmp_path) == 0
    assert (tmp_path / "out" / "console.log").read_text("utf-8").startswith("[    0.1] booted\n")


@pytest.mark.parametrize("more", [["--boot"], ["--isolate"], ["--icount", "3", "--cpus", "1"]])
def test_boot_option_boots(
    tmp_path: pathlib.Path, kept: pathlib.Path, capfd: pytest.CaptureFixture[str], more: list[str]
) -> None:
    for _ in range(3):
        assert run(tmp_path, *more) == 0
    assert "snapshot" not in capfd.readouterr().err
    assert states() == [kept]


def test_run_of_all_cases_boots(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        run(tmp_path, case="")
    assert "snapshot" not in capfd.readouterr().err
    assert not states()


@pytest.mark.parametrize("damage", ["truncated", "changed", "emptied"])
def test_damaged_snapshot_is_removed_and_the_run_continues(
    tmp_path: pathlib.Path, kept: pathlib.Path, damage: str
) -> None:
    data = {"truncated": b"stat", "changed": b"stateX", "emptied": b""}[damage]
    kept.write_bytes(data)
    assert run(tmp_path) == 0
    # The run made a new, intact snapshot.
    assert [state.read_bytes() for state in states()] == [b"state"]


def test_unusable_snapshot_is_removed_and_the_guest_boots(
    tmp_path: pathlib.Path, kept: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    # An intact snapshot, but of another machine: QEMU detects that when it reads the file.
    key = kept.stem.rpartition("-")[0]
    kept.write_bytes(b"other")
    kept.rename(kept.with_name(f"{key}-{snapshot.checksum(kept)}.state"))
    assert run(tmp_path) == 0
    assert "booted, since no guest starts from the snapshot" in capfd.readouterr().err
    assert not states()


@pytest.mark.parametrize("how", ["no-state", "bad-state"])
def test_machine_that_cannot_be_saved_boots_and_is_marked(
    tmp_path: pathlib.Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        assert run(tmp_path, how=how) == 0
    assert not list((store.cache() / "states").glob("*.part*"))
    monkeypatch.setattr(snapshot, "make", None)  # must not be called
    assert run(tmp_path, how=how) == 0


def test_run_does_not_wait_for_a_snapshot_of_another_process(
    tmp_path: pathlib.Path,
) -> None:
    assert run(tmp_path) == 0
    (mark,) = (store.cache() / "states").glob("*.seen")
    with store.locked(mark.with_name(f".{mark.stem}.lock")):
        assert run(tmp_path) == 0
    assert not states()


def bare(tmp_path: pathlib.Path) -> qemu.Machine:
    return qemu.Machine(arch.AMD64, boot_image(tmp_path / "bzImage"), tmp_path / "1.cpio.gz")


@pytest.mark.parametrize(
    "change",
    [
        {"cpus": 1},
        {"memory_mb": 1024},
        {"accel": "tcg-multi"},
        {"cmdline": "nohz=off"},
        {"cpu": "qemu64"},
        {"initrd": pathlib.Path("/2.cpio.gz")},
    ],
)
def test_another_machine_has_another_snapshot(
    tmp_path: pathlib.Path, change: dict[str, Any]
) -> None:
    one = bare(tmp_path)
    assert snapshot.key(dataclasses.replace(one, **change)) != snapshot.key(one)


@pytest.mark.parametrize("change", ["kernel", "emulator", "host", "words"])
def test_snapshot_key_has_all_inputs_of_a_boot(
    tmp_path: pathlib.Path, fakes: pathlib.Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    one = bare(tmp_path)
    before = snapshot.key(one)
    assert before == snapshot.key(dataclasses.replace(one, handed=tmp_path / "refpmu.ko.gz"))
    if change == "kernel":
        boot_image(one.kernel, "6.12.2-test")
    elif change == "emulator":
        (fakes / "qemu-system-x86_64").unlink()
        (fakes / "qemu-system-x86_64").write_text("#!/bin/sh\n", encoding="utf-8")
        (fakes / "qemu-system-x86_64").chmod(0o755)
    elif change == "host":
        (tmp_path / "boot_id").write_text("another\n", encoding="ascii")
        monkeypatch.setattr(accel, "BOOT_ID", tmp_path / "boot_id")
    else:
        monkeypatch.setattr(guest, "CMDLINE", f"{guest.CMDLINE} nokaslr")
    assert snapshot.key(one) != before


def test_least_recently_used_snapshots_are_removed_first(
    tmp_path: pathlib.Path, kept: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "KEPT_BYTES", 5)  # room for only one of them
    earlier = time.time() - 100
    os.utime(kept, (earlier, earlier))
    for _ in range(2):
        assert run(tmp_path, "--cpus", "1") == 0
    (state,) = states()
    assert state != kept


def test_debug_kernels_and_foreign_machines_boot(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(_: object) -> str:
        raise AssertionError("a snapshot was asked for")

    monkeypatch.setattr(snapshot, "key", asked)
    monkeypatch.setattr(suite, "agent", lambda _: TESTS / "agents/pmuconf")
    monkeypatch.setattr(image, "find_busybox", lambda _=None: pathlib.Path("/bin/busybox"))
    path = tmp_path / "soft.toml"
    path.write_text(SOFTWARE, encoding="utf-8")
    target = suite.find_target(str(path))
    stock = kernel.Kernel("x", "6.12.1", arch.AMD64, boot_image(tmp_path / "bzImage"), None)
    with pytest.raises(AssertionError):
        runs.plan_from_snapshot(target, stock, None, boot=False)
    debug = dataclasses.replace(stock, needs=kernel.Needs(debug=True))
    foreign = dataclasses.replace(stock, arch=arch.ARM64)
    counted = target.on(icount=3, cpus=1)
    for plan in (
        runs.plan_from_snapshot(target, debug, None, boot=False),
        runs.plan_from_snapshot(target, foreign, None, boot=False),
        runs.plan_from_snapshot(counted, stock, None, boot=False),
    ):
        assert plan.machine.state is None
    slow = dataclasses.replace(stock, arch=dataclasses.replace(arch.ARM64, slowness=3.0))
    assert runs.plan_from_snapshot(target, slow, None, boot=False).slowness == 3.0


def test_refused_module_does_not_invalidate_the_snapshot(
    machine: qemu.Machine, tmp_path: pathlib.Path
) -> None:
    def fallback(_: str) -> session.Plan:
        raise AssertionError("booted")

    behaving = dataclasses.replace(machine, cmdline="behave=refuse-module")
    first = session.Plan(behaving, None, (), slowness=1.0, boot_s=30)
    with session.Session(first, None, lambda _: None) as guests:
        guests.save(tmp_path / "state")
    goes_on = dataclasses.replace(behaving, state=tmp_path / "state")
    plan = dataclasses.replace(first, machine=goes_on, module="refpmu.ko", fallback=fallback)
    with pytest.raises(UserError, match="refpmu.ko does not load: Invalid module format"):
        with session.Session(plan, None, lambda _: None) as guests:
            guests.run(suite.Case("A.One", ("CNT-002",), 1.0, "", 0))


def test_guest_that_does_not_receive_its_module_boots_with_it(
    machine: qemu.Machine, tmp_path: pathlib.Path
) -> None:
    behaving = dataclasses.replace(machine, cmdline="behave=no-room")
    booting = session.Plan(behaving, "refpmu.ko", (), slowness=1.0, boot_s=30)
    with session.Session(dataclasses.replace(booting, module=None), None, lambda _: None) as guests:
        guests.save(tmp_path / "state")
    why: list[str] = []

    def fallback(cause: str) -> session.Plan:
        why.append(cause)
        return booting

    goes_on = dataclasses.replace(behaving, state=tmp_path / "state", handed=tmp_path / "ko.gz")
    plan = dataclasses.replace(booting, machine=goes_on, fallback=fallback)
    with session.Session(plan, None, lambda _: None) as guests:
        result = guests.run(suite.Case("A.One", ("CNT-002",), 1.0, "", 0))
    assert result["result"] == "PASS"
    assert why == ["the guest cannot store refpmu.ko: err"]
