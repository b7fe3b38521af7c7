# SPDX-License-Identifier: Apache-2.0
"""Compares the errnos of perf_event_open on a kernel with the errno model."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError
from vm import guest, kernel, runs, suite

PARAMETERS = {
    "refpmu": (),
    "refpmu_plain": ("lbr=0", "records=0"),
    "refpmu_coarse": ("lbr=0", "records=0", "min_period=16"),
}
"""The targets of refpmu that `oracle` can check, with the parameters of their module."""
TARGETS = (*PARAMETERS, "software", "tracepoint")
COARSE = store.ROOT / "faults" / "driver" / "refpmu_coarse.toml"
KINDS = ("mutated", "random")
"""Types of calls: mutations of an event that opens, and calls with random fields."""
REFPMU_WEIGHT = 10
"""Other targets than refpmu get one call for so many of refpmu's, since most of their checks are the same."""
MIN_PACE = 50
"""Calls per second; far fewer than a busy machine makes."""
MARGIN_S = 60


@dataclass(frozen=True)
class Trial:
    """The result of `oracle` for one target: the reason, if the kernel and the model disagree."""

    id: str
    status: int
    calls: int
    seconds: float
    reason: str
    model: str
    kernel: str
    log: str = ""
    """The calls with different answers, each with its repro command."""

    @property
    def disagrees(self) -> bool:
        return self.status == 1


def trial(name: str, done: guest.Done) -> Trial:
    """Reads the output of `oracle`. UserError if the tool could not judge."""
    if done.status not in (0, 1):
        raise UserError(f"{name}: oracle: {done.stderr.strip()}")
    facts = json.loads(done.stdout)
    first = facts["shown"][0] if facts["shown"] else {"reason": "", "model": "", "kernel": ""}
    answers = (first["reason"], first["model"], first["kernel"])
    seconds = round(facts["seconds"], 1)
    return Trial(name, done.status, facts["calls"], seconds, *answers, done.stderr.strip())


def row(t: Trial) -> str:
    """One line of the table."""
    disagreement = f"{t.model:10}  {t.kernel:11}  {t.reason}" if t.disagrees else "agree"
    return f"{t.id:46}{t.calls:>8}{t.seconds:>8.1f}  {disagreement}"


def table(trials: Sequence[Trial]) -> str:
    """One line for each target and type of call; then the totals."""
    rows = [f"{'':46}{'calls':>8}{'s':>8}  {'model':10}  {'kernel':11}  reason", *map(row, trials)]
    agreed = sum(not t.disagrees for t in trials)
    calls = sum(t.calls for t in trials)
    rows.append(f"{calls} calls: {agreed} of {len(trials)} types of calls agree with the model")
    return "\n".join(rows)


def files() -> dict[str, Path]:
    """The files of the guest in addition to the suite."""
    places = {name: suite.TARGETS / f"{name}.toml" for name in TARGETS} | {"refpmu_coarse": COARSE}
    given = {f"targets/{name}.toml": path for name, path in places.items()}
    return given | {"bin/oracle": suite.tool("oracle/oracle")}


def run(name: str, calls: int, first: int) -> list[Trial]:
    """Runs calls of each type to the driver, and to the kernel's own events."""
    found = kernel.find(name)
    trials = []
    with guest.Guest(runs.machine(found, suite.find_target("refpmu"), files=files())) as vm:
        vm.boot()
        for target in TARGETS:
            count = calls if target == "refpmu" else max(1, calls // REFPMU_WEIGHT)
            vm.load("refpmu.ko", PARAMETERS.get(target, ()))
            for kind in KINDS:
                argv = ["oracle", "--target", f"/targets/{target}.toml", "--kind", kind]
                argv += ["--count", str(count), "--from", str(first)]
                done = vm.exec(argv, MARGIN_S + count // MIN_PACE)
                trials.append(trial(f"{target}, {kind}", done))
                print(row(trials[-1]), file=sys.stderr, flush=True)
            vm.unload("refpmu")
        vm.bye()
    return trials


def report(name: str, trials: Sequence[Trial], out: Path) -> None:
    """Writes the results for programs."""
    passed = sum(not t.disagrees for t in trials)
    failed = len(trials) - passed
    results = {
        "totals": {"cases": len(trials), "passed": passed, "failed": failed, "skipped": 0},
        "kernel": name,
        "trials": [asdict(t) for t in trials],
    }
    store.write(out / "results.json", (json.dumps(results, indent=2) + "\n").encode())


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.oracle", description=__doc__)
    parser.add_argument("--kernel", default="6.12", help="a name (6.12)")
    parser.add_argument("--calls", type=int, default=5_000, help="calls of each type (5000)")
    parser.add_argument(
        "--from", type=int, default=0, dest="first", help="number of the first call (0): for shards"
    )
    options = parser.parse_args(argv)
    if options.calls < 1:
        print("oracle: --calls must be at least 1", file=sys.stderr)
        return 2
    try:
        trials = run(options.kernel, options.calls, options.first)
    except (UserError, guest.GuestLost) as error:
        print(f"oracle: {error}", file=sys.stderr)
        return 2
    print(table(trials))
    for t in trials:
        if t.disagrees:
            print(f"{t.id}:\n{t.log}")
    report(options.kernel, trials, store.ROOT / "build" / f"oracle-{options.kernel}")
    return int(any(t.disagrees for t in trials))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
