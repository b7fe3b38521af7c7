# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that a change needs, or all with --nightly: by ctest, in build/check."""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

from ci import verified_rules
from ci import parts
from ci.remember.records import SINCE
from pmubase import store
from vm import page

ROOT = store.ROOT
SOURCE = ROOT / "ci" / "ctest"
OUT = ROOT / "build" / "check"


def ctest_words(options: argparse.Namespace) -> list[str]:
    """The command that runs the chosen tests."""
    words = ["ctest", "--test-dir", str(OUT), "-j", str(len(os.sched_getaffinity(0)))]
    words += ["--output-on-failure", "--no-tests=error", "--output-junit", str(OUT / "tests.xml")]
    words += ["-L", "^nightly$" if options.nightly else "^check$"]
    words += ["-R", f"^({options.stages.replace(',', '|')})(/|$)"] if options.stages else []
    words += ["-I", f"{options.shard[0]},,{options.shard[1]}"] if options.shard else []
    return [*words, *(["--progress"] if sys.stdout.isatty() else [])]


def record_results(nightly: bool) -> int:
    """Adds a nightly run to the history. Returns 1 if no passed test verifies some rule."""
    reports = [str(path) for path in (*OUT.glob("*/results.json"), *OUT.glob("pytest*.xml"))]
    runs = [path for path in reports if "/run+" in path or "/matrix+" in path]
    if nightly and runs and page.command(["history", "add", *runs]) != 0:
        print("check: the history lacks these runs", file=sys.stderr)
    return verified_rules.main([*(["--nightly"] if nightly else []), *reports])


def main(argv: Sequence[str]) -> int:
    """Returns 0 if all passed, 1 if a test failed, 2 if nothing could run."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.check", description=__doc__)
    add = parser.add_argument
    add("--stages", help="run only these groups and tests: regular expressions, with commas")
    add("--nightly", action="store_true", help="run all tests, also those that take long")
    add("--shard", type=parts.numbers, metavar="K/N", help="run one of N shards")
    add("--fresh", action="store_true", help="run tests that passed before, too")
    options = parser.parse_args(argv)
    whole = not options.stages and not options.shard
    configure = ["cmake", "-S", str(SOURCE), "-B", str(OUT), f"-DNIGHTLY={options.nightly}"]
    if subprocess.run(configure, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        return 2
    # A nightly run repeats what passed before it began. It ends when all tests have passed.
    night = OUT / "night"
    if options.nightly and (options.fresh or not night.exists()):
        night.write_text(str(time.time()))
    since = night.read_text() if options.nightly else str(time.time() if options.fresh else 0)
    for path in (*OUT.glob("*/results.json"), *OUT.glob("pytest*.xml")) if whole else ():
        path.unlink()  # A test that passed before writes its reports again.
    (OUT / "tests.xml").unlink(missing_ok=True)
    environment = {**os.environ, SINCE: since}
    status = subprocess.run(ctest_words(options), env=environment, check=False).returncode
    junit = (OUT / "tests.xml").read_text() if (OUT / "tests.xml").exists() else ""
    results = re.findall(r'<testcase [^>]*status="(\w+)"', junit)
    if not results:
        chosen = f" that matches --stages '{options.stages}'" if options.stages else ""
        print(f"check: no test ran{chosen}; ctest --test-dir {OUT} -N lists them", file=sys.stderr)
        return 2
    failed = status != 0 or (whole and record_results(options.nightly) != 0)
    print(f"{results.count('run')} passed, {len(results) - results.count('run')} failed")
    if options.nightly and not options.stages and not failed:
        night.unlink()
    return int(failed)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
