# SPDX-License-Identifier: Apache-2.0
"""A test for labgrid: runs the suite on a board that has the static program pmuconf.

    LG_CONSOLE=/dev/ttyUSB0 pytest --lg-env labgrid.yaml test_labgrid.py

PMUCONF is the path of the program on the board. PMUCONF_OPTIONS has the options of `pmuconf run`."""

import os
from typing import Any, NamedTuple

import pytest

PMUCONF = os.environ.get("PMUCONF", "/usr/local/bin/pmuconf")
OPTIONS = os.environ.get("PMUCONF_OPTIONS", "--pmu cpu")
RUN_S = 3600
"""A run of the whole catalogue takes minutes."""


class Run(NamedTuple):
    """A run on the board. A serial port is slow, so only these lines are read from it."""

    status: int
    """0: conformant, 1: not conformant, 2: not judged."""
    failed: list[str]
    """The lines of results.ktap about cases that failed, or that have no result."""
    end: list[str]
    """The last lines of the output: the verdict, or an error."""


@pytest.fixture(scope="module", name="run")
def fixture_run(target: Any) -> Run:
    """Runs the suite on the board."""
    shell = target.get_driver("CommandProtocol")
    (folder,) = shell.run_check("mktemp -d")
    command = f"{PMUCONF} run {OPTIONS} --out {folder} >{folder}/log 2>&1"
    _, _, status = shell.run(command, timeout=RUN_S)
    failed, _, _ = shell.run(f"grep -s '^not ok' {folder}/results.ktap")
    end = shell.run_check(f"tail -n 2 {folder}/log")
    shell.run_check(f"rm -r {folder}")
    return Run(status, failed, end)


def test_driver_is_conformant(run: Run) -> None:
    assert run.status == 0, "\n".join([*run.failed, *run.end])


def test_each_case_has_a_result(run: Run) -> None:
    assert not [line for line in run.failed if line.endswith(("# BROKEN", "# NOT_RUN"))]
