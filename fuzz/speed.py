# SPDX-License-Identifier: Apache-2.0
"""Measures how many operations per second the fuzzer of system calls tries in one guest: random calls, programs, and
programs selected by the kernel's coverage."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from fuzz import campaign
from fuzz.campaign_results import Campaign
from pmubase.errors import UserError
from vm import guest, kernel

MARGIN_S = 240
CHANCE = "random calls"
WAYS = {
    CHANCE: "--random={s}",
    "programs": "--coverage=off -max_total_time={s}",
    "programs, with coverage": "-max_total_time={s}",
}


@dataclass(frozen=True)
class Speed:
    """The results of one way per second."""

    way: str
    operations: float
    opened: float
    """Fraction of the modelled perf_event_open calls that opened an event."""


def speed(way: str, output: str) -> Speed:
    """Parses the fuzzer's output. UserError if it has no figures."""
    done = Campaign("", "", False)
    done.add(output)
    return Speed(way, done.operations / done.seconds, done.opened / done.seconds)


def table(speeds: Sequence[Speed]) -> str:
    """A line for each way, with the ratio to random calls."""
    base = next(s for s in speeds if s.way == CHANCE)
    rows = [f"{'':28}{'operations/s':>14}{'of chance':>11}{'opened/s':>10}{'of chance':>11}"]
    for s in speeds:
        rows.append(
            f"{s.way:28}{s.operations:>14.1f}{s.operations / base.operations:>10.2f}x"
            f"{s.opened:>10.2f}{s.opened / base.opened if base.opened else 0:>10.2f}x"
        )
    return "\n".join(rows)


def measure(request: campaign.Request) -> list[Speed]:
    """Measures one way after the other in one guest. Each starts with the project's programs."""
    found = kernel.find(request.kernel)
    off = campaign.machine(request, found, campaign.files_of(request))
    speeds = []
    with guest.Guest(off) as vm:
        campaign.boot_and_load(vm, request, found)
        for way, words in WAYS.items():
            if not request.coverage and way.endswith("coverage"):
                continue
            script = (
                "mkdir -p /tmp/corpus; cp /seeds/* /tmp/corpus;"
                f" syscall_fuzzer --target={request.target} {words.format(s=request.seconds)}"
                f" {' '.join(campaign.WORDS)} -artifact_prefix=/tmp/ /tmp/corpus >/tmp/log 2>&1;"
                " s=$?; rm -r /tmp/corpus; tail -c 20000 /tmp/log; exit $s"
            )
            done = vm.exec(["sh", "-c", script], request.seconds + MARGIN_S)
            if done.status != 0:
                raise UserError(f"{way}: status {done.status}: {done.stdout.strip()[-300:]}")
            speeds.append(speed(way, done.stdout))
        vm.bye()
    return speeds


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m fuzz.speed", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="seconds for each way (60)")
    parser.add_argument("--kernel", default="6.12-kcov", help="a name (6.12-kcov)")
    parser.add_argument("--target", choices=campaign.TARGETS, default="refpmu")
    options = parser.parse_args(argv)
    if options.seconds < 1:
        print("speed: --seconds must be at least 1", file=sys.stderr)
        return 2
    coverage = campaign.has_coverage(options.kernel)
    asked = campaign.Request(options.target, options.kernel, options.seconds, coverage=coverage)
    try:
        print(table(measure(asked)))
    except UserError as error:
        print(f"speed: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
