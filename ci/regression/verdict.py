# SPDX-License-Identifier: Apache-2.0
"""The result of a regression on a kernel, from its trials on targets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ci.mutation.trial import Trial
from faults.regression_file import Regression
from faults.verdicts import CAUGHT, MISSED, Stored

BROKEN, NOT_RUN = "broken", "not run"


@dataclass(frozen=True)
class Verdict:
    """Whether the suite catches a regression on one series of kernels."""

    regression: Regression
    series: str
    result: str
    target: str = ""
    case: str = ""
    """The first case that failed."""
    rule: str = ""
    """A rule of that case; one that the regression names, if there is one."""
    failed_rules: tuple[tuple[str, str], ...] = ()
    """The rules that the regression names and that a case failed: rule and first such case."""
    tried: int = 0
    """The number of cases that ran."""
    own: tuple[tuple[str, str], ...] = ()
    """The cases of the named rules that ran, as TARGET CASE, and their results. It is empty for a recorded result."""
    detail: str = ""
    build_s: float = 0.0
    duration_s: float = 0.0
    """Seconds of build, boots and cases."""
    recorded: bool = False
    """The result is of an earlier run with the same inputs."""

    @property
    def problem(self) -> str:
        """The reason why this result is a failure; "" if it is none."""
        expected = self.regression.missed
        if self.result == BROKEN:
            return f"broken: {self.detail}"
        if self.result == MISSED and not expected:
            note = f" ({self.detail})" if self.detail else ""
            return f"missed, and the header has no reason (key Missed){note}"
        if self.result == CAUGHT and expected:
            return f"caught by {self.case}, so remove the key Missed from the header"
        return ""


def joined(verdicts: Sequence[Verdict]) -> Verdict:
    """The result from those on all architectures: the first catch. A miss counts only if all of them ran."""
    by_result = {done.result: done for done in reversed(verdicts)}
    found = next(by_result[word] for word in (CAUGHT, BROKEN, NOT_RUN, MISSED) if word in by_result)
    return replace(
        found,
        tried=sum(done.tried for done in verdicts),
        own=tuple(pair for done in verdicts for pair in done.own),
        detail="; ".join(done.detail for done in verdicts if done.detail),
        build_s=round(sum(done.build_s for done in verdicts), 1),
        duration_s=round(sum(done.duration_s for done in verdicts), 1),
        recorded=all(done.recorded for done in verdicts),
    )


def decide(
    regression: Regression,
    series: str,
    trials: Sequence[Trial],
    rules_of: Mapping[str, Sequence[str]],
) -> Verdict:
    """The result from the trials in their order. `rules_of`: the rules of each case."""
    tried = sum(done.tried for done in trials)
    own = tuple(
        (f"{done.mutant.target} {test.name}", test.result)
        for done in trials
        for test in done.ran
        if set(test.rules) & set(regression.rules)
    )
    killed = [done for done in trials if done.killed]
    failed: dict[str, str] = {}
    for done in killed:
        for rule, case in done.failed_rules:
            failed.setdefault(rule, case)
    detail = "; ".join(f"{done.mutant.target}: {done.detail}" for done in trials if done.detail)
    if killed:
        first = killed[0]
        case = first.killed_by[0] if first.killed_by else ""
        others = rules_of.get(case, ())
        return Verdict(
            regression,
            series,
            CAUGHT,
            target=first.mutant.target,
            case=case,
            rule=next((r for r in (*regression.rules, *others) if r in others), ""),
            failed_rules=tuple((rule, failed[rule]) for rule in regression.rules if rule in failed),
            tried=tried,
            own=own,
            detail=detail,
        )
    # A kernel on which no case ran did not boot.
    result = MISSED if all(done.ran for done in trials) else BROKEN
    detail = detail or "no case caught it"
    return Verdict(regression, series, result, tried=tried, own=own, detail=detail)


def merged(
    old: Mapping[tuple[str, str], Stored],
    verdicts: Iterable[Verdict],
    known: Sequence[Regression],
) -> list[Stored]:
    """The old results with the new ones, without those of regressions that no longer exist."""
    found = dict(old)
    for done in verdicts:
        name = done.regression.id
        if done.result == CAUGHT:
            new = Stored(name, done.series, CAUGHT, done.rule, done.case, done.target)
        elif done.result == MISSED:
            new = Stored(name, done.series, MISSED)
        else:
            continue
        found[(name, done.series)] = new
    alive = {(one.id, series) for one in known for series in one.kernels}
    return [found[key] for key in sorted(found.keys() & alive)]
