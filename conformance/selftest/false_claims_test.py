# SPDX-License-Identifier: Apache-2.0
"""Each false claim in a target file fails a case.

Each kernel runs all of them in one guest. For each claim, only the cases run that docs/targets.md names for it.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator

import pytest

from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

DEADLINE_S = 120


@dataclasses.dataclass(frozen=True)
class FalseClaim:
    """A change that makes a target file false, and the case that must fail."""

    name: str
    edits: tuple[tuple[str, str], ...]
    """Regular expressions with their replacements. Each must match."""
    cases: str
    """Glob of the cases to run."""
    fails: str
    """The selected case that must FAIL."""
    target: str = "refpmu"

    def text(self) -> str:
        """The text of the false target file."""
        text = (suite.TARGETS / f"{self.target}.toml").read_text("utf-8")
        for pattern, instead in self.edits:
            text, changes = re.subn(pattern, instead, text, flags=re.M)
            assert changes, f"{self.name}: nothing like {pattern}"
        return text


def of_event(name: str, key: str, value: str) -> tuple[str, str]:
    """Replaces the value of an event's key."""
    return rf'(name = "{name}".*(?:\n.+)*?\n{key} = ).*', rf"\g<1>{value}"


def without(name: str, key: str) -> tuple[str, str]:
    """Removes a key of an event."""
    return rf'(name = "{name}".*(?:\n.+)*?)\n{key} = .*', r"\g<1>"


def also(name: str, line: str) -> tuple[str, str]:
    """Adds a line to an event."""
    return rf'(name = "{name}".*)', rf"\g<1>\n{line}"


