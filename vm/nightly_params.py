# SPDX-License-Identifier: Apache-2.0
"""Parameters of tests that cost much: one is for each day, all others are for the night."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

from pmuvm import kernel


def stock_kernels(group: str = "") -> list[ParameterSet]:
    """The stock kernels: the last one is for each day. With `group`, a process has all tests of a kernel."""
    *_, in_check = kernel.known()
    return [
        pytest.param(
            name,
            marks=[
                *([pytest.mark.xdist_group(f"{group}-{name}")] if group else []),
                *([] if name == in_check else [pytest.mark.nightly]),
            ],
        )
        for name in kernel.known()
    ]


def choose(every: Iterable[str], *in_check: str) -> list[ParameterSet]:
    """Names of which only `daily` are for each day; KeyError if one of these is not there."""
    names = list(every)
    if missing := set(in_check) - set(names):
        raise KeyError(f"unknown names: {missing}")
    return [
        pytest.param(name, marks=[] if name in in_check else pytest.mark.nightly) for name in names
    ]
