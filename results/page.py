# SPDX-License-Identifier: Apache-2.0
"""Writes runs as one HTML file that needs no network: the verdict, the failures, the map of all rules, the
measurements, the skips.

Several runs are the columns of one page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from conformance.rules.generate import read_areas
from pmubase import store
from results import facts, pictures, templates
from results.document import Run
from results.templates import ASSETS

NAME = "index.html"
TOTALS = ("passed", "failed", "waived", "skipped", "broken", "timeout", "crash", "lost")
STYLES = {"CONFORMANT": "good", "NOT_CONFORMANT": "bad", "NOT_JUDGED": "open", "PARTIAL": "open"}
"""The class of a verdict in the style sheet."""


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


def message_of(case: dict[str, Any]) -> str:
    """The message of a case, after the waiver that decides its result."""
    waiver = case.get("waiver")
    accepted = f"waiver {waiver['id']}: {waiver['reason']} ({waiver['link']})\n" if waiver else ""
    return f"{accepted}{case['message']}"


def _run(run: Run, texts: Texts) -> dict[str, Any]:
    data = run.data
    found: dict[str, Any] = {"place": run.place}
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
            texts.number(message_of(case)),
            texts.number(case.get("repro", "")),
            texts.number(case.get("skip_reason", "")),
        ]
        for case in data["cases"]
    }
    return found


def _rules(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The rules that occur in a run, by id."""
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
        row = {key: seen[key] for key in ("id", "level", "status", "subject", "text", "why")}
        links = [facts.link(source, runs[0].data["kernel"]) for source in seen["source"]]
        row["source"] = [[one.text, one.href] for one in links]
        row |= {"layer": seen.get("layer", ""), "cases": list(cases.get(name, {}))}
        found.append(row)
    return found


def skips(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The skipped cases by skip reason and message, the most cases first. Each has the numbers of its runs, from 1."""
    groups: dict[tuple[str, str], dict[str, set[int]]] = {}
    hints: dict[tuple[str, str], str] = {}
    for number, run in enumerate(runs, 1):
        for case in run.data["cases"]:
            reason = case.get("skip_reason", "")
            if case["result"] == "SKIP" or reason:
                key = (reason, case["message"].partition("\n")[0])
                hints[key] = run.data.get("capabilities", {}).get(case.get("capability"), "")
                groups.setdefault(key, {}).setdefault(case["id"], set()).add(number)
    found = []
    order = list(facts.SKIP_REASONS)
    for (reason, message), cases in groups.items():
        rows = [[name, sorted(cases[name])] for name in sorted(cases)]
        one = {"reason": reason, "message": message, "hint": hints[reason, message], "cases": rows}
        found.append(one)
    place = {name: number for number, name in enumerate(order)}
    return sorted(
        found,
        key=lambda one: (place.get(one["reason"], 99), -len(one["cases"]), one["message"]),
    )


def failures(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The cases with a bad result in a run, the worst first."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        for case in run.data["cases"]:
            if case["result"] in facts.BAD:
                one = {"case": case["id"], "rules": case["rules"], "runs": [], "worst": 99}
                one = found.setdefault(case["id"], one)
                one["runs"].append((run.place, case))
                one["worst"] = min(one["worst"], facts.BAD.index(case["result"]))
    return sorted(found.values(), key=lambda one: (one["worst"], one["case"]))


def _totals(runs: Sequence[Run]) -> list[str]:
    """The totals that are not 0 in all runs."""
    return [key for key in TOTALS if any(run.data["totals"].get(key) for run in runs)]


def _verdicts(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The verdicts of a run by subject, and that of the whole run if it is another one."""
    whole = {"subject": "all", "verdict": run["verdict"], "reason": run["reason"]}
    same = any(one | {"subject": "all"} == whole for one in run["verdicts"])
    return list(run["verdicts"]) if same else [*run["verdicts"], whole]


def data_of(runs: Sequence[Run]) -> dict[str, Any]:
    """The data that the script of a page shows: the map of the rules, and their details."""
    texts = Texts()
    rows = [_run(run, texts) for run in runs]
    return {
        "runs": rows,
        "rules": _rules(runs),
        "areas": read_areas(store.ROOT / "conformance" / "rules"),
        "texts": texts.all,
    }


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def title(runs: Sequence[Run]) -> str:
    """The title of a page."""
    return runs[0].place if len(runs) == 1 else f"{len(runs)} runs"


def text(runs: Sequence[Run]) -> str:
    """The page. ResultsError if Jinja is not installed."""
    environment = templates.environment(autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    measured = pictures.of_runs(runs)
    figures = {one["case"]: len(one["figures"]) for one in measured}
    rendered = environment.get_template("page.html").render(
        title=title(runs),
        runs=[{**run.data, "place": run.place} for run in runs],
        totals=_totals(runs),
        verdicts=_verdicts(runs[0].data),
        styles=STYLES,
        failures=failures(runs),
        measured=measured,
        pictures=figures,
        skips=skips(runs),
        skip_reasons=facts.SKIP_REASONS,
        data=data_of(runs) | {"measured": figures},
        asset=_asset,
    )
    return str(rendered)


def write(runs: Iterable[Run], path: Path) -> None:
    """Writes the page. UserError if the file cannot be written."""
    content = text(list(runs)).encode()
    with store.writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        store.write(path, content)
