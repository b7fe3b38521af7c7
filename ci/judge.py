# SPDX-License-Identifier: Apache-2.0
"""Judges a target on a stock kernel. A case that passed before with the same inputs does not run again.

The inputs of a case are the part of the suite that runs cases, the case's object file, the target's files, the module,
the kernel and the emulator. Each run writes a new report from all available results.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ci.remember import records
from ci.remember.inputs import Inputs
from ci.remember.records import Record
from pmubase import store
from pmubase.errors import UserError
from vm import kernel, module, runs, session, suite, together
from vm.channel import Message
from vm.progress import Progress

ROOT = Path(__file__).resolve().parent.parent

MACHINE = ("package:qemu-system-x86", "package:qemu-system-data", "package:busybox-static")
RUNNER = (
    *(
        f"file:{path.relative_to(ROOT)}"
        for folder in ("pmubase", "vm")
        for path in sorted((ROOT / folder).iterdir())
        if path.suffix in (".py", ".json")
    ),
    *("file:vm/initrd/init", "file:ci/__init__.py", "file:ci/judge.py"),
)
GOOD = ("PASS", "SKIP")


def common_inputs(target: suite.Target, name: str) -> list[str]:
    """The inputs that all cases of a run have."""
    return [
        *MACHINE,
        *RUNNER,
        "suite:runner",
        "env:PMUCONF_ACCEL",
        f"file:vm/kernels/{name}.toml",
        f"cache:kernels/{name}-amd64.json",
        f"text:{store.digest([target.merged.encode()])}",
        *(driver_inputs() if target.module else ()),
        *(built_inputs(name) if name not in kernel.known() else ()),
    ]


def driver_inputs() -> list[str]:
    """The inputs of the driver's module."""
    paths = [f"driver/{name}" for name in module.SOURCES]
    folders = [f"glob:{path}/*" for path in paths if (ROOT / path).is_dir()]
    files = [f"file:{path}" for path in paths if (ROOT / path).is_file()]
    return [*folders, *files, "program:gcc"]


def built_inputs(name: str) -> list[str]:
    """The inputs of a kernel that this project builds."""
    return ["glob:vm/kernels/*", f"source:{name.partition('-')[0]}", "program:gcc"]


def groups(cases: Sequence[suite.Case]) -> dict[str, list[suite.Case]]:
    """The cases by their source file."""
    found: dict[str, list[suite.Case]] = {}
    for case in cases:
        found.setdefault(case.file, []).append(case)
    return found


def record_name(target: suite.Target, name: str, source: str) -> str:
    """The name of the record of one source file's cases on one target and kernel."""
    return f"cases/{target.name}-{name}/{source.removeprefix('conformance/cases/')}"


class Run:
    """One target on one kernel."""

    def __init__(self, target: suite.Target, name: str, out: Path) -> None:
        self._target = target
        self._kernel = kernel.find(name)
        self._name = name
        self._out = out
        self._cases = suite.cases(target, suite.Selection())
        self._messages: list[Message] = []

    def judge(self) -> int:
        """Runs the cases without a valid record. Returns the exit status of `pmuconf report`."""
        inputs = Inputs(ROOT)
        common = common_inputs(self._target, self._name)
        todo: list[suite.Case] = []
        stale: dict[str, list[str]] = {}
        for source, cases in groups(self._cases).items():
            names = [*common, f"case:{source}"]
            found = self._recorded(source, cases, inputs, names)
            if found is None:
                todo += cases
                stale[source] = names
            else:
                self._messages += found.details["messages"]
        where = f"{self._target.name} on {self._kernel.release}"
        count = len(self._cases)
        print(f"{where}: {count} cases, {count - len(todo)} passed before", flush=True)
        clean = self._run(todo) if todo else True
        if clean:
            for source, names in stale.items():
                self._write(source, inputs, names)
        return self._report()

    def _recorded(
        self, source: str, cases: Sequence[suite.Case], inputs: Inputs, names: Sequence[str]
    ) -> Record | None:
        found = records.passed(record_name(self._target, self._name, source), inputs, names)
        if found is None:
            return None
        ran = {message["id"] for message in found.details["messages"]}
        return found if ran == {case.id for case in cases} else None

    def _run(self, todo: Sequence[suite.Case]) -> bool:
        """Runs cases in a guest. Returns whether the guest reported no problem."""
        ready = runs.plan(self._target, self._kernel, None)
        progress = Progress(len(todo), sys.stderr)
        begin = len(self._messages)
        self._out.mkdir(parents=True, exist_ok=True)
        with session.Session(ready, self._out / "console.log", self._messages.append) as guests:
            together.run([guests], todo, progress.result)
        ran = self._messages[begin:]
        reports = [message for message in ran if message["t"] == "kmsg" and message["reports"]]
        stuck = [message for message in ran if message["t"] == "unload" and not message["ok"]]
        crashed = [message for message in ran if message.get("result") == "CRASH"]
        return not (reports or stuck or crashed)

    def _write(self, source: str, inputs: Inputs, names: Sequence[str]) -> None:
        wanted = {case.id for case in self._cases if case.file == source}
        own = [m for m in self._messages if m["t"] == "result" and m["id"] in wanted]
        if {m["id"] for m in own} != wanted or any(m["result"] not in GOOD for m in own):
            return
        took_s = sum(float(m["duration_s"]) for m in own)
        name = record_name(self._target, self._name, source)
        records.write(Record(name, inputs.digests(names), round(took_s, 3), {"messages": own}))

    def _report(self) -> int:
        first = {
            "t": "run",
            "target": self._target.name,
            "kernel": self._kernel.name,
            "release": self._kernel.release,
            "version": kernel.stable_version(self._kernel),
            "arch": self._kernel.arch.machine,
            "profile": "",
            "selected": [case.id for case in self._cases],
            "partial": False,
            "shuffle": None,
        }
        stream = self._out / "stream.jsonl"
        lines = [first, *self._messages, {"t": "end"}]
        store.write(stream, "".join(f"{json.dumps(line)}\n" for line in lines).encode())
        again = f"make run KERNEL={self._name} TARGET={self._target.name} CASE="
        how = suite.Reporting(verdict=suite.OF_ALL)
        return suite.report(stream, self._target, suite.Selection(), self._out, again, how)


def main(argv: Sequence[str]) -> int:
    """Returns 0 if conformant, 1 if not, 2 if not judged."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.judge", description=__doc__)
    parser.add_argument("--target", required=True, help="name of a file in conformance/targets")
    parser.add_argument("--kernel", required=True, choices=kernel.known())
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(argv)
    try:
        target = suite.find_target(options.target)
        (options.out / "results.json").unlink(missing_ok=True)
        return Run(target, options.kernel, options.out).judge()
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"judge: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
