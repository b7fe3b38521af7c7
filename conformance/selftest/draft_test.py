# SPDX-License-Identifier: Apache-2.0
"""The draft of `pmuconf probe` for a PMU agrees with the target file, which was written by hand.

The drafts of targets for built kernels and for another architecture run in make nightly. DIFFERENT lists the keys that
a draft cannot have or has with other values, each with the reason. `pmuvm run --target probe` judges by such a draft.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import functools
import tomllib
from typing import Any, NamedTuple

import pytest

from vm import arch, guest, kernel, runs, suite

pytestmark = [pytest.mark.guest, pytest.mark.xdist_group("drafts")]

KERNEL = "6.12"
DEADLINE_S = 300
TABLES = ("counters", "sampling", "features", "refusals", "trace")

DIFFERENT = (
    # A glob of targets, a glob of keys (table.key), and the reason for the difference.
    ("*", "counters.width", "how wide a counter is cannot be seen; the draft's 64 claims nothing"),
    ("*", "refusals.config3", "probe opens with the attr of the oldest kernel, which has none"),
    ("*", "refusals.aux_start_paused", "as config3: a bit that the oldest kernel has not"),
    ("refpmu_uncore*", "counters.read_by", "how a driver reads the counters cannot be seen"),
    ("refpmu_uncore*", "refusals.branch_stack", "probe asks for one only where the PMU samples"),
    ("refpmu_uncore*", "refusals.precise", "probe asks for it only where the PMU samples"),
    ("refpmu_trace", "trace.*", "what a trace holds is known from its manual alone"),
    ("refpmu_trace", "refusals.*", "of a trace, probe looks at nothing but that it is one"),
    (
        "armv8_pmuv3",
        "refusals.branch_stack",
        "of events that are not its own, too: docs/findings.md",
    ),
    ("intel", "sampling.min_period", "1 opens, and lasts two events: docs/findings.md"),
    ("amd*", "sampling.min_period", "1 opens, and lasts two events: docs/findings.md"),
    ("software", "refusals.*", "the kernel's refusals; by hand only a driver's are listed"),
    ("tracepoint", "refusals.*", "the kernel's refusals; by hand only a driver's are listed"),
    (
        "tracepoint",
        "features.excludes",
        "they open; what they leave out of a place is not looked at",
    ),
)

WATCHING = {"breakpoint", "kprobe", "uprobe"}
"""The attr of their events names an object of the suite, so a probe drafts nothing for their PMUs."""
MODELLED = {
    path.stem for path in suite.TARGETS.glob("*.toml") if "\ndevice = " in path.read_text("utf-8")
}
"""Drivers on modelled devices. A probe generates no events through a port, so it cannot find what the files claim."""
TARGETS = sorted({path.stem for path in suite.TARGETS.glob("*.toml")} - WATCHING - MODELLED)


class Place(NamedTuple):
    """A guest with the PMUs of some targets, one after the other if the parameters of the module differ."""

    kernel: str
    arch: str
    alone: str
    """The only target of this guest, if it needs a kernel, a processor or a machine of its own."""

    @property
    def is_slow(self) -> bool:
        """Whether its kernel must be built, or its guest is of another architecture."""
        return "-" in self.kernel or self.arch != arch.host().name


def place(name: str) -> Place:
    target = suite.find_target(name)
    return Place(
        f"{KERNEL}-{target.kind}" if target.kind else KERNEL,
        target.arch or arch.host().name,
        name if target.kind or target.arch or target.machine.work else "",
    )


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.nightly, pytest.mark.timeout(3600)] if place(name).is_slow else []


def target_claims(name: str) -> dict[str, Any]:
    """The keys in TABLES of a target, by table.key."""
    target = suite.find_target(name)
    machine = arch.find(place(name).arch).machine
    return _flat(tomllib.loads(target.merged), machine)


def _flat(tables: dict[str, Any], machine: str) -> dict[str, Any]:
    return {
        f"{table}.{key}": word.get(machine) if isinstance(word, dict) else word
        for table in TABLES
        for key, word in tables.get(table, {}).items()
    }


@functools.cache
def drafts(where: Place) -> dict[str, guest.Done]:
    """The drafts of all targets in one guest, by the target's name."""
    names = [name for name in TARGETS if place(name) == where]
    targets = {name: suite.find_target(name) for name in names}
    # The module of the first target with one has the PMUs of all.
    first = max(targets.values(), key=lambda target: target.module is not None)
    found = kernel.find(where.kernel, arch.find(where.arch))
    done = {}
    cpus = max(target.machine.cpus or 1 for target in targets.values())
    with guest.Guest(runs.machine(found, first.on(cpus=cpus))) as vm:
        vm.boot()
        for name, target in targets.items():
            if target.module:
                vm.load(f"{target.module}.ko", list(target.parameters))
            done[name] = vm.exec(["pmuconf", "probe", match_of(name)], DEADLINE_S)
            if target.module:
                assert vm.unload(target.module)["ok"] is True
    return done


def match_of(name: str) -> str:
    """The name of the target's PMU in sysfs."""
    match = tomllib.loads(suite.find_target(name).merged)["target"]["match"]
    return str(match).rstrip("*")


def differences(draft: dict[str, Any], hand: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """The keys that only one of them has, or whose values differ. A missing key counts as 0."""
    return {
        key: (draft.get(key), hand.get(key))
        for key in sorted(draft.keys() | hand.keys())
        if (draft.get(key) or 0) != (hand.get(key) or 0)
    }


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in TARGETS])
def test_draft_equals_the_target_file(name: str) -> None:
    where = place(name)
    done = drafts(where)[name]
    assert done.status == 0, done.stderr
    found = differences(
        _flat(tomllib.loads(done.stdout), arch.find(where.arch).machine), target_claims(name)
    )
    known = [keys for glob, keys, _ in DIFFERENT if fnmatch.fnmatch(name, glob)]
    left = {key for key in found if not any(fnmatch.fnmatch(key, keys) for keys in known)}
    assert {key: found[key] for key in left} == {}


def test_differences_of_a_draft_are_reported() -> None:
    hand = {"counters.general": 4, "features.precise": 0, "refusals.task": "EINVAL"}
    draft = {"counters.general": 3, "refusals.clock": "EINVAL"}
    assert differences(draft, hand) == {
        "counters.general": (3, 4),
        "refusals.clock": ("EINVAL", None),
        "refusals.task": (None, "EINVAL"),
    }
