# SPDX-License-Identifier: Apache-2.0
"""The page of the mutants: what became of each class, and which rules no killed mutant shows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mutation.trial import Trial

RESULTS = ("KILLED", "SURVIVED", "CRASH", "TIMEOUT", "BROKEN")


def shown(trials: Iterable[Trial], rules_of: Mapping[str, Sequence[str]]) -> set[str]:
    """The rules that a mutant names and one of whose cases killed it; `rules_of` by case."""
    return {
        rule
        for trial in trials
        if trial.killed
        for rule in trial.mutant.rules
        if trial.observer == "kunit" or any(rule in rules_of.get(c, ()) for c in trial.killed_by)
    }


def page(
    trials: Sequence[Trial], rules_of: Mapping[str, Sequence[str]], beyond: Mapping[str, str]
) -> str:
    """Markdown. `beyond`: rule → why no mutant can show it."""
    classes: dict[str, Counter[str]] = defaultdict(Counter)
    for trial in trials:
        classes[trial.mutant.failure_class or "none"][trial.result] += 1
    lines = ["# Mutants", "", f"| class | {' | '.join(RESULTS)} |", f"|---{'|---' * len(RESULTS)}|"]
    for name in sorted(classes):
        lines.append(f"| {name} | {' | '.join(str(classes[name][word]) for word in RESULTS)} |")
    sums = Counter(trial.result for trial in trials)
    lines.append(f"| all | {' | '.join(str(sums[word]) for word in RESULTS)} |")
    lines += ["", "## Not killed", ""]
    alive = [trial for trial in trials if not trial.killed]
    lines += [f"- {t.mutant.id} on {t.kernel}: {t.result} {t.detail}".rstrip() for t in alive]
    lines += [] if alive else ["None."]
    proven = shown(trials, rules_of)
    every = {rule for rules in rules_of.values() for rule in rules}
    named = {rule for trial in trials for rule in trial.mutant.rules} & every
    lines += ["", "## Rules without a killed mutant", ""]
    lines += [
        f"{len(proven & every)} rules that have cases were seen to fail by one of their own. "
        "The run stops at the first kill of each mutant: `--all` shows more.",
        "",
        f"- named by a mutant that a case of another of its rules killed first, or that lives: "
        f"{', '.join(sorted(named - proven)) or 'none'}",
    ]
    groups: dict[str, list[str]] = defaultdict(list)
    for rule in sorted(every - named):
        groups[beyond.get(rule, "named by no mutant of this run")].append(rule)
    lines += [f"- {reason}: {', '.join(rules)}" for reason, rules in groups.items()]
    return "\n".join(lines) + "\n"


def write(
    trials: Sequence[Trial],
    rules_of: Mapping[str, Sequence[str]],
    beyond: Mapping[str, str],
    path: Path,
) -> None:
    """Leave the page in a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(trials, rules_of, beyond), encoding="utf-8")
