# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks, then compares costs in a guest. Writes build/bench/results.json."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci import costs
from pmubase.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "bench"
PROGRAM = OUT / "driver" / "bench" / "core_bench"
DEFAULT_KERNEL = "6.12"


class BenchError(Exception):
    """The benchmarks did not run. The message is one line with the cause."""


def run_benchmarks(program: Path, raw: Path) -> list[dict[str, Any]]:
    """Runs the Google benchmarks and returns a row for each."""
    command = [str(program), f"--benchmark_out={raw}", "--benchmark_out_format=json"]
    try:
        raw.unlink(missing_ok=True)
        status = subprocess.run(command, check=False, timeout=300).returncode
        rows: list[dict[str, Any]] = json.loads(raw.read_text())["benchmarks"]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        raise BenchError(f"{program}: no benchmark results: {error}") from error
    if status != 0 or not rows:
        raise BenchError(f"{program} ended with status {status}")
    return rows


def results(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The content of the results file of the benchmarks."""
    failed = sum(1 for row in rows if row.get("error_occurred"))
    return {
        "totals": {
            "cases": len(rows),
            "passed": len(rows) - failed,
            "failed": failed,
            "skipped": 0,
        },
        "benchmarks": [
            {"name": row["name"], "cpu_time": row["cpu_time"], "time_unit": row["time_unit"]}
            for row in rows
            if not row.get("error_occurred")
        ],
    }


def main(arguments: Sequence[str]) -> int:
    """Returns 0, 1 if a benchmark failed, or 2 if something did not run. A missed goal is reported, but is no failure:
    the machine may be busy."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.bench", description=__doc__)
    parser.add_argument("--no-vm", action="store_true", help="do not start the guest")
    parser.add_argument(
        "--kernel", default=DEFAULT_KERNEL, help="kernel of the guest; default %(default)s"
    )
    options = parser.parse_args(arguments)
    report = OUT / "results.json"
    report.unlink(missing_ok=True)
    try:
        found = results(run_benchmarks(PROGRAM, OUT / "core_bench.json"))
        if not options.no_vm:
            found["guest"] = costs.report(costs.run(options.kernel, ROOT / "driver"))
    except (BenchError, UserError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    report.write_text(json.dumps(found, indent=2) + "\n")
    return 1 if found["totals"]["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
