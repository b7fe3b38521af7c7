# SPDX-License-Identifier: Apache-2.0
"""Runs the suite for one target and kernel, or for all of them, and compares two runs."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import json
import pathlib
import random
import shlex
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pmubase import store
from pmubase.errors import UserError

from . import (
    arch,
    device,
    guest,
    image,
    kernel,
    layers,
    leaks,
    load,
    module,
    qemu,
    release,
    session,
    snapshot,
    stock,
    suite,
    together,
)
from . import driver as kernel_driver
from .channel import Message
from .machine_options import MachineOptions
from .progress import Progress

CONSOLES = ("console.log", "console-2.log", "console-3.log", "console-4.log")
"""The console output of each guest that runs cases at the same time."""
PRODUCTS = (
    *("stream.jsonl", *CONSOLES, "results.json", "results.ktap", "junit.xml", "watch.log"),
    "index.html",
    *layers.PRODUCTS,
)
PASSED_BYTES = 512 << 10
"""Maximum size of a compressed module that is passed to a guest, which reads it one byte at a time."""
PASSED_LEVEL = 6
PASSED_KEPT_BYTES = 64 << 20
CONFORMANT, NOT_CONFORMANT, NOT_JUDGED = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Request:
    """The options of a run."""

    target: str
    """A name in conformance/targets, or a file."""
    kernel: str
    arch: str
    selection: suite.Selection
    out: pathlib.Path
    module: pathlib.Path | None = None
    """A module to load instead of a built one."""
    parameters: str | None = None
    """Parameters of the module, instead of the target's."""
    shuffle: int | None = None
    """The seed of a random order of the cases."""
    isolate: bool = False
    """Whether each case has a separate guest."""
    boot: bool = False
    """Whether to boot each guest instead of starting it from a snapshot."""
    boot_s: float = guest.BOOT_S
    machine: MachineOptions = MachineOptions()
    """Options that override the target's."""
    others: layers.Selected = layers.Selected()
    """The layers that run besides the suite."""
    lava: bool = False
    """Whether the report has LAVA's signals."""
    verdict: str = suite.OF_TARGET
    """Whose verdict decides the exit status: suite.OF_TARGET or suite.OF_ALL."""
    guests: int = 1
    """The most guests that run cases at the same time."""
    load: bool = False
    """Whether other tasks run in the guests, see load.files()."""
    drafted: bool = False
    """Whether the target is the draft of a probe."""

    def repro_command(self) -> str:
        """The repro command without the case's id at its end."""
        words = {
            "KERNEL": self.kernel,
            "TARGET": self.target,
            "ARCH": self.arch if self.arch != arch.AMD64.name else "",
            "MODULE": str(self.module or ""),
            "PARAMETERS": self.parameters or "",
            **self.machine.variables(),
            "LOAD": "1" if self.load else "",
        }
        return " ".join(
            ["make run", *(f"{key}={shlex.quote(word)}" for key, word in words.items() if word)]
            + ["CASE="]
        )


