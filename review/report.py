# SPDX-License-Identifier: Apache-2.0
"""Prints findings: as lines, as JSON of the project, and as SARIF for code hosts."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pmubase import toml_file

from .view import BREACH, CANNOT_TELL, SUSPECT, VERDICTS, Finding

TABLE = Path(__file__).with_name("checks.toml")
LEVELS = {BREACH: "error", SUSPECT: "warning", CANNOT_TELL: "note"}
SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
SCHEMA: toml_file.Schema = {
    "type": "object",
    "additionalProperties": toml_file.table(
        {
            "rules": toml_file.SOME_TEXTS,
            "callback": toml_file.TEXT,
            "title": toml_file.TEXT,
            "why": toml_file.TEXT,
            "refute": toml_file.TEXT,
            "fixed": toml_file.TEXT,
        },
        optional=["fixed"],
    ),
}


@dataclasses.dataclass(frozen=True)
class About:
    """A check: the ids of its rules, the callback, the duty, its reason, and a reason why a finding may be wrong.

    `fixed`: a commit of Linux that mended the mistake elsewhere, or "".
    """

    rules: tuple[str, ...]
    callback: str
    title: str
    why: str
    refute: str
    fixed: str


@cache
def about_checks() -> dict[str, About]:
    """All checks of checks.toml, by name."""
    table = toml_file.load(TABLE, SCHEMA)
    return {
        name: About(
            tuple(entry["rules"]),
            entry["callback"],
            entry["title"],
            entry["why"],
            entry["refute"],
            entry.get("fixed", ""),
        )
        for name, entry in table.items()
    }


def shown(path: Path) -> str:
    """A path as the user may type it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def line_of(finding: Finding) -> str:
    """A finding as two lines, or as three if a commit fixed this mistake elsewhere."""
    about = about_checks()[finding.check]
    rules = ", ".join(about.rules)
    place = f"{shown(finding.file)}:{finding.line}"
    lines = [f"{place}: {finding.verdict} {finding.check} ({rules}): {finding.message}"]
    lines += [
        f"    why: {about.why}",
        *([f"    fixed elsewhere: {about.fixed}"] * bool(about.fixed)),
    ]
    return "\n".join(lines)


def summary(findings: Sequence[Finding], waived: int, files: int) -> str:
    """The last line."""
    found = Counter(finding.verdict for finding in findings)
    clean = len(about_checks()) - len({finding.check for finding in findings})
    counts = ", ".join(f"{found[name]} {name}" for name in VERDICTS[:3] if found[name])
    more = f", {waived} waived" if waived else ""
    noun = "file" if files == 1 else "files"
    return f"{files} {noun}: {counts or 'nothing found'}{more}; {clean} of {len(about_checks())} checks CLEAN"


def document(
    findings: Sequence[Finding], files: Sequence[Path], errors: Sequence[str]
) -> dict[str, Any]:
    """The findings as a layer of the project: docs/judging.md."""
    cases = []
    for name, about in about_checks().items():
        own = [finding for finding in findings if finding.check == name]
        verdict = min((finding.verdict for finding in own), key=VERDICTS.index, default="CLEAN")
        result = {BREACH: "FAIL", CANNOT_TELL: "SKIP"}.get(verdict, "PASS")
        places = [
            {"file": shown(f.file), "line": f.line, "verdict": f.verdict, "message": f.message}
            for f in own
        ]
        cases.append(
            {
                "id": f"source.{name}",
                "result": result,
                "verdict": verdict,
                "rules": list(about.rules),
                "message": "; ".join(f"{p['file']}:{p['line']}: {p['message']}" for p in places),
                "findings": places,
            }
        )
    return {
        "layer": "source",
        "files": [shown(path) for path in files],
        "cases": cases,
        "problems": list(errors),
    }


def sarif(findings: Sequence[Finding]) -> dict[str, Any]:
    """The findings in the format SARIF 2.1.0."""
    rules = [
        {
            "id": name,
            "shortDescription": {"text": about.title},
            "fullDescription": {"text": about.why},
            "help": {"text": f"Rules {', '.join(about.rules)}. No mistake if: {about.refute}"},
        }
        for name, about in about_checks().items()
    ]
    results = [
        {
            "ruleId": finding.check,
            "level": LEVELS[finding.verdict],
            "message": {"text": finding.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": shown(finding.file)},
                        "region": {"startLine": finding.line},
                    }
                }
            ],
        }
        for finding in findings
    ]
    tool = {"driver": {"name": "pmuconf review", "rules": rules}}
    return {"$schema": SARIF, "version": "2.1.0", "runs": [{"tool": tool, "results": results}]}
