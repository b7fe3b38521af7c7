# SPDX-License-Identifier: Apache-2.0
"""Runs the command of a test, unless it passed before and nothing that it read has changed.

strace records what the command reads. A command that does not run under a tracer has the files and folders of
`--untraced` as its inputs; `.` is the whole project, also on a machine without strace.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from ci.remember import records, traces
from ci.remember.inputs import Inputs
from ci.remember.records import Record
from pmubase import store
from pmubase.errors import UserError

ENVIRONMENT = ("env:PMUCONF_ACCEL",)
PACKAGES = ("package:*", "cache:kernels/*.json")
"""Inputs of a command without a tracer, with its files."""
MACRO = re.compile(r"^\w*CONFORMANCE_CASE\w*\(\s*(\w+),\s*(\w+)", re.M)
CASES_LOG = "PMUCONF_CASES_LOG"
"""vm/guest.py appends the cases that a guest runs to this file."""
OVERDUE = 124
PR_SET_PDEATHSIG = 1


def run(options: argparse.Namespace, root: Path) -> int:
    """Returns the exit status of the command; 0 if it passed before with the same inputs."""
    traced = options.untraced is None and traces.can_trace()
    text = f"text:remember {' '.join(options.command).replace(str(root), '.')}"
    own = {text, *ENVIRONMENT, *(() if traced else untraced(options.untraced or ["."], root))}
    now = Inputs(root)
    before = now.digests(own)
    found = records.passed(options.name, now, own)
    if found is not None:
        for path, content in found.details["reports"].items():
            store.write(root / path, content.encode())
        print("unchanged: passed before")
        return 0
    for path in options.report:
        (root / path).unlink(missing_ok=True)
    begun = time.time()
    with tempfile.TemporaryDirectory(prefix="remember-") as folder:
        log, cases = Path(folder) / "trace", Path(folder) / "cases"
        command = traces.argv(options.command, log) if traced else options.command
        status = execute(command, root, cases, options.timeout)
        if status != 0:
            return status
        names = traces.inputs(log, root) if traced else set()
        if "suite:report" in names:
            names |= {"suite:runner", *cases_that_ran(cases, now)}
    took_s = round(time.time() - begun, 2)
    try:
        reports = {path: (root / path).read_text() for path in options.report}
    except OSError as error:
        print(f"no report: {error}")
        return 1
    # A command may have read the old or the new content of a file that was written while it ran.
    files = (root / name.removeprefix("file:") for name in names if name.startswith("file:"))
    written = any(path.exists() and path.stat().st_mtime > begun for path in files)
    if not written and Inputs(root).digests(own) == before:
        digests = now.digests(own | names)
        records.write(Record(options.name, digests, took_s, {"reports": reports}))
    return 0


def untraced(paths: Sequence[str], root: Path) -> Iterable[str]:
    """The inputs of a command that reads these files and folders."""
    yield from PACKAGES
    for path in paths:
        folder = "" if path == "." else f"{path}/"
        yield f"glob:{folder}*" if (root / path).is_dir() else f"file:{path}"


def cases_that_ran(log: Path, now: Inputs) -> set[str]:
    """The object files of the cases that the command's guests ran."""
    ran = set(log.read_text(encoding="utf-8").split()) if log.exists() else set()
    files = {}
    for name in now.case_sources:
        text = (now.root / name).read_text(encoding="utf-8")
        files.update({f"{suite}.{case}": f"case:{name}" for suite, case in MACRO.findall(text)})
    return {files[case] for case in ran} if ran <= files.keys() else {"suite:cases"}


def execute(command: Sequence[str], root: Path, cases: Path, timeout_s: float) -> int:
    """Runs a command in its own process group. None of its processes outlives this function."""
    child = subprocess.Popen(
        command,
        cwd=root,
        stdin=subprocess.DEVNULL,
        env={**os.environ, CASES_LOG: str(cases)},
        start_new_session=True,
    )
    try:
        return child.wait(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        print(f"not finished after {timeout_s:.0f} s")
        return OVERDUE
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def main(argv: Sequence[str], root: Path = store.ROOT) -> int:
    """Returns the exit status of the command, 124 if it took too long, 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.remember", description=__doc__)
    add = parser.add_argument
    add("name", help="name of the records")
    add("--report", action="append", default=[], help="a file that the command writes; kept, too")
    add("--timeout", type=float, default=1500, help="seconds")
    add("--untraced", nargs="*", metavar="PATH", help="do not trace; these are the inputs")
    add("--command", nargs=argparse.REMAINDER, required=True, help="the command; the last option")
    options = parser.parse_args(argv)
    # ctest does not end its tests when it is killed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        status = run(options, root)
    except UserError as error:
        print(f"remember: {error}")
        return 2
    except KeyboardInterrupt:
        return 130
    if status != 0:
        print(f"repeat: ctest --test-dir build/check --output-on-failure -R '^{options.name}$'")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
