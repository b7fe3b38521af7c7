# SPDX-License-Identifier: Apache-2.0
"""Runs the same random programs on two kernels, or with two drivers, and lists those whose observations differ."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence

from ci import specify
from pmubase import store
from vm import suite

OUT = store.ROOT / "build" / "compare"
COMPARE_S = 300


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.compare", description=__doc__)
    parser.add_argument("--kernels", default="6.1 6.12", help="two names: '6.1 6.12'")
    parser.add_argument("--target", default="refpmu", choices=specify.TARGETS)
    parser.add_argument("--seconds", default="60", help="for each kernel (60)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--fault", help="a fault of the second driver, by its id")
    options = parser.parse_args(argv)
    kernels = options.kernels.split()
    if len(kernels) != 2:
        print("compare: --kernels needs two names", file=sys.stderr)
        return 2
    recordings = []
    for number, kernel in enumerate(kernels, 1):
        folder = OUT / f"{number}-{kernel}"
        words = ["--kernel", kernel, "--target", options.target, "--seed", options.seed]
        words += ["--seconds", options.seconds, "--record", str(folder)]
        words += ["--fault", options.fault] if options.fault and number == 2 else []
        print(f"{kernel}:", flush=True)
        if specify.main(words) == 2:
            return 2
        recordings.append(folder / f"{options.target}.jsonl")
    words = [
        str(suite.binary()),
        "compare",
        *(str(path.relative_to(store.ROOT)) for path in recordings),
    ]
    return subprocess.run(words, cwd=store.ROOT, timeout=COMPARE_S, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
