# SPDX-License-Identifier: Apache-2.0
# untraced: review pmubase ci/intree.py vm
"""The checks keep their precision and recall on the drivers of Linux."""

from __future__ import annotations

import json

import pytest

from ci import intree
from pmubase import store
from review import corpus

pytestmark = [pytest.mark.nightly]
PRECISION, RECALL = 95, 90


@pytest.mark.parametrize("series", ["6.1", "6.12"])
def test_checks_meet_their_goals_on_the_drivers_of(
    series: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = store.cache()
    with store.writing(cache), store.locked(cache / "intree" / f"{series}.lock"):
        tree = intree.unpack_once(series, cache)
    assert corpus.main(["--tree", f"{series}={tree}", "--differences"]) == 0
    out = capsys.readouterr().out
    (total,) = (line for line in out.splitlines() if line.startswith("all: "))
    found = json.loads(total.removeprefix("all: "))
    assert found["labelled"] > 50, out
    assert found["precision"] >= PRECISION and found["recall"] >= RECALL, out
