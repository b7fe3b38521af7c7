# SPDX-License-Identifier: Apache-2.0
"""Which sources clang-tidy looks at when it does not look at all."""

from __future__ import annotations

import datetime
import time
from pathlib import Path

from checks import tidy

ROOT = Path("/tree")
DAY = datetime.date(2026, 11, 22)


def source(name: str, *headers: str) -> tidy.Source:
    files = [ROOT / each for each in (name, *headers)]
    return tidy.Source(ROOT / name, "tidy", files, ROOT / "stamp")


SOURCES = [source(f"{number}.cpp", "every.h", f"{number % 3}.h") for number in range(60)]


def test_the_shares_of_as_many_days_are_all_sources_once() -> None:
    days = [DAY + datetime.timedelta(days=each) for each in range(6)]
    shares = [tidy.chosen(ROOT, SOURCES, tidy.Share(6, day), set()) for day in days]
    assert all(0 < len(share) < len(SOURCES) for share in shares)
    paths = sorted(each.path for share in shares for each in share)
    assert paths == sorted(each.path for each in SOURCES)


NOTHING = tidy.Share(0, DAY)


def test_a_source_that_changed_of_late_is_looked_at() -> None:
    assert tidy.chosen(ROOT, SOURCES, NOTHING, {ROOT / "7.cpp"}) == [SOURCES[7]]


def test_a_header_that_changed_of_late_is_looked_at_by_one_source() -> None:
    late = {ROOT / "1.h", ROOT / "2.h"}
    found = tidy.chosen(ROOT, SOURCES, NOTHING, late)
    assert len(found) == 2
    assert late <= {file for each in found for file in each.files}


def test_when_time_is_short_what_changed_of_late_is_looked_at_and_the_share_is_not() -> None:
    late = {ROOT / "1.h", ROOT / "7.cpp"}
    must, others = tidy.parted(ROOT, SOURCES, tidy.Share(6, DAY), late)
    assert must == tidy.chosen(ROOT, SOURCES, NOTHING, late)
    assert others and not [each for each in others if each in must]
    assert tidy.lint(ROOT, SOURCES[0], time.monotonic() - 1) is None


def test_without_a_history_all_are_looked_at() -> None:
    assert tidy.chosen(ROOT, SOURCES, NOTHING, None) == SOURCES


def test_what_no_commit_has_yet_has_changed_of_late(tmp_path: Path) -> None:
    assert tidy.changed(tmp_path) is None
    late = tidy.changed(Path(__file__).parents[2])
    assert late
    assert all(path.is_absolute() for path in late)
