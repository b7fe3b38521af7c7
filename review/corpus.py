# SPDX-License-Identifier: Apache-2.0
"""Measures the checks on the kernel's own drivers, by the labels that a reader gave them."""

from __future__ import annotations

import argparse
import concurrent.futures
import dataclasses
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pmubase import toml_file
from pmubase.errors import UserError

from .engine import review_file
from .view import BREACH, CHECKS, CLEAN, SUSPECT, VERDICTS, Finding

LABELS = Path(__file__).with_name("labels.toml")
WRONG = ("breach", "absent")
"""Labels of a driver that a check should report."""
LISTS = ("ok", "core", "absent", "na")
SCHEMA: toml_file.Schema = {
    "type": "object",
    "required": ["driver"],
    "properties": {
        "driver": {"type": "array", "items": {"type": "object", "required": ["file", "kernels"]}}
    },
}


@dataclasses.dataclass(frozen=True)
class Subject:
    """A driver of a kernel, and its label for each check."""

    file: str
    kernel: str
    labels: Mapping[str, str]
    fresh: bool = False
    """Whether the checks were made without it."""


@dataclasses.dataclass
class Score:
    """The results of a check on several drivers."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    suspected: int = 0
    missed: int = 0
    unfounded: int = 0
    """Drivers with a SUSPECT that the check should not report."""

    @property
    def labelled(self) -> int:
        """The number of drivers that the check should report."""
        return self.found + self.suspected + self.missed

    def add(self, label: str, verdict: str) -> None:
        """Counts a driver. One that the reader could not decide does not count."""
        if label == "unsure":
            return
        if verdict == BREACH:
            self.right += label in WRONG
            self.wrong += label not in WRONG
        self.unfounded += verdict == SUSPECT and label not in WRONG
        if label in WRONG:
            self.found += verdict == BREACH
            self.suspected += verdict == SUSPECT
            self.missed += verdict not in (BREACH, SUSPECT)


def read_labels(path: Path = LABELS) -> list[Subject]:
    """The drivers of the file of labels."""
    return [
        subject for entry in toml_file.load(path, SCHEMA)["driver"] for subject in _subjects(entry)
    ]


def _subjects(entry: dict[str, Any]) -> Iterator[Subject]:
    for kernel in entry["kernels"]:
        labels = {check: label for label in LISTS for check in entry.get(label, [])}
        if kernel == "6.1":
            labels["parent"] = "na"
        for check, reasons in entry.get("unsure", {}).items():
            for reason in reasons if isinstance(reasons, list) else [reasons]:
                if kernel in reason.get("kernels", entry["kernels"]):
                    labels[check] = "unsure"
        for check, places in entry.get("breach", {}).items():
            if any(kernel in place["at"] for place in places):
                labels[check] = "breach"
        yield Subject(entry["file"], kernel, labels, entry.get("fresh", False))


def verdicts(findings: Iterable[Finding]) -> dict[str, str]:
    """The worst verdict of each check."""
    found = dict.fromkeys(CHECKS, CLEAN)
    for finding in findings:
        found[finding.check] = min(found[finding.check], finding.verdict, key=VERDICTS.index)
    return found


def _judge(path: Path) -> dict[str, str] | None:
    try:
        return verdicts(review_file(path))
    except UserError:
        return None


def main(argv: Sequence[str]) -> int:
    """Prints the precision and the recall of each check."""
    parser = argparse.ArgumentParser(prog="python3 -m review.corpus", description=__doc__)
    parser.add_argument(
        "--tree", action="append", required=True, metavar="SERIES=DIR", help="sources of a kernel"
    )
    parser.add_argument(
        "--differences", action="store_true", help="list the drivers whose label differs"
    )
    options = parser.parse_args(argv)
    trees = dict(option.split("=", 1) for option in options.tree)
    subjects = [subject for subject in read_labels() if subject.kernel in trees]
    paths = [Path(trees[subject.kernel]) / subject.file for subject in subjects]
    absent = [path for path in paths if not path.is_file()]
    if absent:
        print(f"review: {absent[0]}: a driver with labels is absent", file=sys.stderr)
        return 2
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        judged = list(pool.map(_judge, paths))
    scores: dict[tuple[str, bool], Score] = defaultdict(Score)
    silent = 0
    for subject, found in zip(subjects, judged):
        silent += found is None
        for check in CHECKS:
            verdict = (found or {}).get(check, CLEAN)
            label = subject.labels.get(check, "unsure")
            scores[check, subject.fresh].add(label, verdict)
            if options.differences and label != "unsure" and _differs(label, verdict):
                print(
                    f"{check}: {subject.kernel} {subject.file}: {verdict}, but the label is {label}"
                )
    print(f"{len(subjects)} drivers, {silent} without a struct pmu of their own")
    print(
        "| check | BREACH right, wrong | of labelled: BREACH, SUSPECT, missed | SUSPECT wrong | fresh: the same |"
    )
    print("|---|---|---|---|---|")
    for check in CHECKS:
        unmet = _row(scores[check, True]).replace(" | ", "; ")
        print(f"| `{check}` | {_row(scores[check, False])} | {unmet} |")
    for name, fresh in (("all", False), ("fresh", True)):
        print(f"{name}: {json.dumps(_total([scores[check, fresh] for check in CHECKS]))}")
    return 0


def _differs(label: str, verdict: str) -> bool:
    return (
        verdict == BREACH
        and label not in WRONG
        or label in WRONG
        and verdict not in (BREACH, SUSPECT)
    )


def _row(score: Score) -> str:
    found = f"{score.found}, {score.suspected}, {score.missed}"
    return f"{score.right}, {score.wrong} | {found} | {score.unfounded}"


def _total(scores: Sequence[Score]) -> dict[str, float]:
    right, wrong = sum(s.right for s in scores), sum(s.wrong for s in scores)
    reported, labelled = sum(s.found + s.suspected for s in scores), sum(s.labelled for s in scores)
    return {
        "precision": round(100 * right / max(right + wrong, 1), 1),
        "recall": round(100 * reported / max(labelled, 1), 1),
        "labelled": labelled,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
