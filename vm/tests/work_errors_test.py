# SPDX-License-Identifier: Apache-2.0
"""If executed work cannot be counted, one line states the reason."""

from __future__ import annotations

import pathlib
import subprocess

import pytest

from pmubase.errors import UserError
from vm import arch, work
from vm.cli import main
from vm.testing.stubs import boot_image, target_text, write_script

QEMU_S = 60


def test_machine_of_another_architecture_is_refused() -> None:
    with pytest.raises(UserError, match="^work is counted only with ARCH=amd64, not arm64$"):
        work.plugin(arch.ARM64, "tcg")


def test_kvm_is_refused() -> None:
    with pytest.raises(UserError, match="^work needs the accelerator tcg, not kvm$"):
        work.plugin(arch.AMD64, "kvm")


def test_emulator_without_plugins_is_refused(fakes: pathlib.Path) -> None:
    (fakes / "qemu-system-x86_64").unlink()
    emulator = write_script(fakes, "qemu-system-x86_64", "echo 'QEMU'; echo '-smp n'")
    with pytest.raises(UserError) as refused:
        work.plugin(arch.AMD64, "tcg")
    assert str(refused.value) == (
        f"work needs a qemu-system-x86_64 with plugins; {emulator} was built without them"
    )


@pytest.mark.parametrize(("version", "interface"), [("7.2.22", 1), ("8.2", 1), ("10.0.13", 3)])
def test_plugin_that_is_not_built_is_named(
    fakes: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    version: str,
    interface: int,
) -> None:
    (fakes / "qemu-system-x86_64").unlink()
    answer = f"echo 'QEMU emulator version {version} (Debian 1)'; echo '-plugin file'"
    write_script(fakes, "qemu-system-x86_64", answer)
    monkeypatch.setenv("PMUCONF_BINARY", str(tmp_path / "conformance" / "pmuconf"))
    with pytest.raises(UserError) as refused:
        work.plugin(arch.AMD64, "tcg")
    path = tmp_path / f"vm/tcg/work{interface}.so"
    assert str(refused.value) == f"no plugin {path}: run ci/build guest pmuconf"


def test_unknown_event_of_a_target_is_named(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(target_text("mine", "", 'work = ["loads", "load"]\n'), encoding="utf-8")
    image = str(boot_image(tmp_path / "bzImage"))
    assert main(["run", "--target", str(path), "--kernel", image]) == 2
    known = ", ".join([*work.EVENTS, "overcount=N"])
    assert capfd.readouterr().err.splitlines() == [
        f"pmuvm: {path}: vm.work: unknown event 'load'; known: {known}"
    ]


def test_unknown_event_of_the_command_line_is_named(
    tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    image = str(boot_image(tmp_path / "bzImage"))
    assert main(["exec", "--kernel", image, "--work", "loads,", "--", "true"]) == 2
    known = ", ".join([*work.EVENTS, "overcount=N"])
    assert capfd.readouterr().err.splitlines() == [
        f"pmuvm: --work: unknown event ''; known: {known}"
    ]


def emulator_says(arguments: str, emulator: str = "qemu-system-x86_64", cpus: int = 1) -> list[str]:
    """The error output of an emulator that refuses the plugin."""
    words = ["-machine", "none" if cpus == 1 else "q35", "-smp", str(cpus)]
    words += [
        "-accel",
        "tcg",
        "-display",
        "none",
        "-nodefaults",
        "-plugin",
        f"{work.plugin(arch.AMD64, 'tcg')}{arguments}",
    ]
    done = subprocess.run(
        [emulator, *words], capture_output=True, text=True, check=False, timeout=QEMU_S
    )
    assert done.returncode == 1
    return done.stderr.splitlines()


@pytest.mark.guest
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "page=FILE is missing"),
        (",page=/nowhere/page", "/nowhere/page: No such file or directory"),
        (",page=/,events=loads", "/: Is a directory"),
        (
            ",page=/nowhere/page,pages=2",
            "unknown argument 'pages'; known: page events icount cpus overcount",
        ),
        (
            ",page=/nowhere/page,events=loads+load",
            "events: unknown event 'load'; known: " + " ".join(work.EVENTS),
        ),
    ],
)
def test_plugin_states_why_it_refuses(arguments: str, says: str) -> None:
    assert emulator_says(arguments)[0] == f"work: {says}"


@pytest.mark.guest
def test_plugin_refuses_another_emulator() -> None:
    said = emulator_says(",page=/nowhere/page", "qemu-system-i386")
    assert said[0] == "work: the emulator is for i386, not for x86_64 machines"


@pytest.mark.guest
def test_plugin_refuses_more_cpus_than_the_page_has_blocks() -> None:
    said = emulator_says(",page=/nowhere/page,cpus=each", cpus=17)
    assert said[0] == "work: cpus=each: the page has blocks for 16 CPUs, the machine has 17"
