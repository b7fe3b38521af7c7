# SPDX-License-Identifier: Apache-2.0
"""The plugin of QEMU that counts executed work (vm/tcg/), and whether a machine can have it."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Sequence

from pmubase import store
from pmubase.errors import UserError

from . import arch

EVENTS = (
    *("instructions", "branches", "calls", "returns", "loads", "stores", "taken"),
    *("l1d-load-misses", "l1d-store-misses", "l1i-misses"),
)
"""In the order of driver/include/uapi/refpmu_work.h."""
PLUGINS = "vm/tcg"
"""The folder of the plugins, in the build folder of the preset `guest`."""
HELP_S = 30


HABIT = re.compile(r"(overcount)=(\d+)")
"""A habit of processors: instructions that user mode counts for each return from an interrupt or a fault."""


def parse(names: Sequence[str], where: str) -> tuple[str, ...]:
    """The events to count, and habits. UserError if one is unknown; `where` names the option."""
    for name in names:
        if name not in EVENTS and not HABIT.fullmatch(name):
            known = ", ".join([*EVENTS, "overcount=N"])
            raise UserError(f"{where}: unknown event '{name}'; known: {known}")
    return tuple(names)


def words(names: Sequence[str]) -> dict[str, str]:
    """The arguments of the plugin for what parse() returned."""
    habits = [found for name in names if (found := HABIT.fullmatch(name))]
    events = "+".join(name for name in names if name in EVENTS)
    return {"events": events, **{found[1]: found[2] for found in habits}}


def plugin(of: arch.Arch, accelerator: str) -> pathlib.Path:
    """The plugin for a machine. UserError if the machine cannot have it."""
    if of != arch.AMD64:
        raise UserError(f"work is counted only with ARCH={arch.AMD64.name}, not {of.name}")
    if accelerator == "kvm":
        raise UserError("work needs the accelerator tcg, not kvm")
    emulator = shutil.which(of.qemu)
    # If there is no emulator, its start reports that.
    if emulator is not None and "\n-plugin " not in says(emulator, "-help"):
        raise UserError(f"work needs a {of.qemu} with plugins; {emulator} was built without them")
    agent = os.environ.get("PMUCONF_BINARY") or store.ROOT / "build/guest/conformance/pmuconf"
    version = says(emulator, "--version") if emulator else ""
    number = re.search(r"version (\d+)\.(\d+)", version)
    # The interface of QEMU 9.0 and later is another one.
    interface = 3 if number and int(number[1]) >= 9 else 1
    path = pathlib.Path(agent).resolve().parent.parent / PLUGINS / f"work{interface}.so"
    if not path.is_file():
        raise UserError(f"no plugin {path}: run ci/build guest pmuconf")
    return path


@functools.cache
def says(emulator: str, option: str) -> str:
    """The output of an emulator with an option. If it does not start, the start of the machine reports that."""
    return output(emulator, option) or "\n-plugin "


@functools.cache
def output(*words: str) -> str:
    """The output of a program; "" if it does not start."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=HELP_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout
