# SPDX-License-Identifier: Apache-2.0
"""Record on which targets each rule was judged, and the result: build/judged.json, for `pmuconf explain`.

`make check` and `make matrix` call this at their end. The command adds the reports in build/, or the files that it is
given. A later result of the same rule, target and kernel replaces an earlier one.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from junitparser import JUnitXmlError

from ci.verified_rules import passed_in_junit
from conformance.rules.evidence import read_tests
from pmubase import store

ROOT = store.ROOT
NAME = "judged.json"
OUT = ROOT / "build" / NAME
REPORTS = (
    *("report/results.json", "check/*/results.json", "matrix/*/results.json"),
    "check/pytest*.xml",
)
"""The reports of runs below build/. `make kunit` may have run on any PMU, so its report is not one of them."""
UNDECIDED = ("NOT_TESTED", "NOT_RUN", "REVIEW")
"""Results of a rule that a run did not judge."""
BAD = ("FAIL", "TIMEOUT", "CRASH", "UNEXPECTED_PASS")
GOOD = ("PASS", "SKIP")
MESSAGE = 300
"""The most characters of the message of a case."""

Key = tuple[str, str, str, str]


@dataclasses.dataclass(frozen=True)
class Case:
    """The result of a case, as in results.json."""

    id: str
    result: str
    rules: tuple[str, ...]
    message: str = ""


class JudgedError(Exception):
    """A report or the record is unreadable. The message is one line with the file."""


@dataclasses.dataclass(frozen=True)
class Judged:
    """The results of one run."""

    observer: str
    """"cases", "kunit" or "pytest"."""
    target: str
    """Empty for pytest, whose tests choose their targets."""
    kernel: str
    arch: str
    when: str
    """UTC, as 2026-11-25T03:30:00."""
    rules: dict[str, str]
    """The result of each rule that the run judged."""
    bad: tuple[dict[str, Any], ...] = ()
    """The cases that did not pass, except skipped ones: `case`, `result`, `message`, `rules`."""

    @property
    def key(self) -> Key:
        """Identifies the place of the run."""
        return self.observer, self.target, self.kernel, self.arch


def of_report(document: dict[str, Any], when: str) -> Judged | None:
    """The results of a results.json of the suite or of KUnit. None for a run of selected cases, for a run with a
    profile, and for a KUnit run that has no verdict."""
    if document.get("verdict") in ("PARTIAL", "NOT_JUDGED") or document.get("profile"):
        return None
    if "target" in document:
        rules = {
            str(row["id"]): str(row["result"])
            for row in document["rules"]
            if row["result"] not in UNDECIDED
        }
        place = ("cases", str(document["target"]), str(document["kernel"]), str(document["arch"]))
    else:
        rules = results_of(_cases(document))
        place = ("kunit", "refpmu", str(document["kernel"]), "x86_64")
    return Judged(*place, when, rules, _bad(_cases(document)))


def _cases(document: dict[str, Any]) -> list[Case]:
    return [
        Case(
            str(case["id"]),
            str(case["result"]),
            tuple(map(str, case.get("rules", ()))),
            str(case.get("message", "")),
        )
        for case in document["cases"]
    ]


def _bad(cases: Iterable[Case]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {
            "case": case.id,
            "result": case.result,
            "message": case.message.partition("\n")[0][:MESSAGE],
            "rules": list(case.rules),
        }
        for case in cases
        if case.result not in GOOD
    )


def results_of(cases: Iterable[Case]) -> dict[str, str]:
    """The result of each rule, from its cases, as docs/judging.md defines it."""
    found: dict[str, set[str]] = {}
    for case in cases:
        for rule in case.rules:
            found.setdefault(rule, set()).add(case.result)
    return {rule: result for rule, seen in sorted(found.items()) if (result := _worst(seen))}


def _worst(seen: set[str]) -> str:
    if seen & set(BAD):
        return "FAILED"
    if seen & {"BROKEN", "NOT_RUN"}:
        return "INCOMPLETE" if "PASS" in seen else ""
    if "WAIVED" in seen:
        return "WAIVED"
    return "PASSED" if "PASS" in seen else "NOT_APPLICABLE"


def merge(old: Iterable[Judged], new: Iterable[Judged]) -> list[Judged]:
    """`old` with the results of `new`. A rule that a new run did not judge keeps its result."""
    found = {one.key: one for one in old}
    for one in new:
        before = found.get(one.key)
        if before is None:
            found[one.key] = one
        elif one.when >= before.when:
            rules = {**before.rules, **one.rules}
            found[one.key] = dataclasses.replace(one, rules=dict(sorted(rules.items())))
    return [found[key] for key in sorted(found)]


def read(path: Path) -> list[Judged]:
    """The record; empty without a file. JudgedError if it is not valid."""
    if not path.exists():
        return []
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
        return [
            Judged(
                observer=run["observer"],
                target=run["target"],
                kernel=run["kernel"],
                arch=run["arch"],
                when=run["when"],
                rules=run["rules"],
                bad=tuple(run["bad"]),
            )
            for run in runs
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise JudgedError(f"{path}: {error!r}; remove it to begin again") from error


def add(new: Sequence[Judged], path: Path) -> None:
    """Adds results to the record, which other runs may have changed in the meantime."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with store.locked(path.with_suffix(".lock")):
        runs = [dataclasses.asdict(one) for one in merge(read(path), new)]
        store.write(path, json.dumps({"runs": runs}, separators=(",", ":")).encode() + b"\n")


def of_files(paths: Iterable[Path], other: bool = False) -> list[Judged]:
    """The results in these reports. JudgedError names a report that is not readable, or is about something else than
    the suite and KUnit, unless `other` reports may be there."""
    found = []
    passed: dict[str, str] = {}
    latest = ""
    tests = [test for test in read_tests(ROOT) if test.layer != "kunit"]
    for path in paths:
        try:
            when = utc(int(path.stat().st_mtime))
            if path.suffix == ".xml":
                passed |= {rule: "PASSED" for rule, _ in passed_in_junit(path, tests)}
                latest = max(when, latest)
                continue
            document = json.loads(path.read_text(encoding="utf-8"))
            if {"cases", "kernel", "verdict"} <= document.keys():
                one = of_report(document, when)
                found += [one] if one else []
            elif not other:
                raise JudgedError(f"{path}: neither a report of the suite nor of KUnit")
        except (OSError, SyntaxError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise JudgedError(f"{path}: {error!r}") from error
        except JUnitXmlError as error:
            raise JudgedError(f"{path}: no report of pytest: {error}") from error
    return [*found, *([Judged("pytest", "", "", "", latest, passed)] if passed else [])]


def utc(seconds: float) -> str:
    """A time as `when` has it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))


def main(arguments: Sequence[str]) -> int:
    """Returns 0, or 2 after an error message of one line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.judged", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("results", type=Path, nargs="*", help="results.json; default: all in build")
    options = parser.parse_args(arguments)
    try:
        build = [path for glob in REPORTS for path in sorted((ROOT / "build").glob(glob))]
        add(of_files(options.results or build, other=not options.results), options.out)
    except (JudgedError, OSError) as error:
        print(f"judged: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
