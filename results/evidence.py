# SPDX-License-Identifier: Apache-2.0
"""The evidence for each rule: its tests, the faults that they must catch, its results in reports below build/, and the
findings about it. `pmuconf explain --json` has the rules and cases; the rest is in the checkout."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from conformance.rules import findings
from conformance.rules.evidence import read_tests
from faults import fault, reasons
from pmubase import store
from results import bundle, templates
from results.errors import ResultsError

INDEX = "README.md"
REPORTS = ("report/results.json", "check/*/results.json", "matrix/*/results.json")
"""The reports of runs below build/."""
CAUGHT = ("faults/rules.json", "check/faults-*/rules.json")
"""The faults that were caught in runs, by rule."""
LIMIT_S = 120
JUDGED = ("PASSED", "WAIVED", "FAILED", "INCOMPLETE", "NOT_TESTED", "NOT_APPLICABLE")
"""The results of a rule that a run judged, in the order of a page."""


def read(root: Path = store.ROOT, build: Path | None = None) -> dict[str, Any]:
    """The keys `rules` and `cases`, as `pmuconf explain --json` prints them. Each rule also has `tests`, `faults`,
    `exempt`, `findings` and `judged`, each case `faults` and `failures`."""
    facts = _program("--json")
    known = {rule["id"]: rule for rule in facts["rules"]}
    cases = {case["id"]: case for case in facts["cases"]}
    for rule in known.values():
        rule |= {"tests": [], "faults": [], "exempt": "", "findings": [], "judged": []}
    for case in cases.values():
        case |= {"faults": [], "failures": []}
    for test in read_tests(root):
        known[test.rule]["tests"].append(dataclasses.asdict(test))
    runs = build or root / "build"
    caught = _caught(runs)
    for one in fault.read_all(root):
        if not one.missed:
            _add_fault(one, root, caught, known, cases)
    for name, reason in reasons.of_status(root, reasons.NO_FAULT).items():
        known[name]["exempt"] = reason
    page = (root / findings.PAGE).read_text(encoding="utf-8")
    for finding in findings.read(page, known):
        for name in finding.rules:
            known[name]["findings"].append(dataclasses.asdict(finding))
    for report in _reports(runs):
        _add_report(report, known, cases)
    return facts


def _program(*words: str) -> dict[str, Any]:
    done = subprocess.run(
        [str(bundle.binary()), "explain", *words],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode != 0:
        raise ResultsError(done.stderr.strip())
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def _caught(build: Path) -> dict[tuple[str, str], list[str]]:
    """The tests that caught a fault in runs below `build`, by its id and the rule that failed."""
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(path for pattern in CAUGHT for path in build.glob(pattern)):
        for rule, rows in _json(path).items():
            for row in rows:
                found.setdefault((row["id"], rule), []).append(f"{row['test']} on {row['kernel']}")
    return found


def _add_fault(
    one: fault.Fault,
    root: Path,
    caught: dict[tuple[str, str], list[str]],
    rules: dict[str, dict[str, Any]],
    cases: dict[str, dict[str, Any]],
) -> None:
    """Adds a fault to the rules that it names or has failed, and to the cases that it must fail."""
    row = {"kind": one.breaks, "id": one.id, "text": one.text, "target": one.targets[0]}
    row["file"] = str(one.path.relative_to(root))
    its = [cases[name] for name in one.cases if name in cases]
    named = {*one.named_rules, *(rule for case in its for rule in case["rules"])}
    named |= {rule for name, rule in caught if name == one.id}
    for name in rules.keys() & named:
        rules[name]["faults"].append(row | {"caught": caught.get((one.id, name), [])})
    for case in its:
        case["faults"].append(row)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path}: {error}") from error
    assert isinstance(found, dict)
    return found


def _reports(build: Path) -> Iterator[dict[str, Any]]:
    """The reports of the suite on whole targets, and of KUnit."""
    for pattern in REPORTS:
        for path in sorted(build.glob(pattern)):
            document = _json(path)
            whole = document.get("verdict") not in ("PARTIAL", "NOT_JUDGED")
            if {"cases", "rules", "target", "kernel"} <= document.keys() and whole:
                yield document


def _add_report(
    report: dict[str, Any], rules: dict[str, dict[str, Any]], cases: dict[str, dict[str, Any]]
) -> None:
    place = {key: report[key] for key in ("target", "kernel", "arch")}
    for row in report["rules"]:
        if row["id"] in rules and row["result"] in JUDGED:
            rules[row["id"]]["judged"].append({"result": row["result"]} | place)
    for row in report["cases"]:
        if row["id"] in cases and row["result"] not in ("PASS", "SKIP"):
            cases[row["id"]]["failures"].append(row | place)


def can_fail(rule: dict[str, Any]) -> str:
    """How a rule can fail: the number of faults of each kind that its tests must catch, or why there are none."""
    kinds = [fault["kind"] for fault in rule["faults"]]
    counts = [f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds))]
    if counts:
        caught = sum(bool(fault["caught"]) for fault in rule["faults"])
        return (
            f"by faults: {', '.join(counts)}; {caught} of {len(kinds)} caught in runs below build/"
        )
    reason = rule["exempt"] or rule["untested"]
    return f"no fault: {reason}" if reason else "no fault, and no reason is given"


def places(judged: Iterable[dict[str, Any]], result: str) -> str:
    """Where a rule had a result: "intel x86_64 (6.1, 6.12)"."""
    found: dict[str, list[str]] = {}
    for row in judged:
        if row["result"] == result:
            found.setdefault(f"{row['target']} {row['arch']}", []).append(row["kernel"])
    return "; ".join(f"{name} ({', '.join(kernels)})" for name, kernels in sorted(found.items()))


def _template(name: str) -> Any:
    environment = templates.environment(autoescape=False)
    environment.filters |= {"places": places, "can_fail": can_fail, "markdown": _markdown}
    environment.globals["judged_results"] = JUDGED
    return environment.get_template(name)


def _markdown(text: str) -> str:
    """Escapes the syntax of Markdown in a table or a paragraph."""
    return "".join(f"\\{c}" if c in "<*|[" else c for c in text)


def explain(name: str) -> str:
    """The facts about a rule or a case for a terminal. ResultsError with the nearest ids for an unknown one."""
    facts = read()
    for kind in ("rule", "case"):
        for row in facts[f"{kind}s"]:
            if row["id"] == name:
                return str(_template(f"{kind}.txt").render({kind: row}))
    _program(name)
    raise ResultsError(f"not the id of a rule or a case: '{name}'")


def pages() -> dict[str, str]:
    """Pages in Markdown by file name: an index, and a page for each area of rules."""
    areas: dict[str, list[dict[str, Any]]] = {}
    rules = read()["rules"]
    for rule in rules:
        areas.setdefault(rule["id"].partition("-")[0], []).append(rule)
    found = {INDEX: _template("rules_index.md.jinja").render(rules=rules, areas=areas)}
    for area, its in areas.items():
        found[f"{area}.md"] = _template("rules_area.md.jinja").render(
            area=area, rules=its, index=INDEX
        )
    return found


def write_pages(folder: Path) -> None:
    """Writes the pages into a folder."""
    with store.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages().items():
            store.write(folder / name, text.encode())