NO_SAMPLING = r"\[sampling\]\n(?:\w.*\n)+"
FALSE_CLAIMS = (
    FalseClaim(
        "counters-too-many",
        (("general = 4", "general = 5"),),
        "Group.*",
        "Group.FullGroupCountsInEveryOrder",
    ),
    FalseClaim(
        "counters-too-few",
        (
            ("general = 4", "general = 3"),
            of_event("pulse_d", "counters", '"2"'),
        ),
        "Group.*",
        "Group.OneMemberMoreIsRefused",
    ),
    FalseClaim(
        "fixed-too-few",
        (("fixed = 3", "fixed = 2"), of_event("ref-cycles", "counters", '"all"')),
        "Group.*",
        "Group.OneMemberMoreIsRefused",
    ),
    FalseClaim(
        "width-too-small",
        (("width = 48", "width = 40"),),
        "Counting.Wrap*",
        "Counting.WrapIsExactWithPromptInterrupt",
    ),
    FalseClaim(
        "width-too-large",
        (("width = 48", "width = 56"),),
        "Counting.Wrap*",
        "Counting.WrapIsExactWhenStoppedBeforeTheInterrupt",
    ),
    FalseClaim(
        "no-sampling",
        ((NO_SAMPLING, ""), (r"\[refusals\](.*)\n", '[refusals]\nsampling = "EOPNOTSUPP"\n')),
        "Claims.*",
        "Claims.SamplingThatIsNotClaimedIsRefused",
    ),
    FalseClaim(
        "no-excludes",
        (("excludes = true", "excludes = false"),),
        "Claims.*",
        "Claims.ExcludesThatAreNotClaimedAreRefused",
    ),
    FalseClaim(
        "min-period-too-large",
        (("min_period = 1", "min_period = 16"),),
        "Control.*",
        "Control.BadPeriodsAreRefusedAndTheOldOneStays",
    ),
    FalseClaim(
        "precise-too-low",
        (("precise = 3", "precise = 2"),),
        "[IP]*.*Preci*",
        "Init.PrecisionBeyondThePmuIsRefused",
    ),
    FalseClaim(
        "no-precise",
        (("precise = 3", "precise = 0"),),
        "[IP]*.*Preci*",
        "Init.PrecisionBeyondThePmuIsRefused",
    ),
    FalseClaim(
        "branches-too-few",
        (("branches = 32", "branches = 16"),),
        "BranchStack.*",
        "BranchStack.DepthEqualsHardwareDepth",
    ),
    FalseClaim(
        "branches-too-many",
        (("branches = 32", "branches = 64"),),
        "BranchStack.*",
        "BranchStack.DepthEqualsHardwareDepth",
    ),
    FalseClaim(
        "no-branches",
        (("branches = 32", "branches = 0"),),
        "Init.Branch*",
        "Init.BranchStackIsRefusedWithoutBranches",
    ),
    FalseClaim(
        "event-on-too-many-counters",
        (of_event("pulse_c", "counters", '"all"'),),
        "Claims.*",
        "Claims.GroupFitsAsManyEventsAsCounters",
    ),
    FalseClaim(
        "event-on-too-few-counters",
        (of_event("pulse_b", "counters", '"0-1"'),),
        "Claims.*",
        "Claims.GroupFitsAsManyEventsAsCounters",
    ),
    FalseClaim(
        "event-that-is-not-wide",
        (without("wide", "wide"),),
        "Group.*",
        "Group.ConstrainedMembersFitInEveryPermutation",
    ),
    FalseClaim(
        "generic-that-is-not",
        (also("pulse_b", 'generic = "bus-cycles"'), without("bus-cycles", "generic")),
        "Init.Generic*",
        "Init.GenericEventsMatchClaims",
    ),
    FalseClaim(
        "generic-not-claimed",
        (without("cache-misses", "generic"),),
        "Init.Generic*",
        "Init.GenericEventsMatchClaims",
    ),
    FalseClaim(
        "cache-event-not-claimed",
        ((r'\[\[cache\]\]\nname = "L1I read miss"\n(?:\w.*\n)+', ""),),
        "Init.Cache*",
        "Init.CacheEventsMatchClaims",
    ),
    FalseClaim(
        "cache-event-that-is-not",
        (('name = "L1I read miss"', 'name = "L1I read access"'),),
        "Init.Cache*",
        "Init.CacheEventsMatchClaims",
    ),
    FalseClaim(
        "latency",
        (of_event("mem-loads", "latency", "2"),),
        "Counting.Wrap*",
        "Counting.WrapIsExactWithPromptInterrupt",
    ),
    FalseClaim(
        "response",
        (of_event("offcore-reads", "response", "0x40002"),),
        "Counting.Wrap*",
        "Counting.WrapIsExactWithPromptInterrupt",
    ),
    FalseClaim(
        "uncore-counters",
        (("general = 4", "general = 5"),),
        "Uncore.Group*",
        "Uncore.GroupBeyondTheCountersIsRefused",
        "refpmu_uncore",
    ),
    FalseClaim(
        "uncore-width-too-small",
        (("width = 32", "width = 24"),),
        "Uncore.*Wide*",
        "Uncore.CountersAreAsWideAsClaimed",
        "refpmu_uncore",
    ),
    FalseClaim(
        "uncore-width-too-large",
        (("width = 32", "width = 40"),),
        "Uncore.*Wide*",
        "Uncore.CountersAreAsWideAsClaimed",
        "refpmu_uncore",
    ),
    FalseClaim(
        "uncore-refusal-of-sampling",
        (('sampling = "EOPNOTSUPP"', 'sampling = "EINVAL"'),),
        "Uncore.*Refused*",
        "Uncore.SamplingIsRefused",
        "refpmu_uncore",
    ),
    FalseClaim(
        "uncore-refusal-of-tasks",
        (('task = "EINVAL"', 'task = "EOPNOTSUPP"'),),
        "Uncore.*Refused*",
        "Uncore.TaskEventsAreRefused",
        "refpmu_uncore",
    ),
)


BY_NAME = {claim.name: claim for claim in FALSE_CLAIMS}
DAILY = ("counters-too-many", "width-too-small", "no-sampling", "no-excludes")
"""The other claims run in make nightly."""


@pytest.fixture(scope="module", params=nightly_params.stock_kernels("false-claims"))
def vm(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[guest.Guest]:
    """A guest with the driver and the false target files."""
    folder = tmp_path_factory.mktemp("false-claims")
    files: dict[str, pathlib.Path] = {}
    for claim in FALSE_CLAIMS:
        path = folder / f"{claim.name}.toml"
        path.write_text(claim.text(), encoding="utf-8")
        files[f"false-claims/{claim.name}.toml"] = path
    machine = runs.machine(kernel.find(request.param), suite.find_target("refpmu"), files=files)
    with guest.Guest(machine) as running:
        running.boot()
        running.load("refpmu.ko", ["uncore_scope=0"])
        yield running


@pytest.mark.parametrize(
    "claim", nightly_params.choose([claim.name for claim in FALSE_CLAIMS], *DAILY)
)
def test_false_claim_fails_its_case(vm: guest.Guest, claim: str) -> None:
    false = BY_NAME[claim]
    words = ["pmuconf", "run", "--target", f"/false-claims/{claim}.toml", "--case", false.cases]
    done = vm.exec(words, DEADLINE_S)
    assert f"FAIL  {false.fails}" in done.stdout, done.stdout[-3000:] + done.stderr
    assert done.status == 1 and "NOT CONFORMANT" in done.stdout
