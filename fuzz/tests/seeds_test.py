# SPDX-License-Identifier: Apache-2.0
"""The initial programs of the system call fuzzer do what their names promise.

They are inputs of the fuzzer's grammar. A change of the grammar may change their meaning.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fuzz import campaign
from vm import suite

LIMIT_S = 60
WORKS = {"refpmu": "pulse", "software": "work"}
"""The operation that makes events happen."""
SEEDS = {
    "sampling": "open map ioctl * poll drain * ioctl drain unmap close",
    "group": "open open open ioctl ioctl * read close * read",
    "inherit": "open ioctl fork child child read fork close child",
    "output": "open open map ioctl ioctl ioctl * ioctl * drain close *",
    "limits": "open map ioctl * ioctl ioctl ioctl * read",
    "bpf": "open map attach ioctl * ioctl close",
    "cpus": "open open map ioctl ioctl * cpu * read cpu open ioctl",
    "tasks": "open ioctl tasks * tasks * work read",
}
ALONE = {
    ("refpmu", "trace"): "open map map_aux ioctl branch drain branch ioctl unmap drain close",
    ("refpmu", "kinds"): 5 * "open " + 5 * "map " + 5 * "ioctl " + "pulse" + 5 * " drain",
    ("refpmu", "branches"): "open map ioctl branch pulse drain",
}


def text(target: str, seed: Path) -> list[str]:
    """A seed as lines, one operation on each."""
    argv = [str(suite.binary()), "repro", "--text", "--target", target, str(seed)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=LIMIT_S)
    return done.stdout.splitlines()[1:]


def expected() -> dict[tuple[str, str], str]:
    """The operations of each seed, by target and name."""
    both = {
        (target, name): words.replace("*", works)
        for target, works in WORKS.items()
        for name, words in SEEDS.items()
    }
    return both | ALONE


def test_each_seed_file_has_an_expectation() -> None:
    there = {
        (target, seed.name)
        for target in campaign.TARGETS
        for seed in campaign.seeds(target).iterdir()
    }
    assert there == expected().keys()


@pytest.mark.parametrize(("target", "name"), expected())
def test_seed_does_what_its_name_promises(target: str, name: str) -> None:
    lines = text(target, campaign.seeds(target) / name)
    assert [line.split()[0] for line in lines] == expected()[target, name].split()


def test_trace_seed_uses_the_pmu_with_an_aux_area() -> None:
    lines = text("refpmu", campaign.seeds("refpmu") / "trace")
    assert " attr=0200f000" in lines[0]
    assert lines[1:4] == ["map which=1", "map_aux which=1", "ioctl"]
    assert lines[4] == "branch which=1 value=0xc8"


def test_other_seeds_use_events_of_the_target() -> None:
    for target, kind in {"refpmu": "0100f000", "software": "01000000"}.items():
        for name in SEEDS:
            first = text(target, campaign.seeds(target) / name)[0]
            assert first.startswith("open ") and f" attr={kind}" in first, name
