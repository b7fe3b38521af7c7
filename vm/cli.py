# SPDX-License-Identifier: Apache-2.0
"""The command line: kernels, fetch, module, run, probe, compare, page, history, bundle, verify, kcidb, exec."""

from __future__ import annotations

import argparse
import pathlib
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from pmubase import store
from pmubase.errors import UserError

from . import (
    arch,
    draft,
    folder,
    guest,
    kernel,
    layers,
    module,
    once,
    page,
    release,
    runs,
    stock,
    suite,
    sysroot,
)
from .machine_options import MachineOptions
from .packages import STATUS_NO_PACKAGE, NoPackage

ALL = "all"
"""Selects all targets of the suite, one after the other. Without --kernel it also selects every kernel."""
PROBE = "probe"
"""Selects a target file that a probe of --pmu drafts."""
DEFAULT_KERNEL = "6.12"


def main(arguments: Sequence[str]) -> int:
    """Runs one command and returns its exit status. Status 2: the command could not run. Status 3: it could not, because
    the distribution does not have the package of a kernel."""
    if arguments[:1] and arguments[0] in page.COMMANDS:
        return page.command(arguments)  # It parses its own arguments.
    options = parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return int(options.command(options))
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"pmuvm: {error}", file=sys.stderr)
        return STATUS_NO_PACKAGE if isinstance(error, NoPackage) else 2
    except KeyboardInterrupt:
        print("pmuvm: interrupted", file=sys.stderr)
        return 130


class Parser(argparse.ArgumentParser):
    """Reports an error in the arguments in one line."""

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
    fetch.add_argument(
        "--refresh", action="store_true", help="check whether a newer version is available"
    )
    fetch.set_defaults(command=_fetch)

    build = commands.add_parser(
        "module", help="build the reference driver, or the modules of a folder"
    )
    _kernel_options(build)
    sources = build.add_mutually_exclusive_group()
    sources.add_argument("--source", type=pathlib.Path, default=store.ROOT / "driver")
    sources.add_argument(
        "--folder", type=pathlib.Path, help="build each module of this folder with a Kbuild file"
    )
    build.add_argument("--out", type=pathlib.Path)
    build.set_defaults(command=_module)

    libraries = commands.add_parser("sysroot", help="fetch the libraries of another architecture")
    libraries.add_argument("--arch", required=True)
    libraries.add_argument(
        "--cmake", action="store_true", help="print the options for cmake/Cross.cmake instead"
    )
    libraries.set_defaults(command=_sysroot)

    run = commands.add_parser("run", help="run the suite against a target and judge it")
    _kernel_options(run, required=False)
    run.add_argument(
        "--target",
        required=True,
        help=f"a name in conformance/targets, a file, {ALL}, or {PROBE}: a draft for --pmu",
    )
    run.add_argument("--pmu", default="", help="its name in sysfs")
    _like_option(run)
    run.add_argument("--rule", default="", help="run only cases of this rule")
    run.add_argument("--case", default="", help="run only cases that match this glob")
    run.add_argument("--profile", default="", help="the profile to judge by")
    run.add_argument("--module", type=pathlib.Path, help="load this module instead of a built one")
    run.add_argument("--parameters", help="parameters of the module, instead of the target's")
    run.add_argument("--out", type=pathlib.Path, default=store.ROOT / "build" / "report")
    run.add_argument(
        "--release",
        type=pathlib.Path,
        metavar="DIR",
        default=release.folder_in_use(),
        help="verify the release in this folder, and use its programs and modules instead of building them",
    )
    run.add_argument("--shuffle", type=int, metavar="SEED", help="run the cases in random order")
    MachineOptions.add_arguments(run)
    run.add_argument(
        "--isolate",
        action="store_true",
        help="run each case in a separate guest: this takes some seconds more for each case",
    )
    run.add_argument(
        "--guests",
        type=int,
        choices=range(1, len(runs.CONSOLES) + 1),
        default=1,
        help="run the cases in so many guests at the same time, each on one core",
    )
    run.add_argument(
        "--boot", action="store_true", help="boot the guest: do not start it from a snapshot"
    )
    run.add_argument(
        "--layers",
        default=layers.SUITE,
        metavar="LIST",
        help=f"{layers.ALL}, or some of {','.join(layers.NAMES)}, for one joined verdict",
    )
    run.add_argument(
        "--lava", action="store_true", help="print LAVA's signals on standard output, at the end"
    )
    run.add_argument(
        "--verdict",
        choices=(suite.OF_TARGET, suite.OF_ALL),
        default=suite.OF_TARGET,
        help="whose verdict decides the exit status: that of the target, such as the driver, or all",
    )
    run.add_argument(
        "--load",
        action="store_true",
        help="run forks, faults, context switches, signals and timers of other tasks beside the cases",
    )
    run.add_argument("--boot-timeout", type=float, default=guest.BOOT_S, metavar="SECONDS")
    run.set_defaults(command=_run)

    probe = commands.add_parser("probe", help="draft a target file for a PMU of a guest")
    _kernel_options(probe)
    MachineOptions.add_arguments(probe)
    probe.add_argument("--pmu", required=True, help="its name in sysfs")
    _like_option(probe)
    probe.add_argument(
        "--module", type=pathlib.Path, help="its driver, if the kernel does not have it"
    )
    probe.add_argument("--parameters", help="parameters of the module")
    probe.add_argument("--out", type=pathlib.Path, required=True)
    probe.set_defaults(command=_probe)

    compare = commands.add_parser("compare", help="compare the results of two runs")
    compare.add_argument("one", type=pathlib.Path, help="results.json, or its folder")
    compare.add_argument("other", type=pathlib.Path)
    compare.set_defaults(command=_compare)

    shown = commands.add_parser("page", help="show runs in an HTML file, each as a column")
    shown.add_argument("runs", nargs="+", type=pathlib.Path, help="results.json, or its folder")
    shown.add_argument("--out", type=pathlib.Path, default=pathlib.Path(page.NAME))
    shown.set_defaults(command=_page)

    for name, purpose in page.COMMANDS.items():
        commands.add_parser(name, help=purpose)

    program = commands.add_parser("exec", help="run one program in a guest")
    _kernel_options(program)
    MachineOptions.add_arguments(program)
    program.add_argument("--module", action="append", default=[], metavar="FILE.ko[,PARAM=VALUE]")
    program.add_argument("--with", action="append", default=[], dest="programs", metavar="PROGRAM")
    program.add_argument("--timeout", type=int, default=60, metavar="SECONDS")
    program.add_argument("argv", nargs="+", help="after --: the program and its arguments")
    program.set_defaults(command=_exec)
    return top


