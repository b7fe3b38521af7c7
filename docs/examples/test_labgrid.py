# SPDX-License-Identifier: Apache-2.0
"""A test for labgrid: runs the suite on a board that has the static program pmuconf.

    LG_CONSOLE=/dev/ttyUSB0 pytest --lg-env labgrid.yaml test_labgrid.py

PMUCONF is the path of the program on the board. PMUCONF_OPTIONS has the options of `pmuconf run`."""

import json
import os
from typing import Any

import pytest

PMUCONF = os.environ.get("PMUCONF", "/usr/local/bin/pmuconf")
OPTIONS = os.environ.get("PMUCONF_OPTIONS", "--pmu cpu")
RUN_S = 3600
"""A run of the whole catalogue takes minutes."""


@pytest.fixture(scope="module", name="results")
def fixture_results(target: Any) -> dict[str, Any]:
    """The results of a run on the board."""
    shell = target.get_driver("CommandProtocol")
    (folder,) = shell.run_check("mktemp -d")
    shell.run(f"{PMUCONF} run {OPTIONS} --out {folder} >/dev/null", timeout=RUN_S)
    lines = shell.run_check(f"cat {folder}/results.json")
    shell.run_check(f"rm -r {folder}")
    found = json.loads("\n".join(lines))
    assert isinstance(found, dict)
    return found


def test_driver_is_conformant(results: dict[str, Any]) -> None:
    if results["verdict"] == "NOT_JUDGED":
        pytest.skip(results["reason"])
    assert results["verdict"] in ("CONFORMANT", "PARTIAL"), results["reason"]


def test_each_case_has_an_answer(results: dict[str, Any]) -> None:
    open_cases = [
        case["id"] for case in results["cases"] if case["result"] in ("BROKEN", "NOT_RUN")
    ]
    assert not open_cases
