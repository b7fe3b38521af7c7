#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks and leaves build/bench/results.json beside the table."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "bench"
PROGRAM = OUT / "driver" / "bench" / "core_bench"


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    raw = OUT / "core_bench.json"
    command = [str(PROGRAM), f"--benchmark_out={raw}", "--benchmark_out_format=json"]
    try:
        status = subprocess.run(command, check=False, timeout=300).returncode
        rows = json.loads(raw.read_text())["benchmarks"]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
        print(f"bench: {PROGRAM}: could not be run: {error}", file=sys.stderr)
        return 2
    failed = sum(1 for row in rows if row.get("error_occurred"))
    results = {
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
    (OUT / "results.json").write_text(json.dumps(results, indent=2) + "\n")
    if status != 0 or not rows:
        print(f"bench: {PROGRAM} ended with status {status}", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