def _kernel_options(command: argparse.ArgumentParser, required: bool = True) -> None:
    command.add_argument(
        "--kernel", required=required, help="a name, or the path of a kernel image"
    )
    command.add_argument("--arch", default=arch.AMD64.name)


def _like_option(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--like",
        metavar="TARGET",
        help="probe on the machine of this target; default: the target with the PMU's name, if any",
    )


def _host(options: argparse.Namespace, found: kernel.Kernel) -> once.Host:
    return once.Host(found, MachineOptions.of_arguments(options))


def _kernel(options: argparse.Namespace, refresh: bool = False) -> kernel.Kernel:
    return kernel.find(options.kernel, arch.find(options.arch), refresh)


def _kernels(_options: argparse.Namespace) -> int:
    for name in stock.names():
        print(name)
    return 0


def _fetch(options: argparse.Namespace) -> int:
    found = _kernel(options, options.refresh)
    print(f"{found.release}  {found.image}")
    return 0


def _module(options: argparse.Namespace) -> int:
    found = _kernel(options)
    if options.folder is not None:
        out = options.out or folder.default_out(found, options.folder)
        for product in folder.build(found, options.folder, out):
            print(product)
        return 0
    print(module.build(found, options.source, options.out or module.default_out(found)))
    return 0


def _sysroot(options: argparse.Namespace) -> int:
    of = arch.find(options.arch)
    words = sysroot.for_cmake(of) if options.cmake else [str(sysroot.find(of))]
    print("\n".join(words))
    return 0


def _run(options: argparse.Namespace) -> int:
    target = options.target
    if options.release is not None:
        release.use(options.release)
    selected = layers.parse(options.layers)
    if bool(options.pmu) != (target == PROBE):
        raise UserError(
            f"--pmu goes only with --target {PROBE}, and names the PMU to draft a target for"
        )
    if options.like is not None and target != PROBE:
        raise UserError(
            f"--like goes only with --target {PROBE}, and names the machine to probe on"
        )
    drafted = target == PROBE
    if drafted:
        target = _draft(options)
    given = runs.Request(
        target=target,
        kernel=options.kernel or DEFAULT_KERNEL,
        arch=options.arch,
        selection=suite.Selection(options.case, options.rule, options.profile),
        out=options.out,
        module=options.module,
        parameters=options.parameters,
        shuffle=options.shuffle,
        isolate=options.isolate,
        guests=options.guests,
        boot=options.boot,
        boot_s=options.boot_timeout,
        machine=MachineOptions.of_arguments(options),
        others=selected,
        lava=options.lava,
        verdict=options.verdict,
        load=options.load,
        drafted=drafted,
    )
    if target == ALL and given.others.names:
        raise UserError(f"LAYERS joins the layers of one target: it does not go with TARGET={ALL}")
    if target != ALL:
        status = runs.run_target(given)
    else:
        kernels = [options.kernel] if options.kernel else kernel.known()
        status = runs.run_all_targets(given, kernels)
    page.of_run(given.out)
    return status


def _page(options: argparse.Namespace) -> int:
    page.write(options.runs, options.out)
    print(options.out)
    return 0


def _compare(options: argparse.Namespace) -> int:
    found = runs.differences(options.one, options.other)
    for line in found:
        print(line)
    print(f"{len(found)} cases differ" if found else "the same results")
    return 1 if found else 0


def _request(options: argparse.Namespace) -> draft.Request:
    return draft.Request(
        pmu=options.pmu,
        kernel=options.kernel or DEFAULT_KERNEL,
        arch=options.arch,
        like=options.like,
        module=options.module,
        parameters=options.parameters,
        machine=MachineOptions.of_arguments(options),
    )


def _draft(options: argparse.Namespace) -> str:
    """Drafts the target of --pmu, and returns the path of its file."""
    request = _request(options)
    out = store.ROOT / "build" / PROBE / f"{request.name()}.toml"
    draft.write(request, out)
    print(f"drafted: {out}", file=sys.stderr)
    return str(out)


def _probe(options: argparse.Namespace) -> int:
    draft.write(_request(options), options.out)
    print(options.out)
    return 0


def _exec(options: argparse.Namespace) -> int:
    words = [entry.split(",") for entry in options.module]
    modules = [once.Loaded(pathlib.Path(word[0]), tuple(word[1:])) for word in words]
    done = once.run(
        _host(options, _kernel(options)), modules, options.programs, options.argv, options.timeout
    )
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return done.status


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
