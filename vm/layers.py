# SPDX-License-Identifier: Apache-2.0
"""Runs the layers besides the suite for one target and kernel: KUnit, watch, and the pytest tests that verify rules.

Each layer writes a file that `pmuconf report --layer LAYER=FILE` joins with the suite's results.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import sys
from collections.abc import Sequence

from pmubase import store
from pmubase.errors import UserError

from . import arch, guest, kernel, module, session, suite

SUITE, KUNIT, WATCH, VM, FUZZ = NAMES = ("suite", "kunit", "watch", "vm", "fuzz")
ALL = "all"
FILES = {
    KUNIT: "kunit/results.json",
    WATCH: "watch.json",
    VM: "vm.json",
    FUZZ: "fuzz.json",
}
"""The file of each layer, relative to the folder of the report."""
PRODUCTS = (*FILES.values(), "kunit/console.log", "kunit/build.log")
TESTED = "refpmu"
"""The target of the tests of the layer `vm`."""
LAYER_S = 3600
WATCH_S = 600
WORKLOAD = ("CNT-*", "SMP-*", "THR-*", "MUX-*", "GRP-*")
"""The rules whose cases run while watch checks the driver. They use all callbacks."""
WATCH_SCRIPT = """
cd /sys/bus/event_source/devices && pmu=$(ls -d {match} | head -n 1)
exec pmuconf watch --pmu "$pmu" --json /tmp/watch.json -- sh -c \
  'for rule in {rules}; do pmuconf run --target /target.toml --pmu '"$pmu"' --rule "$rule"; done >/dev/null 2>&1'
"""


@dataclasses.dataclass(frozen=True)
class Selected:
    """The layers of a run, besides the suite."""

    names: tuple[str, ...] = ()
    every: bool = False
    """Whether the user asked for all of them, and not for these by name."""


@dataclasses.dataclass(frozen=True)
class Subject:
    """The driver, its kernel and its guest."""

    target: suite.Target
    kernel: kernel.Kernel
    plan: session.Plan
    given: pathlib.Path | None
    """The module that the user gave instead of the built one."""


def parse(text: str) -> Selected:
    """The layers in "all" or "suite,kunit". UserError for an unknown name, or without the suite."""
    if text == ALL:
        return Selected(NAMES[1:], every=True)
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in NAMES:
            known = ", ".join((*NAMES, ALL))
            raise UserError(f"unknown layer '{name}' in LAYERS '{text}'; known: {known}")
    if SUITE not in names:
        raise UserError(f"LAYERS '{text}' lacks suite: a verdict joins other layers with the suite")
    return Selected(tuple(name for name in NAMES[1:] if name in names))


def runnable(selected: Selected, subject: Subject) -> tuple[str, ...]:
    """The layers that can run on a subject. Prints the others if the user asked for all layers, else UserError."""
    found = []
    for name in selected.names:
        why = _skip_reason(name, subject)
        if not why:
            found.append(name)
        elif selected.every:
            print(f"not run: {name}: {why}", file=sys.stderr)
        else:
            raise UserError(f"layer {name}: {why}")
    return tuple(found)


def _skip_reason(name: str, subject: Subject) -> str:
    """Why a layer cannot run on a subject, or ""."""
    if name == WATCH:
        return ""
    if subject.target.module != module.NAME:
        return (
            f"its tests here are of the driver {module.NAME}; docs/porting.md joins those of yours"
        )
    if subject.given is not None:
        return "its tests build the driver themselves, and do not use the module of --module"
    if name == FUZZ:
        return ""
    if subject.kernel.arch != arch.AMD64:
        return f"its tests run on {arch.AMD64.name} only"
    series = subject.kernel.name.removesuffix(kernel.DEBUG_SUFFIX)
    if series not in kernel.known() or (name == VM and series != subject.kernel.name):
        return f"its tests run on the kernels {', '.join(kernel.known())} only"
    if name == VM and subject.target.name != TESTED:
        return f"its tests are of the target {TESTED}"
    return ""


def run(names: Sequence[str], subject: Subject, out: pathlib.Path) -> list[str]:
    """Runs layers one after the other, and returns their LAYER=FILE. UserError if a layer has no result."""
    joined = []
    for name in names:
        file = out / FILES[name]
        print(f"layer {name}", file=sys.stderr, flush=True)
        if name == WATCH:
            _watch(subject, file)
        else:
            _command(name, _words(name, subject, file), file)
        joined.append(f"{name}={file}")
    return joined


def _words(name: str, subject: Subject, file: pathlib.Path) -> list[str]:
    """The command of a layer that is a program of its own."""
    series = subject.kernel.name.removesuffix(kernel.DEBUG_SUFFIX)
    if name == KUNIT:
        debug = ["--debug"] if subject.kernel.needs.debug else []
        return ["kunit.pmukunit", "--kernel", series, *debug, "--out", str(file.parent)]
    words = ["vm.rule_tests", "--layer", name, "--out", str(file)]
    return words + (["--kernel", series] if name == VM else [])


def _command(name: str, words: Sequence[str], file: pathlib.Path) -> None:
    argv = [sys.executable, "-m", *words]
    try:
        done = subprocess.run(
            argv,
            cwd=store.ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LAYER_S,
        )
    except subprocess.TimeoutExpired as late:
        raise UserError(f"layer {name}: no result after {LAYER_S} s") from late
    last = [line for line in done.stdout.splitlines() if line.strip()][-1:]
    print("".join(f"  {line}\n" for line in last), end="", file=sys.stderr, flush=True)
    if not file.is_file():
        said = [line for line in done.stderr.splitlines() if line.strip()] or last or ["no result"]
        raise UserError(f"layer {name}: {said[-1]}", details="\n".join(said[:-1]))


def _watch(subject: Subject, file: pathlib.Path) -> None:
    """Watches the driver in a guest while cases use it."""
    plan = subject.plan
    script = WATCH_SCRIPT.format(match=subject.target.match, rules=" ".join(map(_quoted, WORKLOAD)))
    try:
        with guest.Guest(plan.machine, log=file.with_name("watch.log")) as vm:
            vm.boot(plan.boot_s)
            if plan.module is not None:
                vm.load(plan.module, plan.parameters)
            done = vm.exec(["sh", "-c", script], round(WATCH_S * plan.slowness))
            written = vm.exec(["cat", "/tmp/watch.json"])
            reports = vm.kmsg()["reports"]
            vm.bye()
    except guest.ModuleRefused as refused:
        raise UserError(f"a module does not load: {refused}") from refused
    except guest.GuestLost as lost:
        raise UserError(f"layer {WATCH}: guest lost: {lost.cause}", details=lost.tail) from lost
    said = [line for line in done.stderr.splitlines() if line.strip()]
    if done.status not in (0, 1) or written.status != 0:
        raise UserError(f"layer {WATCH}: {said[-1] if said else f'status {done.status}'}")
    try:
        document = json.loads(written.stdout)
    except ValueError as error:
        raise UserError(f"layer {WATCH}: its results are not JSON: {error}") from error
    document |= {"target": subject.target.name, "problems": reports}
    store.write(file, (json.dumps(document, indent=1) + "\n").encode())
    print(f"  {done.stdout.splitlines()[-1]}", file=sys.stderr, flush=True)


def _quoted(glob: str) -> str:
    """A word for a shell script inside single quotes."""
    return f'"{glob}"'
