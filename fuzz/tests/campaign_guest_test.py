# SPDX-License-Identifier: Apache-2.0
"""In a guest, the fuzzer of system calls detects a driver that disagrees with the errno model, and writes a repro.

It runs on a stock kernel and selects inputs by new answers, since a kernel with coverage takes long to build.
"""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from fuzz import campaign

pytestmark = [pytest.mark.guest, pytest.mark.nightly, pytest.mark.timeout(1800)]

RUNS = 20_000
LIMIT_S = 900
# With these parameters the driver has no branches and no records, but the model expects them.
OTHER = ("lbr=0", "records=0")


def request(folder: Path) -> campaign.Request:
    return campaign.Request(
        "refpmu", "6.12", LIMIT_S, RUNS, coverage=False, corpus=folder / "corpus"
    )


def test_fuzzer_detects_a_driver_that_disagrees_with_the_model(tmp_path: Path) -> None:
    asked = dataclasses.replace(request(tmp_path), parameters=OTHER)
    result = campaign.fuzz(asked, tmp_path / "findings")
    assert result.error == "" and len(result.findings) == 1
    found = result.findings[0]
    assert re.search(
        "the model says opens .*the kernel says (EOPNOTSUPP|ENOENT|EINVAL)$", found.said[0]
    )
    assert 0 < result.compared <= result.operations
    assert "pmuconf program for refpmu\n" in Path(found.log).read_text("utf-8")
    assert campaign.repro(asked, Path(found.input)) == 1
    assert campaign.repro(request(tmp_path), Path(found.input)) == 0
