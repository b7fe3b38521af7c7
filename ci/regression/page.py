# SPDX-License-Identifier: Apache-2.0
"""The list of all regressions for docs/regressions.md: caught, missed, not judged yet, and the bugs without a patch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from faults import regression_file, verdicts
from faults.regression_file import Regression, Unplanted
from faults.verdicts import CAUGHT, MISSED, Stored

PAGE = Path("docs/regressions.md")
MARK = "<!-- The rest of this page is generated: python3 -m ci.regression_page -->"
COMMITS = "https://git.kernel.org/linus"
LISTED = 229
"""The number of known bugs of drivers, from which the regressions started: B001 to B229."""
Row = tuple[str, ...]


def listed() -> list[str]:
    """The ids of the known bugs."""
    return [f"B{number:03}" for number in range(1, LISTED + 1)]


def generated(root: Path) -> str:
    """The generated part of the page, with the mark. Malformed files are left out: lint reports them."""
    folder = root / regression_file.FOLDER
    found, _ = regression_file.collect(folder)
    absent, _ = regression_file.unplanted(folder)
    return f"{MARK}\n\n{list_of(found, absent, verdicts.read(folder), root)}"


def replaced(text: str, part: str) -> str:
    """The text of the page with a new generated part."""
    return text.partition(MARK)[0] + part


def list_of(
    regressions: Sequence[Regression],
    absent: Sequence[Unplanted],
    stored: Mapping[tuple[str, str], Stored],
    root: Path,
) -> str:
    """The list as Markdown, with links relative to the page."""
    ordered = sorted(regressions, key=lambda one: (one.id, one.path))
    lines = _figures(ordered, absent, stored)
    lines += _section(
        "Caught",
        ("bug", "fix", "kernels", "rule", "case", "target"),
        _caught(ordered, stored, root),
    )
    lines += _section("Missed", ("bug", "fix", "kernels", "why"), _missed(ordered, stored, root))
    lines += _section(
        "Not judged yet",
        ("bug", "fix", "kernels", "targets"),
        _open(ordered, stored, root),
    )
    for status in regression_file.STATUSES:
        rows = [(bug.id, bug.reason) for bug in absent if bug.status == status]
        lines += _section(status.capitalize(), ("bug", "why"), rows)
    return "\n".join(lines).rstrip() + "\n"


def _figures(
    regressions: Sequence[Regression],
    absent: Sequence[Unplanted],
    stored: Mapping[tuple[str, str], Stored],
) -> list[str]:
    """The counts, by kernel."""
    planted = {one.bug for one in regressions}
    known = sorted(set(listed()) & planted)
    rows = []
    for series in sorted({name for one in regressions for name in one.kernels}, key=_number):
        own = {one.id for one in regressions if series in one.kernels}
        found = [stored[(name, series)].result for name in own if (name, series) in stored]
        numbers = (len(own), found.count(CAUGHT), found.count(MISSED), len(own) - len(found))
        rows.append((series, *map(str, numbers)))
    ids = {one.id for one in regressions}
    facts = [
        f"regressions: {len(ids)}, for {len(planted)} bugs",
        f"of the {LISTED} known bugs, these have a regression: {len(known)}",
    ]
    for status in regression_file.STATUSES:
        facts.append(f"{status}: {sum(bug.status == status for bug in absent)} bugs")
    return ["## Figures", "", *(f"- {fact}" for fact in facts), ""] + _table(
        ("kernel", "regressions", "caught", "missed", "not judged yet"), rows
    )


def _caught(
    regressions: Iterable[Regression], stored: Mapping[tuple[str, str], Stored], root: Path
) -> list[Row]:
    rows = []
    for one in regressions:
        same: dict[Row, list[str]] = {}
        for series in one.kernels:
            done = stored.get((one.id, series))
            if done is not None and done.result == CAUGHT:
                case = f"`{done.case}`" if done.case[:1].isalpha() else done.case
                same.setdefault((done.rule, case, f"`{done.target}`"), []).append(series)
        rows += [(*_head(one, root), _kernels(names), *cells) for cells, names in same.items()]
    return rows


def _missed(
    regressions: Iterable[Regression], stored: Mapping[tuple[str, str], Stored], root: Path
) -> list[Row]:
    rows = []
    for one in regressions:
        keys = [(one.id, series) for series in one.kernels]
        names = [key[1] for key in keys if key in stored and stored[key].result == MISSED]
        if names:
            rows.append((*_head(one, root), _kernels(names), one.missed or "no reason yet"))
    return rows


def _open(
    regressions: Iterable[Regression], stored: Mapping[tuple[str, str], Stored], root: Path
) -> list[Row]:
    rows = []
    for one in regressions:
        names = [series for series in one.kernels if (one.id, series) not in stored]
        if names:
            targets = ", ".join(f"`{name}`" for name in one.targets)
            rows.append((*_head(one, root), _kernels(names), targets))
    return rows


def _head(one: Regression, root: Path) -> Row:
    """The cells of the bug and of its fix, with links."""
    link = os.path.relpath(one.path, root / PAGE.parent)
    subject = one.subject.replace("|", "/").replace("`", "'")
    fix = f"[`{subject}`]({COMMITS}/{one.commit})" if one.commit else f"`{subject}`"
    return f"[{one.id}]({link})", fix


def _kernels(names: Iterable[str]) -> str:
    return ", ".join(sorted(names, key=_number))


def _number(series: str) -> list[int]:
    return [int(part) for part in series.split(".")]


def _section(title: str, head: Row, rows: Sequence[Row]) -> list[str]:
    return [f"## {title}", "", *(_table(head, rows) if rows else ["None.", ""])]


def _table(head: Row, rows: Iterable[Row]) -> list[str]:
    every = [head, ("---",) * len(head), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in every), ""]
