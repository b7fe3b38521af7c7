# SPDX-License-Identifier: Apache-2.0
"""The command line: kernels, fetch, module, run, exec."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import pathlib
import random
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from pmuvm import accel, arch, guest, image, kernel, module, qemu, session, store, suite
from pmuvm.channel import Message
from pmuvm.errors import PmuvmError
from pmuvm.progress import Progress

PRODUCTS = ("stream.jsonl", "console.log", "results.json", "results.ktap", "junit.xml")


def main(arguments: Sequence[str]) -> int:
    """Run one command; its exit status. 2 says that it could not be done."""
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return int(options.command(options))
    except PmuvmError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"pmuvm: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("pmuvm: interrupted", file=sys.stderr)
        return 130


class Parser(argparse.ArgumentParser):
    """Says in one line what it does not understand."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"pmuvm: {message}; see {self.prog} --help\n")


def parser() -> argparse.ArgumentParser:
    """The options of all commands."""
    top = Parser(prog="pmuvm", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    listed = commands.add_parser("kernels", help="list the kernels that can be fetched")
    listed.set_defaults(command=_kernels)

    fetch = commands.add_parser("fetch", help="fetch and unpack a stock kernel")
    _kernel_options(fetch)
    fetch.add_argument("--refresh", action="store_true", help="look for a newer version")
    fetch.set_defaults(command=_fetch)

    build = commands.add_parser("module", help="build the reference driver for a kernel")
    _kernel_options(build)
    build.add_argument("--source", type=pathlib.Path, default=store.ROOT / "driver")
    build.add_argument("--out", type=pathlib.Path)
    build.set_defaults(command=_module)

    run = commands.add_parser("run", help="run the suite against a target and judge it")
    _kernel_options(run)
    run.add_argument("--target", required=True, help="a name in conformance/targets, or a file")
    run.add_argument("--rule", default="", help="only cases of this rule")
    run.add_argument("--case", default="", help="only cases that match this glob")
    run.add_argument("--profile", default="", help="the profile to judge by")
    run.add_argument("--module", type=pathlib.Path, help="load this module instead of a built one")
    run.add_argument("--parameters", help="of the module, instead of the target's")
    run.add_argument("--out", type=pathlib.Path, default=store.ROOT / "build" / "report")
    run.add_argument("--shuffle", type=int, metavar="SEED", help="run the cases in another order")
    run.add_argument("--boot-timeout", type=float, default=guest.BOOT_S, metavar="SECONDS")
    run.set_defaults(command=_run)

    program = commands.add_parser("exec", help="run one program in a guest")
    _kernel_options(program)
    program.add_argument("--module", action="append", default=[], metavar="FILE.ko[,PARAM=VALUE]")
    program.add_argument("--with", action="append", default=[], dest="programs", metavar="PROGRAM")
    program.add_argument("--timeout", type=int, default=60, metavar="SECONDS")
    program.add_argument("argv", nargs="+", help="after --: the program and its arguments")
    program.set_defaults(command=_exec)
    return top


def _kernel_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--kernel", required=True, help="a name, or the path of a kernel image")
    command.add_argument("--arch", default=arch.AMD64.name)


def _kernel(options: argparse.Namespace, refresh: bool = False) -> kernel.Kernel:
    return kernel.find(options.kernel, arch.find(options.arch), refresh)


def _kernels(_options: argparse.Namespace) -> int:
    for name in kernel.known():
        print(name)
    return 0


def _fetch(options: argparse.Namespace) -> int:
    found = _kernel(options, options.refresh)
    print(f"{found.release}  {found.image}")
    return 0


def _module(options: argparse.Namespace) -> int:
    found = _kernel(options)
    print(module.build(found, options.source, options.out or module.default_out(found)))
    return 0


def _run(options: argparse.Namespace) -> int:
    target = suite.find_target(options.target)
    if options.parameters is not None:
        target = dataclasses.replace(target, parameters=tuple(options.parameters.split()))
    selection = suite.Selection(options.case, options.rule, options.profile)
    cases = suite.cases(target, selection)
    found = _kernel(options)
    ready = plan(target, found, options.module, options.boot_timeout)
    if options.shuffle is not None:
        random.Random(options.shuffle).shuffle(cases)

    out: pathlib.Path = options.out
    with store.writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for name in PRODUCTS:
            (out / name).unlink(missing_ok=True)
    stream = out / "stream.jsonl"
    progress = Progress(len(cases), sys.stderr)
    where = f"{found.release} ({' '.join((ready.machine.accel, *ready.parameters))})"
    progress.say(f"{target.name} on {where}: {len(cases)} cases")
    first = {
        "t": "run",
        "target": target.name,
        "kernel": found.name,
        "release": found.release,
        "arch": found.arch.machine,
        "profile": selection.profile,
        "selected": [case.id for case in cases],
        "partial": selection.partial,
    }
    try:
        with store.writing(out), stream.open("w", encoding="utf-8") as file:

            def record(message: Message) -> None:
                file.write(json.dumps(message) + "\n")
                file.flush()

            record(first)
            with session.Session(ready, out / "console.log", record) as guests:
                session.run_all(guests, cases, progress.result)
            record({"t": "end"})
    except (PmuvmError, KeyboardInterrupt):
        # Nothing was judged: nothing stays that could be taken for a result.
        for name in PRODUCTS:
            (out / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            out.rmdir()
        raise
    return suite.report(stream, target, selection, out)


def plan(
    target: suite.Target,
    found: kernel.Kernel,
    given: pathlib.Path | None,
    boot_s: float = guest.BOOT_S,
) -> session.Plan:
    """Build and pack what `target` needs on a kernel."""
    modules: tuple[pathlib.Path, ...] = ()
    if given is not None:
        if not given.is_file():
            raise PmuvmError(f"no module {given}")
        modules = (given,)
    elif target.module is not None and found.build is not None:
        modules = (module.build(found, store.ROOT / "driver", module.default_out(found)),)
    packed = image.build(
        image.Contents(
            agent=suite.binary(),
            target=target.path,
            modules=modules,
            channel=found.arch.channel,
        )
    )
    machine = qemu.Machine(
        arch=found.arch,
        kernel=found.image,
        initrd=packed,
        cpus=target.cpus,
        memory_mb=target.memory_mb,
        accel=target.accel or accel.choose(found),
    )
    loaded = modules[0].name if modules else None
    return session.Plan(machine, loaded, target.parameters, target.slowness, boot_s)


def _exec(options: argparse.Namespace) -> int:
    found = _kernel(options)
    words = [entry.split(",") for entry in options.module]
    files: dict[str, pathlib.Path] = {}
    for name in options.programs:
        files.update(image.with_program(name))
    packed = image.build(
        image.Contents(
            agent=suite.binary(),
            target=suite.TARGETS / "refpmu.toml",
            modules=tuple(pathlib.Path(word[0]) for word in words),
            files=files,
            channel=found.arch.channel,
        )
    )
    machine = qemu.Machine(found.arch, found.image, packed, accel=accel.choose(found))
    try:
        with guest.Guest(machine) as vm:
            vm.boot()
            for file, *parameters in words:
                vm.load(pathlib.Path(file).name, parameters)
            done = vm.exec(options.argv, options.timeout)
    except guest.ModuleRefused as refused:
        raise PmuvmError(f"a module does not load: {refused}") from refused
    except guest.GuestLost as lost:
        raise PmuvmError(f"guest lost: {lost.cause}", details=lost.tail) from lost
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return done.status


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
