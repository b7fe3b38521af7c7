# SPDX-License-Identifier: GPL-2.0-only
"""The command behind `make kunit`."""

import argparse
import dataclasses
import os
import re
import sys
from pathlib import Path

from kunit.pmukunit import guest, results, stock, tree
from pmubase import store
from pmubase.errors import UserError
from vm import arch, kernel, module
from vm import stock as stock_kernels
from vm import tree as trees

KERNELS = stock_kernels.series()
DEADLINE_S = 300
CONTRACT = "pmu_contract"


def main(argv: list[str]) -> int:
    options = _options(argv)
    out: Path = options.out.resolve()
    try:
        if options.kernel not in KERNELS:
            known = ", ".join(KERNELS)
            raise UserError(f"unknown KERNEL {options.kernel!r}; known: {known}")
        if not re.fullmatch(r"[\w*?.\[\]!-]*", options.filter):
            raise UserError(f"--filter {options.filter!r}: a glob of suite or suite.case")
        if options.log:
            return _judge_log(options, out)
        parameters = _parameters(options)
        if options.pmu:
            options.filter = CONTRACT
        expected = results.expected_suites(options.suites, options.filter)
        if not expected:
            known = ", ".join(sorted(results.expected_suites(options.suites, "")))
            raise UserError(f"--filter {options.filter}: no such suite; known: {known}")
        return _run(options, out, expected, parameters)
    except UserError as error:
        print(f"kunit: {error}", file=sys.stderr)
    return results.NOT_JUDGED


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 -m kunit.pmukunit", description=__doc__)
    parser.add_argument(
        "--kernel", metavar="|".join(KERNELS), default=os.environ.get("KERNEL") or "6.12"
    )
    parser.add_argument("--filter", metavar="GLOB", default="", help="suite or suite.case")
    parser.add_argument("--pmu", metavar="NAME", default="", help="pmu_contract alone, on this PMU")
    parser.add_argument("--event", metavar="CONFIG", default="", help="of --pmu: what it counts")
    parser.add_argument("--idle", action="store_true", help="the event does not happen by itself")
    parser.add_argument("--stock", action="store_true", help="as a module of the stock kernel")
    parser.add_argument("--arch", metavar="|".join(arch.ARCHES), default="", help="of --stock")
    parser.add_argument(
        "--log", metavar="FILE", type=Path, help="judge the output of dmesg of a machine with --pmu"
    )
    parser.add_argument(
        "--param", metavar="MODULE.NAME=VALUE", action="append", default=[], help="of the kernel"
    )
    parser.add_argument("--out", metavar="DIR", type=Path, default=store.ROOT / "build" / "kunit")
    parser.add_argument("--driver", metavar="DIR", type=Path, default=store.ROOT / "driver")
    parser.add_argument("--suites", metavar="DIR", type=Path, default=store.ROOT / "kunit")
    parser.add_argument("--deadline", metavar="S", type=int, default=DEADLINE_S)
    parser.add_argument("--debug", action="store_true", help="with KASAN, kmemleak and more")
    parser.add_argument("--build-only", action="store_true", help="no boot, no verdict")
    parser.add_argument(
        "--image", metavar="FILE", type=Path, help="boot this result of --build-only, build nothing"
    )
    return parser.parse_args(argv)


