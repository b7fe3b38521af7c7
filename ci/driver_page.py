# SPDX-License-Identifier: Apache-2.0
"""The rules that each driver passed, by kernel: a page about the runs of a matrix.

`make matrix` writes it into the folder of its reports. This command writes the page of the documentation, which has no
row for each rule:
`python3 -m ci.driver_page docs/drivers.md build/matrix/*/results.json`.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import sys
import textwrap
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pmubase.errors import UserError
from vm import suite

ROOT = Path(__file__).resolve().parent.parent

WAIVERS = ROOT / "conformance" / "waivers"
OURS = "refpmu"
"""The module of this target also has variants of the driver, which the page omits. All other drivers are the kernel's."""
WORDS = {
    "PASSED": "passed",
    "WAIVED": "waived",
    "FAILED": "broken",
    "PARTIAL": "open",
    "INCOMPLETE": "open",
    "NOT_TESTED": "open",
    "NOT_APPLICABLE": "",
    "NOT_RUN": "other",
    "REVIEW": "other",
}
COLUMNS = 120
"""Length of a line of prose, which lint checks, too."""


@dataclass(frozen=True)
class Waiver:
    """An accepted known failure of a case."""

    id: str
    reason: str
    link: str


@dataclass(frozen=True)
class Column:
    """The results of one driver in one run."""

    target: str
    kernel: str
    """The release, followed by the architecture."""
    rules: dict[str, str]
    """The word for each rule. It is empty if the rule does not apply to the driver."""
    waived: dict[str, frozenset[str]]
    """The waivers of each rule's cases."""


def is_shown(target: str) -> bool:
    """Whether a target is one of the kernel's own drivers, or the reference driver."""
    try:
        return target == OURS or suite.find_target(target).module != OURS
    except UserError:
        return False


def read_waivers(folder: Path = WAIVERS) -> dict[str, Waiver]:
    """All waivers by id."""
    found = {}
    for path in sorted(folder.glob("*.toml")):
        for row in tomllib.loads(path.read_text(encoding="utf-8")).get("waiver", []):
            found[row["id"]] = Waiver(row["id"], row["reason"], row["link"])
    return found


def column(results: dict[str, Any]) -> Column:
    """The column for a results.json of the suite."""
    waived: dict[str, set[str]] = {}
    for case in results["cases"]:
        if case["result"] == "WAIVED":
            for rule in case["rules"]:
                waived.setdefault(rule, set()).add(case["waiver"]["id"])
    return Column(
        results["target"],
        f"{results['release']} {results['arch']}",
        {rule["id"]: WORDS[rule["result"]] for rule in results["rules"]},
        {rule: frozenset(ids) for rule, ids in waived.items()},
    )


def page(
    columns: Sequence[Column], waivers: dict[str, Waiver], folder: Path, by_rule: bool = True
) -> str:
    """The page as Markdown, with links relative to `folder`. `by_rule`: with the table of all rules."""
    columns = sorted(columns, key=lambda c: (c.target == OURS, c.target, c.kernel))
    lines = [
        "# Rules that each driver passed, by kernel",
        "",
        "- *passed*: every case of the rule that applies to this driver passed",
        "- *waived*: a case of the rule failed for a known cause. Such a case may verify several rules. The cause names",
        "  the rules that are broken, if any, and the driver, kernel or emulator that breaks them",
        "- *broken*: a case of the rule failed for an unknown cause",
        "- *open*: the run gave no result, or only a part of one",
        "- *other*: only KUnit, watch, fuzzers or reviews test the rule",
        "- empty: the rule does not apply to this driver or this kernel",
        "",
        *_table(
            ["driver", "kernel", "passed", "waived", "broken", "open", "other", "not applicable"],
            (
                [
                    c.target,
                    c.kernel,
                    *(
                        str(sum(word == wanted for word in c.rules.values()))
                        for wanted in ("passed", "waived", "broken", "open", "other", "")
                    ),
                ]
                for c in columns
            ),
        ),
        "",
        "## Waivers",
        "",
    ]
    used: dict[str, set[str]] = {}
    seen: dict[str, dict[str, set[str]]] = {}
    for c in columns:
        for rule, ids in c.waived.items():
            for one in ids:
                used.setdefault(one, set()).add(rule)
                seen.setdefault(one, {}).setdefault(c.kernel, set()).add(c.target)
    for one in sorted(used):
        known = waivers.get(one, Waiver(one, "the waiver no longer exists", ""))
        link = known.link if ":" in known.link else os.path.relpath(ROOT / known.link, folder)
        text = f"{one} ({', '.join(sorted(used[one]))}): {known.reason}. [Source]({link})"
        places = (
            f"Seen on {at} with {', '.join(sorted(seen[one][at]))}." for at in sorted(seen[one])
        )
        lines += _item(" ".join([text, *places]))
    if not by_rule:
        return "\n".join(lines)
    lines += [
        "",
        "## Rule by rule",
        "",
        "Each cell has the result of most runs of the driver, then the kernels with another result.",
        "",
    ]
    by_target: dict[str, list[Column]] = {}
    for c in columns:
        by_target.setdefault(c.target, []).append(c)
    rules = sorted({rule for c in columns for rule, word in c.rules.items() if word})
    lines += _table(
        ["rule", *by_target],
        ([rule, *(_word(rule, ones) for ones in by_target.values())] for rule in rules),
    )
    return "\n".join(lines)


def _word(rule: str, columns: Sequence[Column]) -> str:
    """The most frequent result of one driver, and the kernels with other results."""
    words = {c.kernel: c.rules.get(rule, "") for c in columns}
    usual = collections.Counter(words.values()).most_common(1)[0][0]
    others = [f"{word or 'not for it'} on {at}" for at, word in words.items() if word != usual]
    return "; ".join([usual or "not applicable", *others]) if others else usual


def _item(text: str) -> list[str]:
    """An item of a list, in lines of COLUMNS characters. A link stays in one line."""
    return textwrap.wrap(
        text,
        COLUMNS,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    every = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(row)} |" for row in every]


def page_of_reports(reports: Iterable[Path], folder: Path, by_rule: bool = True) -> str:
    """The page for the existing files of `reports`, without profiles and hidden targets. Links are relative to
    `folder`."""
    columns = []
    for path in reports:
        if path.is_file():
            results = json.loads(path.read_text(encoding="utf-8"))
            if is_shown(results["target"]) and not results["profile"]:
                columns.append(column(results))
    return page(columns, read_waivers(), folder, by_rule)


def main(arguments: Sequence[str]) -> int:
    """Writes the page."""
    parser = argparse.ArgumentParser(
        prog="python3 -m ci.driver_page",
        description="The rules that each driver passed, by kernel.",
    )
    parser.add_argument("page", type=Path, help="the file to write")
    parser.add_argument("results", type=Path, nargs="+", help="results.json of a run of the suite")
    options = parser.parse_args(arguments)
    options.page.write_text(
        page_of_reports(options.results, options.page.resolve().parent, by_rule=False) + "\n",
        "utf-8",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
