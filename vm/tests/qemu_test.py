# SPDX-License-Identifier: Apache-2.0
"""QEMU gets the correct arguments and ends with its block."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import select
import signal
import time

import pytest

from pmubase.errors import UserError
from vm import arch, qemu
from vm.testing.stubs import write_script

GOLDEN = [
    "qemu-system-x86_64 -machine pc -cpu max -smp 2 -m 512 -accel tcg,thread=single",
    "-nodefaults -no-user-config -no-reboot -display none -nic none",
    "-sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
    "-add-fd fd=5,set=1 -chardev file,id=console,path=/dev/fdset/1,append=on",
    "-chardev socket,id=channel,fd=6",
    "-serial chardev:console -serial chardev:channel",
    "-chardev socket,id=monitor,fd=7 -mon chardev=monitor,mode=control",
    "-kernel /k -initrd /i -append a b",
]


def test_qemu_command_line_equals_the_golden_one() -> None:
    machine = qemu.Machine(arch.AMD64, pathlib.Path("/k"), pathlib.Path("/i"), cmdline="a b")
    assert " ".join(qemu.argv(machine, 5, 6, 7)) == " ".join(GOLDEN)


def test_an_arm64_machine_has_its_second_port_on_pci() -> None:
    machine = qemu.Machine(arch.ARM64, pathlib.Path("/k"), pathlib.Path("/i"), cmdline="a b")
    golden = " ".join(GOLDEN)
    for amd64, arm64 in (
        ("qemu-system-x86_64 -machine pc", "qemu-system-aarch64 -machine virt,gic-version=3"),
        ("-cpu max", "-cpu cortex-a57,pmu=off"),
        ("-serial chardev:channel", "-device pci-serial,chardev=channel"),
    ):
        golden = golden.replace(amd64, arm64)
    assert " ".join(qemu.argv(machine, 5, 6, 7)) == golden
    with_pmu = dataclasses.replace(machine, cpu="cortex-a57")
    golden = golden.replace("cortex-a57,pmu=off", "cortex-a57")
    assert " ".join(qemu.argv(with_pmu, 5, 6, 7)) == golden


def test_kvm_hides_the_pmu_of_the_host() -> None:
    machine = qemu.Machine(arch.AMD64, pathlib.Path("/k"), None, accel="kvm")
    words = qemu.argv(machine, 5, 6, 7)
    assert words[words.index("-cpu") + 1] == "max,pmu=off"
    assert "-initrd" not in words


def test_a_machine_with_a_state_waits_for_it() -> None:
    machine = qemu.Machine(arch.AMD64, pathlib.Path("/k"), None, state=pathlib.Path("/s"))
    assert qemu.argv(machine, 5, 6, 7)[-3:] == ["-incoming", "defer", "-S"]


def test_the_memory_of_a_machine_can_be_a_file() -> None:
    machine = qemu.Machine(
        arch.AMD64, pathlib.Path("/k"), None, memory_mb=64, ram=pathlib.Path("/a,b")
    )
    words = qemu.argv(machine, 5, 6, 7)
    assert words[words.index("-machine") + 1] == "pc,memory-backend=ram"
    backend = "memory-backend-file,id=ram,size=64M,share=on,mem-path=/a,,b"
    assert words[words.index("-object") + 1] == backend


def test_file_is_passed_to_the_machine() -> None:
    machine = qemu.Machine(arch.AMD64, pathlib.Path("/k"), None, handed=pathlib.Path("/a,b"))
    words = ["-fw_cfg", "name=opt/pmuvm/handed,file=/a,,b"]
    assert qemu.argv(machine, 5, 6, 7)[-2:] == words


def process_of(machine: qemu.Qemu) -> int:
    assert machine._process is not None
    return machine._process.pid


def test_a_machine_is_killed_when_its_block_raises(machine: qemu.Machine) -> None:
    silent = dataclasses.replace(machine, cmdline="behave=silent")
    with pytest.raises(KeyError):
        with qemu.Qemu(silent) as running:
            pid = process_of(running)
            os.kill(pid, 0)
            raise KeyError
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_machine_does_not_outlive_a_runner_that_is_killed(machine: qemu.Machine) -> None:
    silent = dataclasses.replace(machine, cmdline="behave=silent")
    here, there = os.pipe()
    runner = os.fork()
    if runner == 0:
        with qemu.Qemu(silent) as running:
            select.select([running.console], [], [], 10)  # QEMU has started
            os.write(there, f"{process_of(running)}\n".encode())
            signal.pause()
        os._exit(1)
    os.close(there)
    with os.fdopen(here) as stream:
        pid = int(stream.readline())
    watch = os.pidfd_open(pid)
    os.kill(runner, signal.SIGKILL)
    os.waitpid(runner, 0)
    try:
        ended, _, _ = select.select([watch], [], [], 10)
        assert ended
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(watch, signal.SIGKILL)
        os.close(watch)


def test_missing_qemu_is_a_one_line_error(
    machine: qemu.Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="no program 'qemu-system-x86_64'"):
        with qemu.Qemu(machine):
            pass


def test_uncontrolled_machine_ends_with_its_console(
    machine: qemu.Machine, tmp_path: pathlib.Path
) -> None:
    stopping = dataclasses.replace(machine, cmdline="behave=no-boot")
    end = qemu.run_to_end(stopping, deadline_s=30, log=tmp_path / "log")
    assert end.exited
    assert b"No working init found" in end.console
    assert (tmp_path / "log").read_bytes() == end.console


def test_uncontrolled_machine_that_hangs_is_killed_at_the_deadline(machine: qemu.Machine) -> None:
    begun = time.monotonic()
    end = qemu.run_to_end(dataclasses.replace(machine, cmdline="behave=silent"), deadline_s=1)
    assert not end.exited
    assert time.monotonic() - begun < 10


def test_error_output_of_qemu_is_recorded(machine: qemu.Machine, fakes: pathlib.Path) -> None:
    (fakes / "qemu-system-x86_64").unlink()
    write_script(fakes, "qemu-system-x86_64", "echo 'qemu: no such machine' >&2; exit 1")
    end = qemu.run_to_end(machine, deadline_s=30)
    assert end.exited and end.complaint == "qemu: no such machine"
