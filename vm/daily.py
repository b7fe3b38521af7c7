# SPDX-License-Identifier: Apache-2.0
"""Parameters of tests that cost much: one is for each day, all others are for the night."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

from pmuvm import kernel


def kernels(group: str = "") -> list[ParameterSet]:
    """The stock kernels: the last one is for each day. With `group`, a process has all tests of a kernel."""
    *_, daily = kernel.known()
    return [
        pytest.param(
            name,
            marks=[
                *([pytest.mark.xdist_group(f"{group}-{name}")] if group else []),
                *([] if name == daily else [pytest.mark.nightly]),
            ],
        )
        for name in kernel.known()
    ]


def some(every: Iterable[str], *daily: str) -> list[ParameterSet]:
    """Names of which only `daily` are for each day; KeyError if one of these is not there."""
    names = list(every)
    if missing := set(daily) - set(names):
        raise KeyError(f"not there: {missing}")
    return [
        pytest.param(name, marks=[] if name in daily else pytest.mark.nightly) for name in names
    ]
