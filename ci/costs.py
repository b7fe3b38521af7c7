# SPDX-License-Identifier: Apache-2.0
"""Compares the cost of refpmu's events with the cost of cpu-clock's, in one guest: ratios and their goals."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pmubase.errors import UserError
from vm import guest, kernel, runs, suite

ROUNDS = 15
TIMEOUT_S = 400


@dataclass(frozen=True)
class Comparison:
    """A comparison: its name, its keys in the output of `costs`, and its goal."""

    name: str
    place: tuple[str, ...]
    at_most: float | None = None
    at_least: float | None = None


COMPARISONS = (
    Comparison("context switch, 4 events", ("context_switch_ns",), at_most=1.3),
    Comparison("samples/s, 100 us period", ("samples_per_s", "period_100us"), at_least=0.9),
    Comparison("samples/s, 25 us period", ("samples_per_s", "period_25us"), at_least=0.9),
    Comparison("samples/s, 4000 Hz", ("samples_per_s", "frequency_4000"), at_least=0.9),
)


@dataclass(frozen=True)
class Result:
    """The ratio of refpmu to cpu-clock, computed for each round: the median, and the range of the middle half."""

    name: str
    median: float
    low: float
    high: float
    rounds: int
    aim: str
    met: bool

    def __str__(self) -> str:
        spread = f"({self.low:.2f} to {self.high:.2f})"
        return f"{self.name:25} {self.median:5.2f} x {spread:16} aim: {self.aim:13} " + (
            "met" if self.met else "missed"
        )


def compare(question: Comparison, raw: Mapping[str, Any]) -> Result:
    """Computes the ratios of one comparison from the output of `costs`. UserError if it has no rounds."""
    rows: Any = raw
    try:
        for key in question.place:
            rows = rows[key]
        ratios = [float(row["pmu"]) / float(row["cpu-clock"]) for row in rows]
        low, median, high = statistics.quantiles(ratios, n=4)
    except (
        KeyError,
        TypeError,
        ValueError,
        ZeroDivisionError,
        statistics.StatisticsError,
    ) as error:
        raise UserError(f"costs: no rounds to compare for '{question.name}': {error!r}") from error
    if question.at_most is not None:
        aim, met = f"at most {question.at_most}", median <= question.at_most
    else:
        assert question.at_least is not None
        aim, met = f"at least {question.at_least}", median >= question.at_least
    return Result(question.name, median, low, high, len(ratios), aim, met)


def run(name: str, driver: Path) -> dict[str, Any]:
    """Boots a guest of kernel `name`, loads `driver`, runs `costs` and returns its output. UserError if a step fails."""
    stock, target = kernel.find(name), suite.find_target("refpmu")
    machine = runs.machine(
        stock, target, driver=driver, files={"bin/costs": suite.tool("tools/costs")}
    )
    command = ["costs", "--target", "/target.toml", "--rounds", str(ROUNDS)]
    try:
        with guest.Guest(machine) as vm:
            vm.boot()
            vm.load("refpmu.ko", ())
            done = vm.exec(command, TIMEOUT_S)
    except guest.ModuleRefused as refused:
        raise UserError(f"costs: the module does not load: {refused}") from refused
    except guest.GuestLost as lost:
        raise UserError(f"costs: guest lost: {lost.cause}", details=lost.tail) from lost
    if done.status != 0:
        raise UserError(f"costs ended with status {done.status}: {done.stderr.strip()}")
    try:
        output = json.loads(done.stdout)
    except ValueError as error:
        raise UserError(f"costs: the output is not JSON: {error}") from error
    return {"kernel": stock.release, "accel": machine.accel, "costs": output}


def report(measured: Mapping[str, Any]) -> dict[str, Any]:
    """Prints the ratios with their goals, and returns them for a results file."""
    results = [compare(question, measured["costs"]) for question in COMPARISONS]
    print(
        f"\nrefpmu / cpu-clock in one guest, Linux {measured['kernel']} ({measured['accel']}):"
        f" median of {results[0].rounds} rounds (and the range of the middle half)"
    )
    for each in results:
        print(f"  {each}")
    return {**measured, "ratios": [asdict(each) for each in results]}
