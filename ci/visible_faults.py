# SPDX-License-Identifier: Apache-2.0
"""Counts the faults of faults/ whose source shows them: the bugs on purpose that the review reports before they run."""

from __future__ import annotations

import argparse
import concurrent.futures
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from faults import fault as fault_file
from faults import patch
from faults.fault import Fault
from pmubase import store
from pmubase.errors import UserError

from review.__main__ import sources
from review.engine import review_file
from review.program import Program

DRIVERS = re.compile(r"(?:driver|drivers|arch)/")
"""The folders of drivers, of this project and of Linux. perf's own code has PMUs too."""
HEADER = "include/linux/perf_event.h"
VISIBLE, FOUND, HIDDEN = "visible", "found", "hidden"
"""A fault in a file that the review reads; one that it reports; one elsewhere."""


def faults_of(kinds: Sequence[str]) -> Iterator[Fault]:
    """The patches of the folders below faults/."""
    for kind in kinds:
        for path in sorted((store.ROOT / "faults" / kind).rglob("*.patch")):
            yield from fault_file.read(path)


def roots(folder: Path, changed: Sequence[str]) -> list[Path]:
    """The sources with a PMU, next to the changed files, whose review reads one of these."""
    found = []
    sources_of_drivers = [name for name in changed if name.endswith(".c") and DRIVERS.match(name)]
    for parent in {folder / Path(name).parent for name in sources_of_drivers}:
        try:
            candidates = sources([parent]) if parent.is_dir() else []
        except UserError:
            continue  # No PMU in this folder.
        wanted = {folder / name for name in changed}
        own = [path for path in candidates if path in wanted and Program(path).pmus]
        found += own or [
            path
            for path in candidates
            if (program := Program(path)).pmus and wanted & set(program.texts)
        ]
    return found


def findings(folder: Path, files: Sequence[Path]) -> Counter[tuple[str, str, str]]:
    """How often each check reports a driver, with which verdict."""
    return Counter(
        (str(found.file.relative_to(folder)), found.check, found.verdict)
        for file in files
        for found in review_file(file)
    )


def judge(fault: Fault, trees: dict[str, Path]) -> tuple[str, str]:
    """Whether the review shows a fault, and the checks that do."""
    tree = store.ROOT
    if fault.breaks != fault_file.DRIVER:
        kernels = [kernel for kernel in fault.kernels if kernel in trees]
        if not kernels:
            return HIDDEN, ""
        tree = trees[kernels[0]]
    if any(not (tree / name).is_file() for name in fault.files):
        return HIDDEN, ""
    with tempfile.TemporaryDirectory(prefix="fault.") as made:
        scratch = Path(made).resolve()
        for name in {str(Path(name).parent) for name in fault.files}:
            shutil.copytree(
                tree / name,
                scratch / name,
                ignore=lambda folder, _: _folders(folder),
                dirs_exist_ok=True,
            )
        if (tree / HEADER).is_file():
            (scratch / HEADER).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree / HEADER, scratch / HEADER)
        try:
            files = roots(scratch, fault.files)
            if not files:
                return HIDDEN, ""
            before = findings(scratch, files)
            patch.apply(fault, scratch)
            after = findings(scratch, files)
        except UserError as error:
            print(f"review: {fault.id}: {error}", file=sys.stderr)
            return HIDDEN, ""
    new = sorted({check for _, check, _ in after - before})
    return (FOUND, " ".join(new)) if new else (VISIBLE, "")


def _folders(folder: str) -> list[str]:
    return [path.name for path in Path(folder).iterdir() if path.is_dir() or path.is_symlink()]


def main(argv: Sequence[str]) -> int:
    """Prints each fault that the review shows, and a table."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.visible_faults", description=__doc__)
    parser.add_argument("--tree", action="append", default=[], metavar="SERIES=DIR")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("kinds", nargs="*", default=["driver", "devices", "kernel"])
    options = parser.parse_args(argv)
    trees = {name: Path(path) for name, path in (word.split("=", 1) for word in options.tree)}
    print("| faults | all | in a file that the review reads | reported |\n|---|---|---|---|")
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for kind in options.kinds:
            faults = list(faults_of([kind]))
            states: Counter[str] = Counter()
            shown = pool.map(judge, faults, [trees] * len(faults))
            for fault, (state, checks) in zip(faults, shown):
                states[state] += 1
                if state == FOUND:
                    print(f"{fault.name}: {checks}", file=sys.stderr)
            visible = states[FOUND] + states[VISIBLE]
            print(f"| `faults/{kind}` | {len(faults)} | {visible} | {states[FOUND]} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
