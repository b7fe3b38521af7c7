# SPDX-License-Identifier: Apache-2.0
"""Write evidence.json for `pmuconf explain`: the tests outside the suite that verify each rule, and the rules without
a test. It is not compiled into the program, so that a changed test does not link the suite again."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from conformance.rules.evidence import read_tests, read_untested
from conformance.rules.generate import write_if_changed


def text_of(root: Path) -> str:
    """The content of evidence.json for the checkout at `root`."""
    tests = [
        {"rule": test.rule, "layer": test.layer, "name": test.name, "file": test.file}
        for test in read_tests(root)
    ]
    reasons = sorted(read_untested(root / "conformance" / "untested.toml").items())
    untested = [{"rule": rule, "reason": reason} for rule, reason in reasons]
    return json.dumps({"tests": tests, "untested": untested}, indent=1) + "\n"


def main() -> int:
    """Writes evidence.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="the checkout")
    parser.add_argument("--out", type=Path, required=True, help="evidence.json")
    options = parser.parse_args()
    write_if_changed(options.out, text_of(options.root))
    return 0


if __name__ == "__main__":
    sys.exit(main())
