# SPDX-License-Identifier: Apache-2.0
"""Write evidence.json for `pmuconf explain`: the facts about rules that are not in the program, such as tests outside
the suite, faults and findings. It is not compiled into the program, so that a changed test does not link the suite
again."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

from conformance.rules import findings
from conformance.rules.evidence import read_tests, read_untested
from conformance.rules.generate import read_catalogue, write_if_changed
from faults import fault, reasons
from pmubase.errors import UserError


def document_of(root: Path, results: str) -> dict[str, Any]:
    """The content of evidence.json for the checkout at `root`. `results`: the folder with the results of runs, relative
    to the file."""
    suite = root / "conformance"
    rules = read_catalogue((suite / "rules").glob("*.toml"))
    known = [rule.id for rule in rules]
    page = (root / findings.PAGE).read_text(encoding="utf-8")
    return {
        "results": results,
        "tests": [dataclasses.asdict(test) for test in read_tests(root)],
        "untested": _reasons(read_untested(suite / "untested.toml")),
        "faults": [_row(each, root) for each in fault.read_all(root) if not each.missed],
        "exempt": _reasons(reasons.of_status(root, reasons.NO_FAULT)),
        "findings": [dataclasses.asdict(one) for one in findings.read(page, known)],
        "subjects": [{"rule": rule.id, "subject": rule.subject} for rule in rules],
    }


def _row(one: fault.Fault, root: Path) -> dict[str, Any]:
    return {
        "kind": one.breaks,
        "id": one.id,
        "text": one.text,
        "file": str(one.path.relative_to(root)),
        "rules": one.named_rules,
        "cases": one.cases if one.breaks == fault.TARGET else (),
        "target": one.targets[0],
        "kernels": one.kernels,
        "observers": one.observers,
    }


def _reasons(reasons: dict[str, str]) -> list[dict[str, str]]:
    return [{"rule": rule, "reason": reason} for rule, reason in sorted(reasons.items())]


def main() -> int:
    """Writes evidence.json. Returns 1 after an error message of one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="the checkout")
    parser.add_argument("--out", type=Path, required=True, help="evidence.json")
    parser.add_argument(
        "--results", type=Path, required=True, help="folder with the results of runs, such as build"
    )
    options = parser.parse_args()
    results = os.path.relpath(options.results, options.out.parent)
    try:
        document = document_of(options.root.resolve(), results)
    except (UserError, OSError) as error:
        print(f"evidence: {error}", file=sys.stderr)
        return 1
    write_if_changed(options.out, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
