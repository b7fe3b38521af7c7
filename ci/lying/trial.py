# SPDX-License-Identifier: Apache-2.0
"""Runs cases under a lie until each of its rules is caught."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from faults.lie_file import Lie
from vm.channel import Message
from vm.suite import Case

CAUGHT, MISSED, SKIPPED = "CAUGHT", "MISSED", "SKIPPED"
SHOWN = 200

Run = Callable[[Case], Message]
"""Runs a case under the lie and returns its result."""


@dataclass(frozen=True)
class Pair:
    """The result of a lie and one rule."""

    lie: str
    rule: str
    result: str
    case: str = ""
    """The case that caught it, or the last one that ran."""
    named: bool = False
    """Whether the failed expectation names the rule, or the case verifies only this rule."""
    message: str = ""

    @property
    def caught(self) -> bool:
        """Whether a case of the rule failed."""
        return self.result == CAUGHT


def order(lie: Lie, cases: Sequence[Case], rules: Iterable[str]) -> list[Case]:
    """The cases that verify `rules`: first those that the lie names, then those with the fewest rules of others."""
    wanted = set(rules)
    ours = [case for case in cases if wanted & set(case.rules)]
    place = {name: number for number, name in enumerate(lie.cases)}
    return sorted(
        ours, key=lambda case: (place.get(case.id, len(place)), len(set(case.rules) - wanted))
    )


def named_rules(result: Message, case: Case) -> set[str]:
    """The rules that the failure is about, if it names one."""
    return set(result.get("named_rules", ())) or (
        set(case.rules) if len(case.rules) == 1 else set()
    )


def is_catch(lie: Lie, result: Message) -> bool:
    """Whether the result counts as a catch of the lie."""
    return result["result"] in lie.kill and (
        result["result"] != "FAIL" or result.get("lied", 0) > 0
    )


def judge(lie: Lie, cases: Sequence[Case], run: Run, passes: Callable[[Case], bool]) -> list[Pair]:
    """One pair for each rule of the lie. `passes`: whether a case passes without a lie."""
    best: dict[str, Pair] = {}
    for case in order(lie, cases, lie.rules):
        remaining = [rule for rule in lie.rules if rule in case.rules]
        remaining = [rule for rule in remaining if rule not in best or not best[rule].named]
        if not remaining or not passes(case):
            continue
        result = run(case)
        caught = is_catch(lie, result)
        named = named_rules(result, case)
        for rule in remaining:
            if caught:
                pair = Pair(lie.id, rule, CAUGHT, case.id, rule in named, first_lines(result))
                if rule not in best or not best[rule].caught or pair.named:
                    best[rule] = pair
            elif rule not in best:
                detail = f"{result['result']}, applied {result.get('lied', 0)} times"
                best[rule] = Pair(lie.id, rule, MISSED, case.id, message=detail)
    return [best.get(rule, Pair(lie.id, rule, SKIPPED)) for rule in lie.rules]


def discover(
    lie: Lie, cases: Sequence[Case], run: Run, passes: Callable[[Case], bool]
) -> list[Pair]:
    """A pair for each rule that any of `cases` caught the lie with; the best one."""
    best: dict[str, Pair] = {}
    for case in cases:
        if not passes(case):
            continue
        result = run(case)
        if not is_catch(lie, result):
            continue
        named = named_rules(result, case)
        for rule in case.rules:
            pair = Pair(lie.id, rule, CAUGHT, case.id, rule in named, first_lines(result))
            if rule not in best or pair.named and not best[rule].named:
                best[rule] = pair
    return [best[rule] for rule in sorted(best)]


def first_lines(result: Message) -> str:
    """The beginning of the failure on one line, without the line about the lie."""
    lines = str(result["message"]).split("\n")[1:]
    return " ".join(line.strip() for line in lines if line.strip())[:SHOWN]
