# SPDX-License-Identifier: Apache-2.0
"""Results as a report for KCIDB, the database of KernelCI, in version 5.3 of its schema."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from results.document import Run
from results.errors import ResultsError

VERSION = {"major": 5, "minor": 3}
ORIGIN = re.compile(r"[a-z0-9_]+")
ID = re.compile(r"[a-z0-9_]+:[^\0]+")
NOT_PATH = re.compile(r"[^A-Za-z0-9_.-]")
EXCERPT = 16384
"""The maximum length of an excerpt of a log."""
DIGITS = 16
STATUSES = {
    "PASS": "PASS",
    **{result: "FAIL" for result in ("FAIL", "TIMEOUT", "CRASH", "UNEXPECTED_PASS", "WAIVED")},
    "SKIP": "SKIP",
    "BROKEN": "ERROR",
    "NOT_RUN": "MISS",
}
"""The status of a case by its result. A WAIVED case also has an incident of an issue: its waiver."""
SKIPPED = {
    **{reason: "MISS" for reason in ("not_permitted", "no_such_pmu", "not_quiet")},
    "kernel_newer": "DONE",
}
"""The status of a skipped case by its skip reason, if it is not SKIP."""
VERDICTS = {
    **{"CONFORMANT": "PASS", "PARTIAL": "PASS"},
    **{"NOT_CONFORMANT": "FAIL", "NOT_JUDGED": "MISS"},
}


def report(runs: Sequence[Run], origin: str, build: str = "", machine: str = "") -> dict[str, Any]:
    """A report on runs. `origin`: the name of the CI system; `build`: the id of a build that KCIDB knows, instead of a
    checkout and a build in the report; `machine`: a comment on the environment."""
    if not ORIGIN.fullmatch(origin):
        raise ResultsError(f"--origin '{origin}': only a-z, 0-9 and _ are valid")
    if build and not ID.fullmatch(build):
        raise ResultsError(f"--build '{build}': not ORIGIN:ID")
    found: dict[str, Any] = {"version": VERSION, "checkouts": [], "builds": [], "tests": []}
    issues: dict[str, Any] = {}
    incidents: list[Any] = []
    seen: dict[str, Run] = {}
    for run in runs:
        key = _key(run)
        if key in seen:
            raise ResultsError(f"{run.path}: the same run as {seen[key].path}")
        seen[key] = run
        if not build:
            _add_kernel(found, run, origin)
        of = build or _build_id(run, origin)
        for test in _tests(run, f"{origin}:{key}", machine):
            case = test.pop("case")
            found["tests"].append({"build_id": of, "origin": origin} | test)
            if case.get("waiver") and case["result"] == "WAIVED":
                _add_waiver(issues, incidents, test["id"], case["waiver"], origin)
    found |= {"issues": list(issues.values())} if issues else {}
    found |= {"incidents": incidents} if incidents else {}
    return {key: value for key, value in found.items() if value}


def _key(run: Run) -> str:
    """Names a run. The same results have the same name, so that a second submission changes nothing."""
    text = json.dumps(run.data, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _kernel(run: Run) -> str:
    return str(run.data["release"] or run.data["kernel"])


def _checkout_id(run: Run, origin: str) -> str:
    return f"{origin}:linux-{_plain(_kernel(run))}"


def _build_id(run: Run, origin: str) -> str:
    return f"{_checkout_id(run, origin)}-{_plain(run.data['arch'])}"


def _add_kernel(found: dict[str, Any], run: Run, origin: str) -> None:
    """Adds the kernel of a run, once."""
    checkout = {
        "id": _checkout_id(run, origin),
        "origin": origin,
        "comment": f"Linux {_plain(_kernel(run))}",
        "valid": True,
    }
    if checkout not in found["checkouts"]:
        found["checkouts"].append(checkout)
    architecture = re.sub(r"[^a-z0-9_]", "_", run.data["arch"].lower())
    built = {
        "checkout_id": checkout["id"],
        "id": _build_id(run, origin),
        "origin": origin,
        "architecture": architecture,
        "status": "PASS",
    }
    if built not in found["builds"]:
        found["builds"].append(built)


def _tests(run: Run, prefix: str, machine: str) -> Iterator[dict[str, Any]]:
    """A test for each case, those of other layers too, and one for the verdict. The key `case` is the case itself."""
    data = run.data
    environment: dict[str, Any] = {"comment": _plain(machine)} if machine else {}
    about = {key: data[key] for key in ("target", "profile") if data[key]}
    environment |= {"misc": about} if about else {}
    layers = data.get("layers", [])
    named = [("", case) for case in data["cases"]]
    named += [(f"{layer['layer']}.", case) for layer in layers for case in layer["cases"]]
    for where, case in named:
        test: dict[str, Any] = {
            "id": f"{prefix}:{_plain(where + case['id'])}",
            "path": _path(f"pmuconf.{where}{case['id']}"),
            "status": _status(run, case),
            "environment": environment,
        }
        if case["message"]:
            test["log_excerpt"] = _plain(case["message"])[:EXCERPT]
        if "duration_s" in case:
            test["duration"] = case["duration_s"]
        kept = (
            "result",
            "skip_reason",
            "capability",
            "guest_lost",
            "waiver",
            "rules",
            "runs",
            "repro",
        )
        test["misc"] = {key: case[key] for key in kept if case.get(key)}
        yield test | {"case": case}
    if data["verdict"] not in VERDICTS:
        raise ResultsError(f"{run.path}: unknown verdict '{data['verdict']}'")
    verdicts = {one["subject"]: one["verdict"] for one in data["verdicts"]}
    misc = {"verdict": data["verdict"], "verdicts": verdicts} | (
        {"problems": data["problems"]} if data["problems"] else {}
    )
    yield {
        "id": f"{prefix}:verdict",
        "path": "pmuconf.verdict",
        "status": VERDICTS[data["verdict"]],
        "environment": environment,
        "log_excerpt": _plain(data["reason"])[:EXCERPT],
        "misc": misc,
        "case": {},
    }


def _status(run: Run, case: dict[str, Any]) -> str:
    if case["result"] not in STATUSES:
        raise ResultsError(f"{run.path}: case {case['id']}: unknown result '{case['result']}'")
    status = STATUSES[case["result"]]
    return SKIPPED.get(case.get("skip_reason", ""), status) if status == "SKIP" else status


def _add_waiver(
    issues: dict[str, Any], incidents: list[Any], test: str, waiver: dict[str, str], origin: str
) -> None:
    """Adds the issue of a waiver, once, and an incident of it for a waived test."""
    name = _plain(waiver["id"])
    issue: dict[str, Any] = {"id": f"{origin}:{name}", "version": 1, "origin": origin}
    if waiver["link"]:
        issue["report_url"] = _plain(waiver["link"])
    issue["comment"] = _plain(waiver["reason"])
    issues.setdefault(name, issue)
    incidents.append(
        {
            "id": f"{test}:{name}",
            "origin": origin,
            "issue_id": issue["id"],
            "issue_version": 1,
            "test_id": test,
            "present": True,
        }
    )


def _path(text: str) -> str:
    """A path of KCIDB: words of A-Z a-z 0-9 _ and - with dots between them."""
    return ".".join(word for word in NOT_PATH.sub("_", text).split(".") if word)


def _plain(text: str) -> str:
    """KCIDB refuses the character NUL, and a lone surrogate has no encoding."""
    return text.replace("\0", "?").encode("utf-8", "replace").decode()
