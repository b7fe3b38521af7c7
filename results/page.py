# SPDX-License-Identifier: Apache-2.0
"""Writes runs as one HTML file that needs no network: the verdict, the failures, the map of all rules, the
measurements, the skips.

Several runs are the columns of one page.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from conformance.rules.generate import Rule
from pmubase import store
from results import facts, pictures
from results.document import Run

ASSETS = Path(__file__).resolve().parent / "assets"
NAME = "index.html"
NEEDS = re.compile(r"^needs (\w+)")


class Texts:
    """Numbers the texts of a page. Most messages occur in many cases and runs."""

    def __init__(self) -> None:
        self.all: list[str] = [""]
        self._numbers = {"": 0}

    def number(self, text: str) -> int:
        """The index of a text."""
        if text not in self._numbers:
            self._numbers[text] = len(self.all)
            self.all.append(text)
        return self._numbers[text]


def _run(run: Run, texts: Texts) -> dict[str, Any]:
    data = run.data
    kept = ("verdict", "verdicts", "reason", "target", "kernel", "release", "arch", "profile")
    found: dict[str, Any] = {key: data[key] for key in kept}
    found["totals"] = data["totals"]
    found["place"] = run.place
    found["problems"] = data["problems"]
    found["rules"] = {rule["id"]: rule["result"] for rule in [*data["rules"], *data["drafts"]]}
    found["reasons"] = {rule["id"]: rule["reason"] for rule in data["rules"] if rule.get("reason")}
    found["layers"] = {
        rule["id"]: rule["layers"]
        for rule in data["rules"]
        if rule.get("layers") and set(rule["layers"]) != {"suite"}
    }
    found["cases"] = {
        case["id"]: [
            case["result"],
            case["duration_s"],
            texts.number(case["message"]),
            texts.number(case.get("repro", "")),
            texts.number(case.get("skip_reason", "")),
        ]
        for case in data["cases"]
    }
    return found


def _rules(runs: Sequence[Run], known: dict[str, Rule]) -> list[dict[str, Any]]:
    """The rules that occur in a run, by id. An unknown rule has the text of the run."""
    named: dict[str, dict[str, Any]] = {}
    cases: dict[str, dict[str, None]] = {}
    for run in runs:
        for status, rules in (("active", run.data["rules"]), ("draft", run.data["drafts"])):
            for rule in rules:
                named.setdefault(rule["id"], {**rule, "status": status})
        for case in run.data["cases"]:
            for rule in case["rules"]:
                cases.setdefault(rule, {})[case["id"]] = None
    found = []
    for name in sorted(named):
        seen = named[name]
        row = {key: seen[key] for key in ("id", "level", "status", "subject", "text")}
        row |= {"why": "", "source": [], "layer": seen.get("layer", ""), "cases": []}
        row["cases"] = list(cases.get(name, {}))
        if name in known:
            rule = known[name]
            series = runs[0].data["kernel"]
            links = [facts.link(source, series) for source in rule.source]
            row["why"] = rule.why
            row["source"] = [[one.text, one.href] for one in links]
        found.append(row)
    return found


def _skips(runs: Sequence[Run], capabilities: dict[str, str]) -> list[dict[str, Any]]:
    """The skipped cases by skip reason and message, the most cases first."""
    groups: dict[tuple[str, str], dict[str, set[int]]] = {}
    for number, run in enumerate(runs):
        for case in run.data["cases"]:
            reason = case.get("skip_reason", "")
            if case["result"] == "SKIP" or reason:
                key = (reason, case["message"].partition("\n")[0])
                groups.setdefault(key, {}).setdefault(case["id"], set()).add(number)
    found = []
    order = list(facts.SKIP_REASONS)
    for (reason, message), cases in groups.items():
        needs = NEEDS.match(message)
        hint = capabilities.get(needs[1], "") if needs else ""
        rows = [[name, sorted(cases[name])] for name in sorted(cases)]
        found.append({"reason": reason, "message": message, "hint": hint, "cases": rows})
    place = {name: number for number, name in enumerate(order)}
    return sorted(
        found,
        key=lambda one: (place.get(one["reason"], 99), -len(one["cases"]), one["message"]),
    )


def _failures(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The cases with a bad result in a run, the worst first."""
    found: dict[str, dict[str, Any]] = {}
    for number, run in enumerate(runs):
        for case in run.data["cases"]:
            if case["result"] in facts.BAD:
                one = found.setdefault(
                    case["id"],
                    {"case": case["id"], "rules": case["rules"], "runs": [], "worst": 99},
                )
                one["runs"].append(number)
                one["worst"] = min(one["worst"], facts.BAD.index(case["result"]))
    return sorted(found.values(), key=lambda one: (one["worst"], one["case"]))


def data_of(runs: Sequence[Run]) -> dict[str, Any]:
    """The data that the script of a page shows."""
    texts = Texts()
    rows = [_run(run, texts) for run in runs]
    return {
        "runs": rows,
        "rules": _rules(runs, facts.catalogue()),
        "areas": facts.areas(),
        "failures": _failures(runs),
        "skips": _skips(runs, facts.capabilities()),
        "skip_reasons": facts.SKIP_REASONS,
        "measured": pictures.of_runs(runs),
        "texts": texts.all,
    }


def _embedded(data: dict[str, Any]) -> str:
    """JSON for a script element: it cannot end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _assets(*names: str) -> str:
    return "\n".join((ASSETS / name).read_text(encoding="utf-8") for name in names)


def title(runs: Sequence[Run]) -> str:
    """The title of a page."""
    return runs[0].place if len(runs) == 1 else f"{len(runs)} runs"


def text(runs: Sequence[Run]) -> str:
    """The page."""
    parts = {
        "title": html.escape(title(runs)),
        "style": _assets("page.css", "pictures.css"),
        "script": _assets("page.js", "pictures.js"),
        "data": _embedded(data_of(runs)),
    }
    template = _assets("page.html")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def write(runs: Iterable[Run], path: Path) -> None:
    """Writes the page. UserError if the file cannot be written."""
    content = text(list(runs)).encode()
    with store.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        store.write(path, content)
