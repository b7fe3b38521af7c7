# SPDX-License-Identifier: Apache-2.0
"""Parameters of slow tests: one value runs in make check, the others only in make nightly."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet

from vm import kernel


def stock_kernels(group: str = "") -> list[ParameterSet]:
    """The stock kernels. Only the last one runs in make check. With `group`, one process runs all tests of a kernel."""
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
    """The names, of which only `in_check` run in make check. KeyError if one of these is unknown."""
    names = list(every)
    if missing := set(in_check) - set(names):
        raise KeyError(f"unknown names: {missing}")
    return [
        pytest.param(name, marks=[] if name in in_check else pytest.mark.nightly) for name in names
    ]
