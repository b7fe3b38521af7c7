# SPDX-License-Identifier: GPL-2.0-only
"""The command behind `make kunit`."""

import argparse
import os
import re
import sys
from pathlib import Path

from pmukunit import guest, results, tree
from pmuvm import store
from pmuvm.errors import PmuvmError

KERNELS = ("6.12", "6.1")
DEADLINE_S = 300


def main(argv: list[str]) -> int:
    options = _options(argv)
    out: Path = options.out.resolve()
    cache = store.cache() / "kunit"
    try:
        if options.kernel not in KERNELS:
            known = ", ".join(KERNELS)
            raise PmuvmError(f"unknown KERNEL {options.kernel!r}; known: {known}")
        if not re.fullmatch(r"[\w*?.\[\]!-]*", options.filter):
            raise PmuvmError(f"--filter {options.filter!r}: a glob of suite or suite.case")
        expected = results.expected_suites(options.suites, options.filter)
        if not expected:
            known = ", ".join(sorted(results.expected_suites(options.suites, "")))
            raise PmuvmError(f"--filter {options.filter}: no such suite; known: {known}")
        return _run(options, out, cache, expected)
    except PmuvmError as error:
        print(f"kunit: {error}", file=sys.stderr)
    return results.NOT_JUDGED


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kunit/run.py", description=__doc__)
    parser.add_argument(
        "--kernel", metavar="|".join(KERNELS), default=os.environ.get("KERNEL") or "6.12"
    )
    parser.add_argument("--filter", metavar="GLOB", default="", help="suite or suite.case")
    parser.add_argument("--out", metavar="DIR", type=Path, default=store.ROOT / "build" / "kunit")
    parser.add_argument("--driver", metavar="DIR", type=Path, default=store.ROOT / "driver")
    parser.add_argument("--suites", metavar="DIR", type=Path, default=store.ROOT / "kunit")
    parser.add_argument("--deadline", metavar="S", type=int, default=DEADLINE_S)
    parser.add_argument("--build-only", action="store_true", help="no boot, no verdict")
    return parser.parse_args(argv)


def _run(options: argparse.Namespace, out: Path, cache: Path, expected: frozenset[str]) -> int:
    with store.writing(out):
        out.mkdir(parents=True, exist_ok=True)
    for stale in ("results.json", "console.log"):
        (out / stale).unlink(missing_ok=True)
    kernel = tree.build(
        tree.Inputs(
            series=options.kernel,
            fragment=options.suites / ".kunitconfig",
            driver=options.driver,
            kunit=options.suites,
            log=out / "build.log",
        ),
        cache,
    )
    if options.build_only:
        return results.PASSED
    boot = guest.boot(kernel, options.filter, options.deadline, out / "console.log")
    whole = "." not in options.filter
    verdict = results.judge(options.kernel, boot, expected, whole)
    results.write(verdict, out / "results.json")
    print(results.summary(verdict))
    return verdict.status
