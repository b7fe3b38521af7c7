# SPDX-License-Identifier: Apache-2.0
"""A target file that claims what is not so does not get through: each false claim fails a case.

All of them in one guest a kernel; of each only the cases that docs/targets.md says check the claim.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator

import pytest

import daily
from pmuvm import guest, kernel, runs, suite

pytestmark = pytest.mark.guest

DEADLINE_S = 120


@dataclasses.dataclass(frozen=True)
class Lie:
    """A change to a target file that makes it untrue, and the case that has to say so."""

    name: str
    edits: tuple[tuple[str, str], ...]
    """Regular expressions and what stands there instead; each must change something."""
    cases: str
    """Glob of the cases to run."""
    fails: str
    """One of them that must FAIL."""
    target: str = "refpmu"

    def text(self) -> str:
        """The file that lies."""
        text = (suite.TARGETS / f"{self.target}.toml").read_text("utf-8")
        for pattern, instead in self.edits:
            text, changes = re.subn(pattern, instead, text, flags=re.M)
            assert changes, f"{self.name}: nothing like {pattern}"
        return text


def of_event(name: str, key: str, value: str) -> tuple[str, str]:
    """Another value of a key that an event has."""
    return rf'(name = "{name}".*(?:\n.+)*?\n{key} = ).*', rf"\g<1>{value}"


def without(name: str, key: str) -> tuple[str, str]:
    """A key that an event has no longer."""
    return rf'(name = "{name}".*(?:\n.+)*?)\n{key} = .*', r"\g<1>"


def also(name: str, line: str) -> tuple[str, str]:
    """A line more in an event."""
    return rf'(name = "{name}".*)', rf"\g<1>\n{line}"


NO_SAMPLING = r"\[sampling\]\n(?:\w.*\n)+"
LIES = (
    Lie(
        "counters-too-many",
        (("general = 4", "general = 5"),),
        "Group.*",
        "Group.FullGroupCountsInEveryOrder",
    ),
    Lie(
        "counters-too-few",
        (
            ("general = 4", "general = 3"),
            of_event("pulse_d", "counters", '"2"'),
        ),
        "Group.*",
        "Group.OneMemberMoreIsRefused",
    ),
    Lie(
        "fixed-too-few",
        (("fixed = 3", "fixed = 2"), of_event("ref-cycles", "counters", '"all"')),
        "Group.*",
        "Group.OneMemberMoreIsRefused",
    ),
    Lie(
        "width-too-small",
        (("width = 48", "width = 40"),),
        "Counting.Wrap*",
        "Counting.WrapIsExactWithPromptInterrupt",
    ),
    Lie(
        "width-too-large",
        (("width = 48", "width = 56"),),
        "Counting.Wrap*",
        "Counting.WrapIsExactWhenStoppedBeforeTheInterrupt",
    ),
    Lie(
        "no-sampling",
        ((NO_SAMPLING, ""), (r"\[refusals\](.*)\n", '[refusals]\nsampling = "EOPNOTSUPP"\n')),
        "Claims.*",
        "Claims.SamplingThatIsNotClaimedIsRefused",
    ),
    Lie(
        "no-excludes",
        (("excludes = true", "excludes = false"),),
        "Claims.*",
        "Claims.ExcludesThatAreNotClaimedAreRefused",
    ),
    Lie(
        "min-period-too-large",
        (("min_period = 1", "min_period = 16"),),
        "Control.*",
        "Control.BadPeriodsAreRefusedAndTheOldOneStays",
    ),
    Lie(
        "precise-too-low",
        (("precise = 3", "precise = 2"),),
        "[IP]*.*Preci*",
        "Init.PrecisionBeyondThePmuIsRefused",
    ),
    Lie(
        "no-precise",
        (("precise = 3", "precise = 0"),),
        "[IP]*.*Preci*",
        "Init.PrecisionBeyondThePmuIsRefused",
    ),
    Lie(
        "branches-too-few",
        (("branches = 32", "branches = 16"),),
        "BranchStack.*",
        "BranchStack.DepthEqualsHardwareDepth",
    ),
    Lie(
        "branches-too-many",
        (("branches = 32", "branches = 64"),),
        "BranchStack.*",
        "BranchStack.DepthEqualsHardwareDepth",
    ),
    Lie(
        "no-branches",
        (("branches = 32", "branches = 0"),),
        "Init.Branch*",
        "Init.BranchStackIsRefusedWithoutBranches",
    ),
    Lie(
        "event-on-too-many-counters",
        (of_event("pulse_c", "counters", '"all"'),),
        "Claims.*",
        "Claims.GroupFitsAsManyEventsAsCounters",
    ),
    Lie(
        "event-on-too-few-counters",
        (of_event("pulse_b", "counters", '"0-1"'),),
        "Claims.*",
        "Claims.GroupFitsAsManyEventsAsCounters",
    ),
    Lie(
        "event-that-is-not-wide",
        (without("wide", "wide"),),
        "Group.*",
        "Group.ConstrainedMembersFitInEveryPermutation",
    ),
    Lie(
        "generic-that-is-not",
        (also("pulse_b", 'generic = "bus-cycles"'), without("bus-cycles", "generic")),
        "Init.Generic*",
        "Init.GenericEventsMatchClaims",
    ),
    Lie(
        "generic-not-claimed",
        (without("cache-misses", "generic"),),
        "Init.Generic*",
        "Init.GenericEventsMatchClaims",
    ),
    Lie(
        "cache-event-not-claimed",
        ((r'\[\[cache\]\]\nname = "L1I read miss"\n(?:\w.*\n)+', ""),),
        "Init.Cache*",
        "Init.CacheEventsMatchClaims",
    ),
    Lie(
        "cache-event-that-is-not",
        (('name = "L1I read miss"', 'name = "L1I read access"'),),
        "Init.Cache*",
        "Init.CacheEventsMatchClaims",
    ),
    Lie(
        "latency",
        (of_event("mem-loads", "latency", "2"),),
        "Counting.Wrap*",
        "Counting.WrapIsExactWithPromptInterrupt",
    ),
    Lie(
        "response",
        (of_event("offcore-reads", "response", "0x40002"),),
        "Counting.Wrap*",
        "Counting.WrapIsExactWithPromptInterrupt",
    ),
    Lie(
        "uncore-counters",
        (("general = 4", "general = 5"),),
        "Uncore.Group*",
        "Uncore.GroupBeyondTheCountersIsRefused",
        "refpmu_uncore",
    ),
    Lie(
        "uncore-width-too-small",
        (("width = 32", "width = 24"),),
        "Uncore.*Wide*",
        "Uncore.CountersAreAsWideAsClaimed",
        "refpmu_uncore",
    ),
    Lie(
        "uncore-width-too-large",
        (("width = 32", "width = 40"),),
        "Uncore.*Wide*",
        "Uncore.CountersAreAsWideAsClaimed",
        "refpmu_uncore",
    ),
    Lie(
        "uncore-refusal-of-sampling",
        (('sampling = "EOPNOTSUPP"', 'sampling = "EINVAL"'),),
        "Uncore.*Refused*",
        "Uncore.SamplingIsRefused",
        "refpmu_uncore",
    ),
    Lie(
        "uncore-refusal-of-tasks",
        (('task = "EINVAL"', 'task = "EOPNOTSUPP"'),),
        "Uncore.*Refused*",
        "Uncore.TaskEventsAreRefused",
        "refpmu_uncore",
    ),
)


FALSE = {lie.name: lie for lie in LIES}
DAILY = ("counters-too-many", "width-too-small", "no-sampling", "no-excludes")
"""The others are told at night."""


@pytest.fixture(scope="module", params=daily.kernels("lies"))
def vm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[guest.Guest]:
    """A guest with the driver and the files that lie."""
    folder = tmp_path_factory.mktemp("lies")
    files: dict[str, pathlib.Path] = {}
    for lie in LIES:
        path = folder / f"{lie.name}.toml"
        path.write_text(lie.text(), encoding="utf-8")
        files[f"lies/{lie.name}.toml"] = path
    machine = runs.machine(kernel.find(request.param), suite.find_target("refpmu"), files=files)
    with guest.Guest(machine) as running:
        running.boot()
        running.load("refpmu.ko", ["uncore_scope=0"])
        yield running


@pytest.mark.parametrize("lie", daily.some([lie.name for lie in LIES], *DAILY))
def test_a_false_claim_fails_the_case_that_checks_it(vm: guest.Guest, lie: str) -> None:
    false = FALSE[lie]
    words = ["pmuconf", "run", "--target", f"/lies/{lie}.toml", "--case", false.cases]
    done = vm.exec(words, DEADLINE_S)
    assert f"FAIL  {false.fails}" in done.stdout, done.stdout[-3000:] + done.stderr
    assert done.status == 1 and "NOT CONFORMANT" in done.stdout