def run_target(request: Request) -> int:
    """Runs the selected cases on one target and kernel, has them judged, and returns the exit status."""
    if request.others.names and request.selection.partial:
        raise UserError("LAYERS joins whole layers: it does not go with CASE or RULE")
    target = suite.find_target(request.target)
    if request.parameters is not None:
        target = dataclasses.replace(target, parameters=tuple(request.parameters.split()))
    check_arch(target, request.arch)
    cases = suite.cases(target, request.selection)
    found = kernel.find(kernel_of(request.kernel, target), arch.find(request.arch))
    target = dataclasses.replace(target, machine=request.machine.over(target.machine))
    # Booting is cheap compared with the whole catalogue, and isolated cases use a snapshot of their own.
    boot = request.boot or request.isolate or request.load or not request.selection.partial
    beside = load.files(found.arch) if request.load else {}
    ready = plan_from_snapshot(
        target, found, request.module, request.boot_s, boot=boot, files=beside
    )
    subject = layers.Subject(target, found, ready, request.module)
    others = layers.runnable(request.others, subject)
    if request.shuffle is not None:
        random.Random(request.shuffle).shuffle(cases)

    out = request.out
    with store.writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for name in PRODUCTS:
            (out / name).unlink(missing_ok=True)
    stream = out / "stream.jsonl"
    progress = Progress(len(cases), sys.stderr)
    start = () if ready.machine.state is None else ("snapshot",)
    start += ("under load",) if request.load else ()
    where = f"{found.release} ({' '.join((ready.machine.accel, *start, *ready.parameters))})"
    order = "" if request.shuffle is None else f", in the order of --shuffle {request.shuffle}"
    progress.print_line(f"{target.name} on {where}: {len(cases)} cases{order}")
    first = {
        "t": "run",
        "target": target.name,
        "kernel": found.name,
        "release": found.release,
        "version": kernel.stable_version(found),
        "arch": found.arch.machine,
        "profile": request.selection.profile,
        "selected": [case.id for case in cases],
        "partial": request.selection.partial,
        "drafted": request.drafted,
        "shuffle": request.shuffle,
    }
    try:
        with store.writing(out), stream.open("w", encoding="utf-8") as file:
            lock = threading.Lock()

            def record(message: Message) -> None:
                with lock:
                    file.write(json.dumps(message) + "\n")
                    file.flush()

            record(first)
            count = together.count(request.guests, len(cases))
            with contextlib.ExitStack() as stack:
                guests = [
                    stack.enter_context(
                        session.Session(ready, out / name, record, alone=request.isolate)
                    )
                    for name in CONSOLES[:count]
                ]
                together.run(guests, cases, progress.result)
            record({"t": "end"})
        joined = layers.run(others, subject, out)
    except (UserError, KeyboardInterrupt):
        # No result was judged, so no file may remain that looks like a result.
        for name in PRODUCTS:
            (out / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            (out / layers.KUNIT).rmdir()
        with contextlib.suppress(OSError):
            out.rmdir()
        raise
    again = request.repro_command()
    how = suite.Reporting(tuple(joined), request.lava, request.verdict)
    return suite.report(stream, target, request.selection, out, again, how)


def check_arch(target: suite.Target, of: str) -> None:
    """UserError if guests of the architecture `of` do not have the target's PMU."""
    if target.arch not in (None, of):
        raise UserError(f"the target {target.name} needs guests with ARCH={target.arch}")


def kernel_of(requested: str, target: suite.Target) -> str:
    """The name of the requested kernel. If the request is a series, the kernel of the target's kind."""
    if target.kind is None or requested not in stock.series():
        return requested
    name = f"{requested}-{target.kind}"
    if name not in kernel.built_known():
        raise UserError(f"{target.path}: vm.kernel: there is no kernel {name}")
    return name


def run_all_targets(request: Request, kernels: Sequence[str]) -> int:
    """Runs each target of the suite on each of `kernels`, and returns the worst status.

    Each run has its own folder in `request.out`. A run that fails to start counts as not judged.
    """
    rows = []
    for target in suite.targets_on(request.arch):
        for name in kernels:
            label = f"{target}-{pathlib.Path(name).name}"
            this = dataclasses.replace(request, target=target, kernel=name, out=request.out / label)
            print(f"== {target} on {name}", flush=True)
            try:
                status = run_target(this)
            except UserError as error:
                print(f"pmuvm: {error}", file=sys.stderr)
                status = NOT_JUDGED
            rows.append((label, status, _results(this.out) if status != NOT_JUDGED else {}))
    print()
    for label, status, results in rows:
        print(f"{label:32} {_tally(status, results)}")
    bad = [status for _, status, _ in rows if status != CONFORMANT]
    print(f"{len(rows) - len(bad)} of {len(rows)} runs are conformant")
    return NOT_CONFORMANT if NOT_CONFORMANT in bad else NOT_JUDGED if bad or not rows else 0


def differences(one_path: pathlib.Path, other_path: pathlib.Path) -> list[str]:
    """A line for each case whose results differ between two results.json (or folders of them)."""
    results = []
    for path in (one_path, other_path):
        found = _results(path)
        if not found:
            raise UserError(f"{path} has no results.json")
        results.append({case["id"]: case["result"] for case in found["cases"]})
    return [
        f"{case}: {results[0].get(case, 'not there')}, {results[1].get(case, 'not there')}"
        for case in sorted(results[0].keys() | results[1].keys())
        if results[0].get(case) != results[1].get(case)
    ]


def _results(path: pathlib.Path) -> dict[str, Any]:
    try:
        found = json.loads((path / "results.json" if path.is_dir() else path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    assert isinstance(found, dict)
    return found


def _tally(status: int, results: dict[str, Any]) -> str:
    word = {CONFORMANT: "conformant", NOT_CONFORMANT: "NOT CONFORMANT"}.get(status, "NOT JUDGED")
    totals = results.get("totals", {})
    counts = [f"{n} {key}" for key, n in totals.items() if n and not key.startswith("rules")]
    return f"{word:15} {', '.join(counts)}".rstrip()


def machine(
    found: kernel.Kernel,
    target: suite.Target,
    *,
    driver: pathlib.Path = store.ROOT / "driver",
    files: Mapping[str, pathlib.Path] = types.MappingProxyType({}),
    cmdline: str = "",
) -> qemu.Machine:
    """The configuration of a machine with the suite's agent, `target`, its module built from `driver`, and `files`.

    `files`: path in the guest to path on the host. `cmdline`: more words for the kernel.
    """
    return _machine(found, target, modules_of(found, target, driver), files, cmdline)


def plan(
    target: suite.Target,
    found: kernel.Kernel,
    given: pathlib.Path | None,
    boot_s: float = guest.BOOT_S,
    drivers: tuple[pathlib.Path, ...] = (),
) -> session.Plan:
    """Builds and packs the files that `target` needs on a kernel.

    `drivers`: modules to load instead of those of the target, in their order."""
    named = _with_msrs(target, found, drivers) if drivers else _named(target, found, given)
    return _packed(target, found, named, boot_s)


def plan_from_snapshot(
    target: suite.Target,
    found: kernel.Kernel,
    given: pathlib.Path | None,
    boot_s: float = guest.BOOT_S,
    *,
    boot: bool,
    files: Mapping[str, pathlib.Path] = types.MappingProxyType({}),
) -> session.Plan:
    """As plan(), but guests start from a snapshot if there is one or one is worth making, and `boot` is false. They
    receive their module after that, so the snapshot stays valid when the module changes.

    `files`: as in machine(), for guests that boot."""
    named = _named(target, found, given)
    restored = None if boot else _restored(target, found, named, boot_s)
    return restored or _packed(target, found, named, boot_s, files)


def _named(
    target: suite.Target, found: kernel.Kernel, given: pathlib.Path | None
) -> dict[str, pathlib.Path]:
    """The modules of a target by their file names in a guest, in the order to load them."""
    if given is not None and not given.is_file():
        raise UserError(f"no module {given}")
    modules = modules_of(found, target) if given is None else (given,)
    return _with_msrs(target, found, modules)


def _with_msrs(
    target: suite.Target, found: kernel.Kernel, modules: tuple[pathlib.Path, ...]
) -> dict[str, pathlib.Path]:
    """As _named(), for these modules. If a device has registers of the processor, their module is before them."""
    first = msr_module(found, target.machine.device or ())
    return module.guest_files((*first, *modules), found)


def msr_module(found: kernel.Kernel, devices: Sequence[str]) -> tuple[pathlib.Path, ...]:
    """The module that makes registers of devices those of the processor; () if no device has such registers."""
    if not device.msr_parameters(devices):
        return ()
    return (_own_module(found, device.MSR_MODULE, store.ROOT / "driver"),)


def _packed(
    target: suite.Target,
    found: kernel.Kernel,
    named: Mapping[str, pathlib.Path],
    boot_s: float,
    beside: Mapping[str, pathlib.Path] = types.MappingProxyType({}),
) -> session.Plan:
    files = {f"modules/{name}": path for name, path in named.items()}
    ready = _machine(found, target, (), {**files, **beside}, "")
    slowness = load.SLOWNESS if beside else 1.0
    *first, last = named or (None,)
    made = _plan(target, found, ready, last, boot_s, slowness)
    words = {f"{device.MSR_MODULE}.ko": device.msr_parameters(target.machine.device or ())}
    return dataclasses.replace(made, first=tuple((name, words.get(name, ())) for name in first))


def _plan(
    target: suite.Target,
    found: kernel.Kernel,
    ready: qemu.Machine,
    loaded: str | None,
    boot_s: float,
    slowness: float = 1.0,
) -> session.Plan:
    needs = found.needs
    slowness *= target.slowness * needs.slowness * found.arch.slowness
    boot_s *= needs.slowness * found.arch.slowness
    return session.Plan(
        ready,
        loaded,
        target.parameters,
        slowness,
        boot_s,
        needs.debug,
        bindings=device.bindings(target.machine.device or ()),
        modelled=bool(target.machine.device),
    )


def _restored(
    target: suite.Target, found: kernel.Kernel, named: Mapping[str, pathlib.Path], boot_s: float
) -> session.Plan | None:
    """Guests that start from a snapshot; None if there is no snapshot and none should be made."""
    # Snapshots need an emulator whose time is the host's. The checks of a debug kernel begin with its boot.
    if arch.foreign(found.arch) or found.needs.debug or target.machine.icount is not None:
        return None
    files: dict[str, pathlib.Path] = {}
    loaded, handed = next(iter(named.items()), (None, None))
    if handed is not None:
        handed = _compressed(handed)
        taker = kernel.module_of_package(found, guest.FW_CFG_MODULE)
        if len(named) != 1 or taker is None or handed.stat().st_size > PASSED_BYTES:
            return None
        path = store.cache() / "handed" / f"{found.release}-{guest.FW_CFG_MODULE}.ko"
        if not path.is_file() or path.read_bytes() != taker:
            store.write(path, taker)
        files[f"modules/{guest.FW_CFG_MODULE}.ko"] = path
    machine = _machine(found, target, (), files, "", image.place)
    if machine.accel == "kvm":
        return None
    key = snapshot.key(machine)
    found_state = snapshot.find(key)
    if found_state is None and not snapshot.wanted(key):
        return None
    # QEMU also needs the image to restore a guest.
    first = _plan(target, found, _machine(found, target, (), files, ""), None, boot_s)
    made = found_state or snapshot.make(key, first)
    if made is None:
        return None
    state = made

    def fallback(why: str) -> session.Plan:
        print(f"pmuvm: booted, since no guest starts from the snapshot: {why}", file=sys.stderr)
        snapshot.remove(state)
        if found_state is None:
            snapshot.refuse(key)  # A new snapshot would also fail.
        return _packed(target, found, named, boot_s)

    return dataclasses.replace(
        first,
        machine=dataclasses.replace(first.machine, state=state, handed=handed),
        module=loaded,
        fallback=fallback,
        console_text=snapshot.console(state),
    )


def _compressed(built: pathlib.Path) -> pathlib.Path:
    """The compressed module, in the cache."""
    data = gzip.compress(built.read_bytes(), compresslevel=PASSED_LEVEL, mtime=0)
    path = store.cache() / "handed" / f"{store.digest([data])}.ko.gz"
    if not path.is_file():
        store.write(path, data)
        store.prune(path.parent, "*.ko.gz", image.KEPT_DAYS, PASSED_KEPT_BYTES)
    return path


def boot_without_module(
    target: suite.Target, found: kernel.Kernel, folder: pathlib.Path
) -> session.Plan | None:
    """Guests that receive their module after the boot (`pass_module`). One guest boots, and its state in `folder` is the
    start of all others. None if the kernel's package does not have the module that reads passed files.
    """
    taker = kernel.module_of_package(found, guest.FW_CFG_MODULE)
    if taker is None:
        return None
    path = folder / f"{guest.FW_CFG_MODULE}.ko"
    store.write(path, taker)
    first = dataclasses.replace(plan(target, found, path), module=None)
    state = folder / session.STATE
    with session.Session(first, None, lambda _: None) as guests:
        guests.save(state)
    machine = dataclasses.replace(first.machine, state=state)
    return dataclasses.replace(first, machine=machine)


def pass_module(behind: session.Plan, built: pathlib.Path) -> session.Plan:
    """The guests of boot_without_module(), which receive the module `built` and load it."""
    packed = built.with_suffix(".ko.gz")
    store.write(packed, gzip.compress(built.read_bytes(), mtime=0))
    machine = dataclasses.replace(behind.machine, handed=packed)
    return dataclasses.replace(behind, machine=machine, module=built.name)


def modules_of(
    found: kernel.Kernel, target: suite.Target, driver: pathlib.Path = store.ROOT / "driver"
) -> tuple[pathlib.Path, ...]:
    """The modules of a target, in the order to load them: the kernel's own drivers, or the one of a release or built from
    `driver`. None if the kernel has the PMU or builds no modules."""
    if target.driver:
        return kernel_driver.modules(target.driver, found)
    if target.module is None or found.build is None:
        return ()
    return (_own_module(found, target.module, driver),)


def _own_module(found: kernel.Kernel, name: str, source: pathlib.Path) -> pathlib.Path:
    """A module of this project: that of a release, or built from `source`."""
    if release.folder_in_use() is not None:
        return release.module(found, name)
    return module.build(found, source, module.default_out(found), name)


def _machine(
    found: kernel.Kernel,
    target: suite.Target,
    modules: tuple[pathlib.Path, ...],
    files: Mapping[str, pathlib.Path],
    cmdline: str,
    pack: Callable[[image.Contents], pathlib.Path] = image.build,
) -> qemu.Machine:
    packed = pack(
        image.Contents(
            agent=suite.agent(found.arch),
            target=target.merged_file(),
            modules=modules,
            files={**(leaks.FILES if found.needs.debug else {}), **files},
            arch=found.arch,
        )
    )
    return target.machine.configure(found, packed, cmdline)
