# SPDX-License-Identifier: Apache-2.0
"""Runs perf_event_tests, the test suite of the authors of PAPI, on a target's PMU in guests.

The suite is fetched and built in the cache; it is no part of this project. Each result is compared with the expected
one in ci/peer_tests.toml. The exit status is 0 if all agree, 1 if not, and 2 if the tests could not run.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import json
import pathlib
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from ci.peer import build, expected, run
from ci.peer.expected import Expectation
from ci.peer.run import Result
from vm import kernel, module, runs, store, suite
from vm.errors import PmuvmError
from vm.machine_options import MachineOptions

OUT = store.ROOT / "build" / "peer_tests"
DEADLINE_S = 300
"""Three times the duration of the slowest test that ends, on an idle machine."""
AS_CPU = "cpu=1"
"""The parameter with which the reference driver is the PMU `cpu`, where the suite looks for events."""


def main(argv: list[str]) -> int:
    """The command line."""
    options = _parser().parse_args(argv)
    try:
        return _run(options)
    except PmuvmError as error:
        print(f"peer_tests: {error}", file=sys.stderr)
        print(error.details, end="\n" if error.details else "", file=sys.stderr)
    except KeyboardInterrupt:
        print("peer_tests: interrupted", file=sys.stderr)
    return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python3 -m ci.peer_tests", description=__doc__)
    parser.add_argument("--target", default="refpmu")
    parser.add_argument("--kernel", default="6.12")
    parser.add_argument(
        "--parameters",
        metavar="WORDS",
        help=f"parameters of the module (default: those of ci/peer_tests.toml, or of the target and {AS_CPU})",
    )
    parser.add_argument(
        "--source",
        type=pathlib.Path,
        metavar="DIR",
        help="a checkout or git directory of perf_event_tests (default: the public repository)",
    )
    parser.add_argument(
        "--test", action="append", metavar="GLOB", help="run only these tests; may be repeated"
    )
    parser.add_argument(
        "--timeout",
        type=int,
        default=DEADLINE_S,
        metavar="SECONDS",
        help=f"deadline of a test ({DEADLINE_S})",
    )
    parser.add_argument("--verbose", action="store_true", help="print the output of each test")
    MachineOptions.add_arguments(parser)
    return parser


def _run(options: argparse.Namespace) -> int:
    target = suite.find_target(options.target)
    runs.check_arch(target, "amd64")
    found = kernel.find(runs.kernel_of(options.kernel, target))
    usual = expected.conditions(target.name)
    machine = MachineOptions.of_arguments(options).over(usual.machine).over(target.machine)
    target = dataclasses.replace(target, machine=machine)
    if options.timeout < 1:
        raise PmuvmError(f"--timeout {options.timeout}: must be at least 1")
    built = build.build(options.source)
    selected = select(built.tests, options.test or ["*"])
    entries = expected.select(expected.read(), built.tests, target.name, found.name)

    words = parameters(target, options.parameters or usual.parameters)
    files = {f"{run.FOLDER}/{name}": path for name, path in built.programs.items()}
    plan = run.Plan(
        machine=runs.machine(found, target, files=files),
        module=None if target.module is None else f"{target.module}.ko",
        parameters=words,
        deadline_s=options.timeout,
        quiet=not options.verbose,
    )
    place = OUT / f"{target.name}-{found.name}.json"
    with store.writing(OUT):
        OUT.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
    print(
        f"{target.name} on {found.release} ({' '.join((plan.machine.accel, *words))})", flush=True
    )
    printer = _Printer(len(selected), entries, options.verbose)
    with run.Guests(plan, place.with_suffix(".log")) as guests:
        results = list(run.run_all(guests, selected, built.failed, printer.result))
        boots = guests.boots
    surprises = different(results, entries)
    document = {
        "suite": built.digest,
        "target": target.name,
        "kernel": found.release,
        "parameters": list(words),
        "icount": plan.machine.icount,
        "cpu": plan.machine.cpu,
        "boots": boots,
        "totals": totals(results),
        "unexpected": surprises,
        "results": [dataclasses.asdict(result) for result in results],
    }
    store.write(place, (json.dumps(document, indent=1) + "\n").encode())
    print("\n".join(summary(results, surprises)))
    print(f"results: {place}")
    return 1 if surprises else 0


def select(tests: Sequence[str], globs: Sequence[str]) -> list[str]:
    """The tests that a glob matches, in their order. PmuvmError if a glob matches none."""
    for glob in globs:
        if not fnmatch.filter(tests, glob):
            raise PmuvmError(f"--test {glob}: perf_event_tests has no such test")
    return [test for test in tests if any(fnmatch.fnmatchcase(test, glob) for glob in globs)]


def parameters(target: suite.Target, given: str | None) -> tuple[str, ...]:
    """The parameters of the target's module. `given` replaces all of them."""
    if given is not None:
        return tuple(given.split())
    extra = (AS_CPU,) if target.module == module.NAME and AS_CPU not in target.parameters else ()
    return (*target.parameters, *extra)


def totals(results: Sequence[Result]) -> dict[str, int]:
    """The number of tests with each result, the most frequent first."""
    return dict(Counter(result.result for result in results).most_common())


def different(results: Sequence[Result], entries: Mapping[str, Expectation]) -> list[str]:
    """A line for each result that is not the expected one, and for each report of the kernel."""
    found = []
    for one in results:
        allowed = expected.allowed(one.test, entries)
        if one.result not in allowed:
            found.append(f"{one.test}: {one.result}, expected {' or '.join(allowed)}")
        found += [f"{one.test}: report of the kernel: {report}" for report in one.reports]
    return found


def summary(results: Sequence[Result], surprises: Sequence[str]) -> list[str]:
    """The last lines of a run."""
    counts = ", ".join(f"{count} {word}" for word, count in totals(results).items())
    seconds = sum(result.seconds for result in results)
    lines = [f"{len(results)} tests in {seconds:.0f} s: {counts}"]
    lines += [f"unexpected: {line}" for line in surprises]
    return [*lines, f"{len(surprises)} unexpected" if surprises else "all as expected"]


class _Printer:
    """Prints the table, a line for each result, while the tests run."""

    def __init__(self, total: int, entries: Mapping[str, Expectation], verbose: bool) -> None:
        self._total = total
        self._entries = entries
        self._verbose = verbose
        self._done = 0

    def result(self, one: Result) -> None:
        self._done += 1
        surprise = one.result not in expected.allowed(one.test, self._entries)
        cause = self._entries[one.test].cause if one.test in self._entries else ""
        note = "UNEXPECTED" if surprise else cause
        count = f"[{self._done}/{self._total}]"
        print(f"{count:9} {one.test:44} {one.result:17} {one.seconds:6.1f} s  {note}".rstrip())
        if self._verbose:
            print("".join(f"    {line}\n" for line in one.output.splitlines()), end="")
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
