# SPDX-License-Identifier: Apache-2.0
"""Each false claim in a target file, of faults/target, fails a case.

Each kernel runs all of them in one guest. For each claim, only the cases run that docs/targets.md names for it.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator

import pytest

from faults import fault as fault_file
from faults.fault import Fault
from vm import guest, kernel, runs, suite
from vm.testing import nightly_params

pytestmark = pytest.mark.guest

DEADLINE_S = 120


def text_of(claim: Fault) -> str:
    """The text of the false target file."""
    text = (suite.TARGETS / f"{claim.targets[0]}.toml").read_text("utf-8")
    for pattern, instead in claim.edits:
        text, changes = re.subn(pattern, instead, text, flags=re.M)
        assert changes, f"{claim.id}: nothing like {pattern}"
    return text


FALSE_CLAIMS = [fault for fault in fault_file.read_all() if fault.breaks == fault_file.TARGET]
BY_NAME = {claim.id: claim for claim in FALSE_CLAIMS}
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
        path = folder / f"{claim.id}.toml"
        path.write_text(text_of(claim), encoding="utf-8")
        files[f"false-claims/{claim.id}.toml"] = path
    machine = runs.machine(kernel.find(request.param), suite.find_target("refpmu"), files=files)
    with guest.Guest(machine) as running:
        running.boot()
        running.load("refpmu.ko", ["uncore_scope=0"])
        yield running


@pytest.mark.parametrize(
    "claim", nightly_params.choose([claim.id for claim in FALSE_CLAIMS], *DAILY)
)
def test_false_claim_fails_its_case(vm: guest.Guest, claim: str) -> None:
    false = BY_NAME[claim]
    words = ["pmuconf", "run", "--target", f"/false-claims/{claim}.toml", "--case", false.run]
    done = vm.exec(words, DEADLINE_S)
    assert f"FAIL  {false.cases[0]}" in done.stdout, done.stdout[-3000:] + done.stderr
    assert done.status == 1 and "NOT CONFORMANT" in done.stdout
