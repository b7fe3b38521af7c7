# SPDX-License-Identifier: Apache-2.0
"""KVM is used only if a guest has booted on it, and each boot of the host probes it once."""

from __future__ import annotations

import dataclasses
import pathlib

import pytest

from pmubase.errors import UserError
from vm import accel, arch, kernel, suite
import vm.runs
from vm.testing.stubs import write_script

ANY = kernel.Kernel("k", "6.12.1", arch.AMD64, pathlib.Path("/k"), None)


@pytest.fixture(autouse=True)
def openable(
    tmp_path: pathlib.Path,
    cache: pathlib.Path,
    fakes: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PMUCONF_ACCEL", raising=False)
    (tmp_path / "kvm").touch()
    monkeypatch.setattr(accel, "DEVICE", tmp_path / "kvm")
    monkeypatch.setattr(accel, "PROBE_S", 1.0)
    (fakes / "qemu-system-x86_64").unlink()


def play(fakes: pathlib.Path, text: str) -> None:
    """A QEMU that runs `text`. File descriptor 9 is the console."""
    write_script(
        fakes,
        "qemu-system-x86_64",
        f"echo run >>{fakes}/runs\n"
        'port=$(echo "$*" | sed "s/.*fd=\\([0-9]*\\),set=1.*/\\1/")\n'
        f"exec bash -c 'exec 9>&'$port'; {text}'",
    )


def runs(fakes: pathlib.Path) -> int:
    return len((fakes / "runs").read_text("ascii").splitlines())


def test_kvm_is_used_if_a_guest_boots_on_it(fakes: pathlib.Path) -> None:
    play(fakes, 'echo "pmuvm: this guest runs" >&9')
    assert accel.choose(ANY) == "kvm"


@pytest.mark.parametrize("text", ["exec sleep 60", "exit 1", "echo boots but says nothing >&9"])
def test_tcg_is_used_if_no_guest_boots_and_probe_runs_once(fakes: pathlib.Path, text: str) -> None:
    play(fakes, text)
    assert accel.choose(ANY) == "tcg"
    assert accel.choose(ANY) == "tcg"
    assert runs(fakes) == 1


def test_reboot_of_the_host_repeats_the_probe(
    fakes: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(fakes, "exit 1")
    accel.choose(ANY)
    (tmp_path / "boot_id").write_text("another\n", encoding="ascii")
    monkeypatch.setattr(accel, "BOOT_ID", tmp_path / "boot_id")
    accel.choose(ANY)
    assert runs(fakes) == 2


def test_no_device_needs_no_probe(
    fakes: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    play(fakes, "exit 1")
    monkeypatch.setattr(accel, "DEVICE", tmp_path / "none")
    assert accel.choose(ANY) == "tcg"
    assert not (fakes / "runs").exists()


def test_the_environment_forces_and_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMUCONF_ACCEL", "tcg-multi")
    assert accel.choose(ANY) == "tcg-multi"
    monkeypatch.setenv("PMUCONF_ACCEL", "hvf")
    with pytest.raises(UserError, match="unknown PMUCONF_ACCEL 'hvf'; known: tcg"):
        accel.choose(ANY)


IMAGE = pathlib.Path("image")


def test_icount_requires_the_emulator(fakes: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play(fakes, 'echo "pmuvm: this guest runs" >&9')
    two = suite.find_target("refpmu").on(icount=3)
    one = two.on(cpus=1)
    assert one.machine.configure(ANY, IMAGE).accel == "tcg"
    with pytest.raises(UserError, match="icount on amd64 needs one CPU: --cpus 1"):
        two.machine.configure(ANY, IMAGE).accel
    arm64 = dataclasses.replace(ANY, arch=arch.ARM64)
    assert two.machine.configure(arm64, IMAGE).accel == "tcg"
    monkeypatch.setenv("PMUCONF_ACCEL", "kvm")
    with pytest.raises(UserError, match="icount needs the accelerator tcg, not kvm"):
        one.machine.configure(ANY, IMAGE).accel


def test_architecture_gives_the_icount_of_its_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    late = dataclasses.replace(ANY, arch=dataclasses.replace(arch.ARM64, icount=4))
    target = suite.find_target("refpmu")
    assert target.machine.configure(late, IMAGE).icount == 4
    assert target.on(icount=2).machine.configure(late, IMAGE).icount == 2
    alone = dataclasses.replace(late, arch=dataclasses.replace(late.arch, icount_smp=False))
    with pytest.raises(UserError, match="icount on arm64 needs one CPU: --cpus 1"):
        target.machine.configure(alone, IMAGE)
    for accelerator in ("kvm", "tcg-multi"):
        monkeypatch.setenv("PMUCONF_ACCEL", accelerator)
        assert target.machine.configure(late, IMAGE).icount is None
