# SPDX-License-Identifier: Apache-2.0
"""A condition on the kernel's version in a case is reported, unless it is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import versions

CASE = "conformance/cases/abi/toy_test.cpp"


def write(root: Path, text: str) -> None:
    """Writes the case."""
    path = root / CASE
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("EXPECT_EQ(error, DeadLeaderErrno());", False),
        ('CONFORMANCE_CASE(Toy, Rolls, .rules = {}, .kernels = ">=6.12") {', True),
        ('if (KernelMatches(">=6.12", release)) return;', True),
        ("const std::string release = KernelRelease();", True),
        ("utsname names = {};", True),
        ('{"check", "<6.12", EINVAL},', True),
        ('// Before ">=6.12" the kernel did not.', False),
    ],
)
def test_condition_is_reported(tmp_path: Path, text: str, wrong: bool) -> None:
    write(tmp_path, text)
    found = versions.findings(tmp_path, {})
    assert [line.partition(":")[0] for line in found] == [CASE] * wrong


def test_allowed_condition_is_counted(tmp_path: Path) -> None:
    write(tmp_path, "utsname names = {};")
    assert not versions.findings(tmp_path, {CASE: (1, "a report prints it")})
    assert "not 2" in versions.findings(tmp_path, {CASE: (2, "a report prints it")})[0]
