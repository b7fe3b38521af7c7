# SPDX-License-Identifier: Apache-2.0
"""Prints the lists of ci/ctest/CMakeLists.txt that only Python code knows. With the argument True, the jobs of the matrix,
too, which build/guest/conformance/pmuconf must read."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from ci import lint, matrix_file
from ci.faults import kernels
from fuzz import corpora
from pmubase.errors import UserError
from vm import kernel, stock

LEEWAY_S = 3600


def job_text(job: matrix_file.Job) -> str:
    """The declaration of a job of the matrix."""
    out = f"matrix+{job.name.replace('/', '+')}"
    return (
        f"pmuconf_test(matrix/{job.name} COMMAND {' '.join(job.command(Path('build/check') / out))}\n"
        f"  REPORTS {out}/results.json NEEDS guest COST {60 * job.minutes:.0f}"
        f" TIMEOUT {job.budget_s + LEEWAY_S:.0f})"
    )


def text(matrix: bool) -> str:
    """The lists, as CMake reads them."""
    lists = {
        "KERNELS": [*reversed(kernel.known())],
        "DEBUG_KERNELS": kernel.debug_known(),
        "KUNIT_KERNELS": stock.with_sources(),
        "FAULT_KERNELS": kernels.series(),
        "CHECKED_JOBS": [f"{target}-{name}" for name, target in matrix_file.checked()],
        "CHECKED_TARGETS": sorted({target for _, target in matrix_file.checked()}),
        "LINT_STEPS": [name for name in lint.step_names() if name != "clang-tidy"],
        "FUZZ_SUBJECTS": corpora.subjects(),
    }
    lines = [f"set({name} {' '.join(words)})" for name, words in lists.items()]
    jobs = [job for job in matrix_file.read() if not job.check] if matrix else []
    return "\n".join([*lines, *map(job_text, jobs)])


def main(argv: Sequence[str]) -> int:
    """Returns 2 if the matrix cannot be read."""
    try:
        print(text(matrix="True" in argv))
    except UserError as error:
        print(f"lists: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
