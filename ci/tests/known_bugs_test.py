# SPDX-License-Identifier: Apache-2.0
"""A bug of the kernel and its section in docs/findings.md have the same versions and commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.checks import known_bugs

SECTION = """## The core

### A count is lost

- Waiver: CORE-1. Linux 6.16 to 6.17.7; fixed in 6.17.8 and 6.18 by 0123456789ab.

### Another one
"""
WAIVER = """[[waiver]]
id = "CORE-1"
link = "docs/findings.md#a-count-is-lost"
[waiver.kernel]
since = ["6.16"]
fixed = ["6.17.8", "6.18"]
fix = '0123456789ab ("perf: count")'
"""


@pytest.mark.parametrize(
    ("old", "new", "wrong"),
    [
        ("", "", ""),
        ('"6.17.8"', '"6.17.9"', "does not name 6.17.9"),
        ('"6.16"', '"6.15"', "does not name 6.15"),
        ("0123456789ab", "ba9876543210", "does not name ba9876543210"),
        ("CORE-1", "CORE-2", "does not name CORE-2"),
        ("0123456789ab (", "(", "does not name perf: count"),
        ("a-count", "no-count", "no section docs/findings.md#no-count-is-lost"),
        ("[waiver.kernel]", "[waiver.scope]", ""),
    ],
)
def test_section_names_versions_and_commits(tmp_path: Path, old: str, new: str, wrong: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/findings.md").write_text(SECTION, encoding="utf-8")
    folder = tmp_path / known_bugs.WAIVERS
    folder.mkdir(parents=True)
    (folder / "core.toml").write_text(WAIVER.replace(old, new, 1) if old else WAIVER, "utf-8")
    found = known_bugs.findings(tmp_path)
    assert len(found) == bool(wrong)
    assert all(wrong in line for line in found)
