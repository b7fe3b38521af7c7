# SPDX-License-Identifier: Apache-2.0
"""A fault counts as visible in the source only if the review reports it, and did not report it before."""

from __future__ import annotations

from ci import visible_faults
from faults.fault import Fault


def fault(kind: str, name: str) -> Fault:
    (found,) = (f for f in visible_faults.faults_of([kind]) if f.name.startswith(name))
    return found


def test_fault_that_adds_a_finding_is_found_with_its_check() -> None:
    state, checks = visible_faults.judge(fault("driver", "M16-2-"), {})
    assert state == visible_faults.FOUND and "refuse-sampling" in checks


def test_fault_of_a_kernel_without_a_tree_is_hidden() -> None:
    first = next(visible_faults.faults_of(["kernel"]))
    assert visible_faults.judge(first, {}) == (visible_faults.HIDDEN, "")
