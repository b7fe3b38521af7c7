# SPDX-License-Identifier: Apache-2.0
"""Makes a draft rule active: runs its cases on two kernels, 1,000 times each, and records the steps in the ledger.

Each shard of the runs has a new guest. build/activate/RULE has the results of finished shards, so that the same command
continues an interrupted run. A rule that no case verifies gets its entry by hand (docs/adding.md).
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ci import freeze
from ci.checks import frozen as check
from ci.units.inputs import Inputs
from conformance.rules import frozen
from conformance.rules.frozen import MIN_RUNS, FrozenError
from conformance.rules.generate import CatalogueError, Rule, read_catalogue
from vm import arch, kernel, runs, session, store, suite
from vm.channel import Message
from vm.errors import PmuvmError

ROOT = Path(__file__).resolve().parent.parent

OUT = ROOT / "build" / "activate"
KERNELS = tuple(kernel.known())
SHARD_RUNS = 250
"""Runs of each case in one guest."""
STATUS = r'(id\s*=\s*"{}"(?:\n(?!\[\[).*)*?\nstatus\s*=\s*")draft"'

Results = dict[str, Counter[str]]
"""The number of each result, for each case."""


def shards(total: int) -> list[int]:
    """The runs of each shard."""
    whole, rest = divmod(total, SHARD_RUNS)
    return [SHARD_RUNS] * whole + ([rest] if rest else [])


def driver_digest(target: str) -> str:
    """The digest of a target with its driver."""
    return Inputs(ROOT).digest(f"target:{target}")


def run_shard(target: suite.Target, name: str, cases: Sequence[suite.Case], count: int) -> Results:
    """Runs each case `count` times in one guest, in turns. A report of the kernel at the end is a result "KERNEL" of
    each case."""
    found = kernel.find(name, arch.AMD64)
    plan = runs.plan(target, found, None)
    results: Results = {case.id: Counter() for case in cases}
    reports: list[str] = []

    def record(message: Message) -> None:
        if message["t"] == "kmsg":
            reports.extend(message["reports"])

    with session.Session(plan, None, record) as guests:
        for _ in range(count):
            for case in cases:
                results[case.id][str(guests.run(case)["result"])] += 1
        guests.finish()
    if reports:
        for counts in results.values():
            counts["KERNEL"] += 1
    return results


def not_passed(results: Results, where: str) -> Iterator[str]:
    """A line for each case with another result than PASS."""
    for case, counts in sorted(results.items()):
        if set(counts) != {"PASS"}:
            found = ", ".join(f"{n} {result}" for result, n in sorted(counts.items()))
            yield f"{case} on {where}: {found}"


def activated(text: str, rule: str) -> str:
    """The text of a file of rules in which the draft is active. FrozenError if its status cannot be found."""
    changed, n = re.subn(STATUS.format(rule), r'\g<1>active"', text)
    if n != 1:
        raise FrozenError(f"cannot find the line 'status = \"draft\"' of {rule}")
    return changed


def find_rule(root: Path, rule_id: str) -> Rule:
    """The rule, if it may become active. FrozenError if not."""
    rules = {r.id: r for r in read_catalogue((root / "conformance" / "rules").glob("*.toml"))}
    if rule_id not in rules:
        raise FrozenError(f"no rule '{rule_id}' in the catalogue")
    rule = rules[rule_id]
    recorded = frozen.recorded(frozen.read_baseline(root), frozen.read_ledger(root)).get(rule_id)
    if rule.status == "retired":
        raise FrozenError(f"{rule_id} is retired")
    if recorded == frozen.meaning(rule):
        raise FrozenError(f"{rule_id} is active and recorded already")
    named = {one for profile in frozen.read_profiles(root) for one in profile.rules}
    if recorded is not None and rule_id in named:
        raise FrozenError(f"{rule_id}: a released profile names it: retire it and add a new rule")
    return rule


def run_all(
    options: argparse.Namespace, rule: Rule, target: suite.Target, cases: Sequence[suite.Case]
) -> list[str]:
    """Runs all shards that have no results yet. Returns a line for each result that is no PASS."""
    driver = driver_digest(options.target).encode()
    state = store.digest([frozen.meaning(rule).encode(), suite.binary().read_bytes(), driver])[:12]
    folder = OUT / rule.id / state
    bad: list[str] = []
    for name in KERNELS:
        for number, count in enumerate(shards(options.runs), 1):
            file = folder / f"{name}-{number}-{count}.json"
            if file.is_file():
                results = {
                    case: Counter(counts) for case, counts in json.loads(file.read_text()).items()
                }
            else:
                print(f"{rule.id} on {name}, shard {number}: {count} runs", flush=True)
                results = run_shard(target, name, cases, count)
                store.write(file, json.dumps(results).encode())
            bad += not_passed(results, f"{name}, shard {number}")
            if bad:
                return bad
    return bad


def activate(options: argparse.Namespace, root: Path) -> int:
    """Does the steps. Returns 0 if the rule is active then, and 1 if a case did not pass."""
    rule = find_rule(root, options.rule)
    if options.runs < MIN_RUNS:
        raise FrozenError(f"--runs {options.runs} must be at least {MIN_RUNS}")
    if wrong := check.failed_by_error(root, rule.id, options.failed_by):
        raise FrozenError(f"--failed-by: {wrong}")
    if "case" not in rule.layer:
        raise FrozenError(f"{rule.id} has no cases: write its entry by hand (docs/adding.md)")
    target = suite.find_target(options.target)
    cases = suite.cases(target, suite.Selection(rule=rule.id))
    bad = run_all(options, rule, target, cases)
    for line in bad:
        print(line)
    if bad:
        print(f"{rule.id} stays a draft")
        return 1
    words = f"--failed-by {options.failed_by} --target {options.target} --runs {options.runs}"
    entry: dict[str, object] = {
        "rule": rule.id,
        "meaning": frozen.meaning(rule),
        "date": datetime.date.today(),
        "kernels": list(KERNELS),
        "failed_by": options.failed_by,
        "runs": options.runs,
        "command": f"python3 -m ci.activate {rule.id} {words}",
    }
    file = root / "conformance" / "rules" / f"{rule.id.partition('-')[0]}.toml"
    if rule.status == "draft":
        store.write(file, activated(file.read_text(encoding="utf-8"), rule.id).encode())
    freeze.append_entry(root, "activated", entry)
    print(f"{rule.id} is active; it joins the next version of its profiles: ci.freeze profile NAME")
    return 0


def main(argv: Sequence[str], root: Path = ROOT) -> int:
    """The command line. Returns 0, 1, or 2 with a line about an error."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.activate", description=__doc__)
    parser.add_argument("rule", help="id of a draft")
    parser.add_argument(
        "--failed-by",
        required=True,
        help="a patch that fails a case of the rule, or FILE_test.py::TEST[PARAMETER]",
    )
    parser.add_argument("--runs", type=int, default=MIN_RUNS, help=f"on each kernel ({MIN_RUNS})")
    parser.add_argument("--target", default="refpmu", help="refpmu")
    options = parser.parse_args(argv)
    try:
        return activate(options, root)
    except (FrozenError, CatalogueError, PmuvmError) as error:
        print(f"activate: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("activate: interrupted", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
