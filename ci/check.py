# SPDX-License-Identifier: Apache-2.0
"""Runs the tests that a change needs, or all with --nightly. The last line has the number of tests that passed and
failed.

A unit that passed before runs again only if one of its inputs changed.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ci import judged, matrix_file
from ci import parts
from ci.soak import positive_number
from ci.timed_commands import Commands
from ci.units import catalogue, evidence, night, nightly, records, summary
from ci.units.display import Display
from ci.units.inputs import Inputs
from ci.units.night import Night
from ci.units.readers import Readers
from ci.units.runner import Runner
from ci.units.schedule import Machine, Schedule, quickest, urgency
from ci.units.unit import OUT, Outcome, Unit
from pmubase.errors import UserError
from vm import page

ROOT = Path(__file__).resolve().parent.parent


def select_units(units: Sequence[Unit], asked: str) -> list[Unit]:
    """The units that match `asked`, and their builds. `asked` has groups, units and globs of units, separated by
    commas."""
    words = [word for word in asked.split(",") if word]
    found = []
    for word in words:
        own = [
            u for u in units if not u.build and (u.group == word or fnmatch.fnmatch(u.name, word))
        ]
        own += [u for u in units if u.name == word and u.build]
        if not own:
            groups = ", ".join(dict.fromkeys(unit.group for unit in units if not unit.build))
            raise ValueError(f"unknown stage '{word}'; known: {groups}; --list prints all units")
        found += own
    if not found:
        raise ValueError("--stages has no name; --list prints all units")
    return night.add_builds(list(dict.fromkeys(found)), units)


def list_units(units: Sequence[Unit]) -> str:
    """Each unit with its cores and its last duration; without a record, its default duration."""
    rows, total = [], 0.0
    for unit in units:
        took_s = records.duration(unit.name, unit.default_s)
        total += took_s * unit.cores
        rows.append(f"{unit.name:64}{took_s:>9.1f} s{unit.cores:>3} cores")
    tests = sum(not unit.build for unit in units)
    rows.append(f"{tests} units and {len(units) - tests} builds, {total / 60:.0f} core minutes")
    return "\n".join(rows)


def run(
    units: Sequence[Unit],
    fresh: bool,
    whole: bool,
    nights: Night | None,
    title: str,
    stop: bool = False,
) -> int:
    """Runs units and prints their results. Returns 1 if a test failed, else 0.

    `stop`: run the shortest units first, and end at the first failure.
    """
    inputs, commands = Inputs(ROOT), Commands()
    runner = Runner(inputs, commands, fresh)

    def run_unit(unit: Unit) -> Outcome:
        known = nights.finished(unit, inputs) if nights and not unit.build else None
        outcome = known or runner.run(unit)
        if nights and not unit.build and not known:
            nights.record_pass(outcome, inputs)
        return outcome

    expected = {unit.name: records.duration(unit.name, unit.default_s) for unit in units}
    machine = Machine.here()
    display = Display(len(units), sys.stdout)
    display.begin(f"{title}: {len(units)} units on {machine.cores} cores")
    schedule = Schedule(units, run_unit, expected, machine, quickest if stop else urgency)
    outcomes: list[Outcome] = []
    try:
        for outcome in schedule.outcomes():
            outcomes.append(outcome)
            display.ended(outcome, schedule.running)
            if stop and outcome.failed:
                commands.end()
                break
    except BaseException:
        commands.end()
        raise
    if whole:
        held = evidence.outcome(outcomes, night=nights is not None)
        outcomes.append(held)
        display.ended(held, [])
    never = [unit for unit in units if unit.name not in {each.unit.name for each in outcomes}]
    stopped = stop and any(outcome.failed for outcome in outcomes)
    display.end(outcomes, never, stopped)
    summary.write(OUT / "results.json", outcomes, never)
    judged.record_check(outcomes, OUT.parent / judged.NAME)
    return int(bool(never) or any(outcome.failed for outcome in outcomes))


def main() -> int:
    """Returns 0 if all passed, 1 if a test failed, 2 if nothing could run, 130 if interrupted."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.check", description=__doc__)
    parser.add_argument(
        "--stages",
        help="run only these groups, units or globs of units, separated by commas; ? lists all",
    )
    parser.add_argument("--list", action="store_true", help="list the units with their times")
    parser.add_argument("--readers", metavar="FILE", help="print the units that read a file")
    parser.add_argument(
        "--nightly", action="store_true", help="run all tests, also those that take long"
    )
    parser.add_argument(
        "--shard", type=parts.numbers, metavar="K/N", help="run one of N shards of make nightly"
    )
    parser.add_argument("--fresh", action="store_true", help="run units that passed before, too")
    parser.add_argument(
        "--stop", action="store_true", help="run the shortest units first; end at the first failure"
    )
    parser.add_argument(
        "--rounds", type=positive_number, default=8, help="rounds of the nightly soak (8)"
    )
    options = parser.parse_args()
    if options.readers:
        if not (ROOT / options.readers).is_file():
            print(f"check: --readers: no file {options.readers} in {ROOT}")
            return 2
        print(
            "\n".join(Readers(ROOT).units_reading(options.readers)) or "no recorded unit reads it"
        )
        return 0
    if options.shard and not options.nightly:
        print("check: --shard needs --nightly")
        return 2
    try:
        inputs = Inputs(ROOT)
        known = (
            nightly.nightly_units(inputs, options.rounds)
            if options.nightly
            else catalogue.check_units(inputs)
        )
        if options.list or options.stages == "?":
            print(list_units(known))
            return 0
        units = known if options.stages is None else select_units(known, options.stages)
    except (ValueError, UserError) as error:
        print(f"check: {error}")
        return 2
    if options.shard:
        units = night.shard(units, *options.shard)
    title = "make nightly" if options.nightly else "make check"
    nights = Night(options.fresh) if options.nightly else None
    OUT.mkdir(parents=True, exist_ok=True)
    whole = options.stages is None and options.shard is None
    try:
        fresh = options.fresh or options.nightly
        status = run(units, fresh, whole, nights, title, options.stop)
    except KeyboardInterrupt:
        print(f"\ncheck: interrupted; the next {title} runs only the remaining units")
        return 130
    if nights:
        keep_history(units)
    if nights and nights.end_if_whole(known):
        print("the nightly run is complete; the next one starts from the beginning")
    return status


def keep_history(units: Sequence[Unit]) -> None:
    """Adds the results of the suite on targets to the history."""
    reports = [unit.report for unit in units if unit.name.startswith(("run/", "matrix/"))]
    found = [str(report) for report in reports if report is not None and report.is_file()]
    if found and page.command(["history", "add", *found]) != 0:
        print("check: the history lacks these runs", file=sys.stderr)


def interrupt(_number: int, _frame: object) -> NoReturn:
    """A SIGTERM ends this program like an interrupt from the terminal."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)
    # The child processes inherit it.
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "1"}
    sys.exit(main())
