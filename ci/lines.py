# SPDX-License-Identifier: Apache-2.0
"""Reports the lines of the driver's kernel code that the KUnit suites and the suite's cases reach together."""

from __future__ import annotations

import argparse
import base64
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ci import kunit_command
from pmubase import store
from pmubase.errors import UserError
from vm import guest, kernel, runs, suite

OUT = store.ROOT / "build" / "lines"
CONFIG = store.ROOT / "ci" / "coverage.config"
SOURCE = re.compile(r"\bdriver/(?:(?:core_pmu|uncore|trace|port|compat)/[\w./]+|module\.\w+)$")
"""A file of the driver's kernel code, at the end of a path. The unit tests cover driver/core and driver/model."""
LEAST_PERCENT = 85.0
KERNELS = tuple(reversed(kernel.known()))
BUILD_S = 3600
GCOV_S = 120
BOOT_S = 300.0
COUNTS = "/sys/kernel/debug/gcov"

# A target, the cases for its part of the driver, and kernel parameters. A built-in driver takes its module parameters
# from the kernel command line. The KUnit suites run at the first boot.
BOOTS = (
    ("refpmu", "", ""),
    ("refpmu_trace", "Aux*", "kunit.enable=0"),
    ("refpmu_uncore", "Uncore*", "kunit.enable=0"),
)

Counts = dict[str, dict[int, int]]
"""The number of executions of each line, by file."""


@dataclass(frozen=True)
class Report:
    """A file of the driver, its lines, and the lines without an execution."""

    path: str
    lines: int
    missed: tuple[int, ...]

    @property
    def reached(self) -> int:
        return self.lines - len(self.missed)


def percent(files: Sequence[Report]) -> float:
    lines = sum(file.lines for file in files)
    return 100.0 * sum(file.reached for file in files) / lines if lines else 0.0


def merge(counts: Counts, report: Any) -> None:
    """Adds to `counts` the lines of the driver's files in one report of gcov."""
    try:
        for file in report["files"]:
            found = SOURCE.search(file["file"])
            if found is None:
                continue
            lines = counts.setdefault(found.group(), {})
            for line in file["lines"]:
                number = line["line_number"]
                lines[number] = lines.get(number, 0) + line["count"]
    except (KeyError, TypeError) as error:
        raise UserError(f"gcov wrote a report in an unknown format: {error!r}") from error


def judge(counts: Counts) -> tuple[list[Report], list[str], bool]:
    """The files, the report as lines, and whether enough lines were reached."""
    files = [
        Report(path, len(lines), tuple(sorted(n for n, count in lines.items() if not count)))
        for path, lines in sorted(counts.items())
    ]
    rows = []
    for file in files:
        rows.append(f"{percent([file]):6.1f} %  {file.reached:4}/{file.lines:<4} {file.path}")
        if file.missed:
            rows.append(f"          not reached: lines {', '.join(_ranges(file.missed))}")
    enough = percent(files) >= LEAST_PERCENT
    verdict = "enough" if enough else f"less than {LEAST_PERCENT:.0f} %"
    rows.append(f"{percent(files):6.1f} %  of the lines of the kernel code: {verdict}")
    return files, rows, enough


def _ranges(lines: Sequence[int]) -> Iterator[str]:
    first = last = lines[0]
    for line in [*lines[1:], 0]:
        if line == last + 1:
            last = line
            continue
        yield str(first) if first == last else f"{first}-{last}"
        first = last = line


def build(name: str) -> Path:
    """Builds a kernel with the driver and its suites that counts the driver's executed lines."""
    suites = OUT / "suites"
    shutil.rmtree(suites, ignore_errors=True)
    shutil.copytree(store.ROOT / "kunit", suites, ignore=shutil.ignore_patterns("__pycache__"))
    with (suites / ".kunitconfig").open("a", encoding="utf-8") as fragment:
        fragment.write(CONFIG.read_text(encoding="utf-8"))
    words = ["--build-only", "--kernel", name, "--suites", str(suites), "--out", str(OUT)]
    status, output = kunit_command.run(words, BUILD_S, "the kernel is not built")
    if status != 0:
        raise UserError(output)
    return OUT / f"bzImage-{name}"


def boot(image: Path, name: str, glob: str, words: str) -> dict[PurePosixPath, bytes]:
    """Runs the cases of a target in one guest, and returns the kernel's counts by file.

    The results of the cases do not matter here: no target is judged on this kernel.
    """
    target = suite.find_target(name)
    parameters = " ".join(f"refpmu.{parameter}" for parameter in target.parameters)
    cases = suite.cases(target, suite.Selection(case=glob))
    machine = runs.machine(kernel.find(str(image)), target, cmdline=f"{words} {parameters}")
    print(f"{name}: {len(cases)} cases", flush=True)
    with guest.Guest(machine, OUT / f"console-{name}.log") as vm:
        try:
            vm.boot(BOOT_S)
            for case in cases:
                vm.case(case.id, case.deadline_s(target.slowness))
            return fetch(vm)
        except guest.GuestLost as lost:
            raise UserError(f"{name}: guest lost: {lost.cause}", details=lost.tail) from None


def fetch(vm: guest.Guest) -> dict[PurePosixPath, bytes]:
    """Copies the files with counts from the guest, by the path of the object file."""
    listed = vm.exec(["/bin/find", COUNTS, "-name", "*.gcda"])
    names = listed.stdout.split()
    if listed.status or not names:
        raise UserError(f"the kernel counts no lines: {COUNTS}: {listed.stderr.strip()}")
    found = {}
    for name in names:
        read = vm.exec(["/bin/base64", name])
        if read.status:
            raise UserError(f"{name}: {read.stderr.strip()}")
        found[PurePosixPath(name.removeprefix(COUNTS))] = base64.b64decode(read.stdout)
    return found


def read(found: Mapping[PurePosixPath, bytes], folder: Path, counts: Counts) -> None:
    """Runs gcov on the counts of a boot and the compiler's notes, and adds the result to `counts`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path, data in found.items():
        if not SOURCE.search(str(path)):
            continue
        (folder / path.name).write_bytes(data)
        shutil.copyfile(path.with_suffix(".gcno"), folder / f"{path.stem}.gcno")
        done = subprocess.run(
            ["gcov", "--json-format", "--stdout", path.name],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=GCOV_S,
            check=False,
        )
        if done.returncode != 0:
            raise UserError(f"gcov cannot read {folder / path.name}: {done.stderr.strip()}")
        merge(counts, json.loads(done.stdout))


def measure(name: str) -> Counts:
    image = build(name)
    counts: Counts = {}
    for target, glob, words in BOOTS:
        read(boot(image, target, glob, words), OUT / target, counts)
    return counts


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m ci.lines", description=__doc__)
    parser.add_argument("--kernel", choices=KERNELS, default=KERNELS[0])
    options = parser.parse_args(argv)
    OUT.mkdir(parents=True, exist_ok=True)
    results = OUT / "results.json"
    results.unlink(missing_ok=True)
    try:
        counts = measure(options.kernel)
    except (UserError, OSError, ValueError, subprocess.TimeoutExpired) as error:
        print(f"lines: {error}", file=sys.stderr)
        return 2
    files, rows, enough = judge(counts)
    print("\n".join(rows))
    left = {
        "kernel": options.kernel,
        "percent": round(percent(files), 2),
        "files": [
            {"path": file.path, "lines": file.lines, "missed": list(file.missed)} for file in files
        ],
        "totals": {"cases": 1, "passed": int(enough), "failed": int(not enough), "skipped": 0},
    }
    results.write_text(json.dumps(left, indent=1) + "\n", encoding="utf-8")
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
