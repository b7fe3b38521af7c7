# SPDX-License-Identifier: Apache-2.0
"""`pmuconf repro` replays a program in a guest and prints the result of each operation.

It compares the results with the errno model and detects a wrong driver. The C program that it prints gets the same
results.
"""

from __future__ import annotations

import pathlib
import re
import subprocess

import pytest

from ci.faults import modules
from vm import guest, kernel, runs, suite

pytestmark = pytest.mark.guest

MUTANT = "M15-2"
"""Ignores the upper half of config."""
GCC_S = 120

# The leader counts pulse_a. The sibling has an undefined bit in config. Then follow a child, a group, a buffer, a
# cgroup without events, the second CPU offline and online, and a branch trace.
OWN = "0100f00080000000d001000000000000"
BAD = "0100f00080000000d001000001000000"
REST = "00" * 24 + "01"
TRACE = "0200f00080000000" + "00" * 8
BRANCHES = 8
RECORD = 24
"""Bytes of a branch record in an AUX area."""
PROGRAM = f"""\
pmuconf program for refpmu
open slot=1 flags=8 readable=0x100 descriptors=1 rights=1 attr={OWN}{REST}
open slot=2 flags=8 readable=0x100 descriptors=1 rights=1 attr={BAD}{REST}
open slot=3 other=1 group=3 flags=8 readable=0x100 descriptors=1 rights=1 attr={OWN}{REST}
open slot=4 who=1 flags=8 readable=0x100 descriptors=1 rights=1 attr={OWN}{REST}
fork
open slot=4 who=1 flags=8 readable=0x100 descriptors=1 rights=1 attr={OWN}{REST}
ioctl slot=1 value=1
pulse value=0x64
read slot=1 value=8
map slot=1 which=1
dup slot=1 other=5
close slot=5
child_pulse value=3
signals slot=1
signals slot=1 which=1
child which=1
open slot=6 who=5 cpu=1 flags=0xc readable=0x100 descriptors=1 rights=1 attr={OWN}{REST}
open slot=7 other=1 group=3 who=5 cpu=1 flags=0xc readable=0x100 descriptors=1 rights=1 attr={OWN}{REST}
cpu
open slot=5 who=2 cpu=2 flags=8 readable=0x100 descriptors=1 rights=1 attr={OWN}{REST}
cpu which=1
close slot=5
open flags=8 readable=0x100 descriptors=1 rights=1 attr={TRACE}{REST}
map which=1
map_aux which=1
ioctl
branch which=1 value={BRANCHES}
ioctl which=1
drain
"""
ANSWERS = [
    *("opens", "EINVAL", "opens", "ESRCH"),
    *("", "opens", "", "", "", "", "", "", "", "", "", ""),
    *("opens", "EINVAL", "", "ENODEV", "", "EBADF"),
    *("", "", "", "", "", "", ""),
]
"""The output for each operation: the result of a call or an errno; empty for an operation that only succeeds."""


def replayed(vm: guest.Guest, path: str = "/program") -> guest.Done:
    return vm.exec(["pmuconf", "repro", path], 60)


def answers(said: str) -> list[str]:
    """The answer to each operation."""
    found = []
    for line in re.findall(r"^    (.*)$", said, re.M):
        differs = re.fullmatch(r"(\w+); so says the model: (\w+)(?: \(.*\))?", line)
        word = differs[2] if differs else line
        found.append("" if word.isdecimal() else word)
    return found


def static(source: str, folder: pathlib.Path) -> pathlib.Path:
    path = folder / "program"
    argv = ["gcc", "-Wall", "-Werror", "-static", "-x", "c", "-o", str(path), "-"]
    subprocess.run(argv, input=source, text=True, check=True, timeout=GCC_S)
    return path


def test_program_is_replayed_and_compared_with_the_model(tmp_path: pathlib.Path) -> None:
    program = tmp_path / "text"
    program.write_text(PROGRAM, encoding="utf-8")
    argv = [str(suite.binary()), "repro", "--print", str(program)]
    source = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout
    found = kernel.find("6.12")
    files = {
        "program": program,
        "bin/program": static(source, tmp_path),
        "modules/broken.ko": modules.faulty_module(MUTANT, found),
    }
    with guest.Guest(runs.machine(found, suite.find_target("refpmu"), files=files)) as vm:
        vm.boot()
        vm.load("refpmu.ko")
        done = replayed(vm)
        as_c = vm.exec(["program"], 60)
        assert vm.unload("refpmu")["ok"] is True
        vm.load("broken.ko")
        wrong = replayed(vm)
        vm.bye()
    assert (done.status, answers(done.stdout)) == (0, ANSWERS), done.stdout + done.stderr
    drained = int(done.stdout.splitlines()[-1])
    # A record of the ring buffer refers to the data in the AUX area.
    assert BRANCHES * RECORD < drained < 2 * BRANCHES * RECORD
    assert wrong.status == 1
    assert "MISMATCH, the model says EINVAL (INI-011 unsupported bits of config" in wrong.stdout
    # The C program prints the same for every operation: a value if it succeeded, else the errno.
    lines = [line.split(": ", 1)[1] for line in as_c.stdout.splitlines()]
    assert as_c.status == 0 and len(lines) == len(ANSWERS)
    worked = [line.isdecimal() for line in lines]
    assert worked == [answer in ("", "opens") for answer in ANSWERS], as_c.stdout
    assert lines[-1] == str(drained)
