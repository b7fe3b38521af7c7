# SPDX-License-Identifier: Apache-2.0
"""A program is found by its version, and its absence is a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import programs
from vm.testing.stubs import write_script


@pytest.fixture(autouse=True)
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, number in (("tidy", "14.0.6"), ("tidy-22", "22.1.8"), ("tidy-diff", "30.0")):
        write_script(tmp_path, name, f"echo 'Some version {number}'")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    programs.find.cache_clear()


def test_newest_fitting_version_is_found(tmp_path: Path) -> None:
    assert programs.find("tidy", 14) == str(tmp_path / "tidy-22")
    assert programs.find("tidy", 14, 14) == str(tmp_path / "tidy")


def test_version_that_does_not_fit_is_a_reason() -> None:
    with pytest.raises(
        programs.NotFitting, match="^tidy 23 or later is needed; this machine has 14, 22$"
    ):
        programs.find("tidy", 23)
    with pytest.raises(programs.NotFitting, match="^none 9 is needed; this machine has none$"):
        programs.find("none", 9, 9)