def _parameters(options: argparse.Namespace) -> list[str]:
    """Returns kernel parameters other than the filter; UserError for invalid options."""
    if options.stock and options.debug:
        raise UserError("--stock is the distribution's kernel, --debug another one")
    if options.arch and arch.foreign(arch.find(options.arch)) and not options.stock:
        raise UserError(f"--arch {options.arch} needs --stock: no kernel is built for it")
    if options.image and (options.stock or options.build_only):
        raise UserError("--image is a built kernel: without --stock and --build-only")
    if options.image and not options.image.is_file():
        raise UserError(f"--image {options.image}: no such file")
    for param in options.param:
        if not re.fullmatch(r"\w+\.\w+=[\w.,:-]*", param):
            raise UserError(f"--param {param!r}: MODULE.NAME=VALUE")
    if not options.pmu:
        if options.event or options.idle or options.stock:
            raise UserError("--event, --idle and --stock are of the PMU that --pmu names")
        return list(options.param)
    if not re.fullmatch(r"[\w.-]+", options.pmu):
        raise UserError(f"--pmu {options.pmu!r}: a name of /sys/bus/event_source/devices")
    if options.filter:
        raise UserError(f"--pmu runs {CONTRACT} alone: without --filter")
    try:
        event = int(options.event, 0)
    except ValueError:
        event = -1
    if not 0 <= event < 1 << 64:
        raise UserError(f"--event {options.event!r}: the config of an event of --pmu, as 0x3c")
    chosen = [f"pmu={options.pmu}", f"event={event:#x}", f"idle={int(options.idle)}"]
    return [*(f"{CONTRACT}.{word}" for word in chosen), *options.param]


def _clear(out: Path) -> None:
    """Removes the files of an earlier run."""
    with store.writing(out):
        out.mkdir(parents=True, exist_ok=True)
        for stale in ("results.json", "console.log"):
            (out / stale).unlink(missing_ok=True)


def _judge_log(options: argparse.Namespace, out: Path) -> int:
    """Judges the log of a machine on which pmu_contract was loaded as a module."""
    if not options.pmu:
        raise UserError("--log needs --pmu: the PMU that pmu_contract tested")
    try:
        log = options.log.read_bytes()
    except OSError as error:
        raise UserError(f"--log {options.log}: {error.strerror}") from error
    _clear(out)
    # Earlier lines come from the boot, not from the module.
    begin = log.rfind(b"\n", 0, max(0, log.find(b"KTAP version"))) + 1
    boot = guest.Boot(log[begin:] if b"KTAP version" in log else b"", 0.0, "")
    release = results.release_of(log)
    verdict = results.judge(release or str(options.log), boot, frozenset({CONTRACT}), whole=True)
    return _finish(verdict, out, results.Subject(release=release, pmu=options.pmu))


def _finish(verdict: results.Verdict, out: Path, subject: results.Subject) -> int:
    """Writes results.json, prints the summary, and returns the exit status."""
    results.write(verdict, out / "results.json", subject)
    print(results.summary(verdict))
    return verdict.status


def _run(
    options: argparse.Namespace, out: Path, expected: frozenset[str], parameters: list[str]
) -> int:
    _clear(out)
    name, log = options.kernel, out / "console.log"
    of = arch.find(options.arch) if options.arch else arch.AMD64
    if options.stock:
        booted = kernel.find(name, of)
        boot = stock.run(booted, options.driver, options.suites, parameters, options.deadline, log)
    else:
        machine = guest.PLAIN
        if options.debug:
            name, machine = f"{name}{kernel.DEBUG_SUFFIX}", guest.debug(kernel.debug_needs())
        built = options.image or _built(options, out)
        if options.build_only:
            return results.PASSED
        deadline_s = options.deadline * machine.slowness
        machine = dataclasses.replace(machine, parameters=(*machine.parameters, *parameters))
        boot = guest.boot(built, options.filter, deadline_s, log, machine)
    whole = "." not in options.filter
    verdict = results.judge(name, boot, expected, whole, scanned=options.debug)
    subject = results.Subject(
        release=booted.release if options.stock else results.release_of(boot.console),
        arch=of.machine,
        driver="" if options.pmu else module.NAME,
        pmu=options.pmu,
        selected="" if options.pmu else options.filter,
    )
    return _finish(verdict, out, subject)


def _built(options: argparse.Namespace, out: Path) -> Path:
    return tree.build(
        tree.Inputs(
            series=options.kernel,
            fragment=options.suites / ".kunitconfig",
            driver=options.driver,
            kunit=options.suites,
            log=out / "build.log",
            debug=options.debug,
        ),
        trees.cache(),
    )
