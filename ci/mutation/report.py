# SPDX-License-Identifier: Apache-2.0
"""Reports the results of the mutants: for a person, for programs, and as an exit status.

A mutant has several trials, one for each observer and kernel. All counts are counts of mutants.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.mutation import rule_evidence
from ci.mutation.trial import Ran, Trial
from faults.mutant_file import KUNIT, ON_HOST, SUITE, touched

KILLED = "KILLED"
SEVERITY = ("BROKEN", "CRASH", "TIMEOUT", "SURVIVED")
"""The results of mutants that are not killed, the most important one first."""
WHO = {"unit": "unit tests", "fuzz": "a fuzz harness", KUNIT: "KUnit", SUITE: "the suite"}
CASES_SHOWN = 3
NAMES_SHOWN = 20
TESTS_SHOWN = 12


def shortened(names: Sequence[str], shown: int = NAMES_SHOWN) -> str:
    """The first names of a list, and the number of the others."""
    more = [f"and {len(names) - shown} more"] if len(names) > shown else []
    return ", ".join([*names[:shown], *more])


def line(trial: Trial) -> str:
    """One line about one trial."""
    words = []
    if trial.killed_by:
        words.append(f"by {shortened(trial.killed_by, CASES_SHOWN)}")
    if trial.other_rules:
        words.append("(by other rules than it names)")
    if trial.detail:
        words.append(trial.detail)
    words += [f"[{remark}]" for remark in trial.mutant.remarks]
    return (
        f"{trial.mutant.id:<12}{trial.observer:<6}{trial.kernel:<11}{trial.result:<9}"
        f"{trial.duration_s:>6.1f} s  {' '.join(words)}"
    ).rstrip()


def by_mutant(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    """The trials of each mutant, by its id."""
    found: dict[str, list[Trial]] = {}
    for done in trials:
        found.setdefault(done.mutant.id, []).append(done)
    return found


def verdict(trials: Sequence[Trial]) -> str:
    """The result of a mutant from its trials: KILLED, or the worst result.

    Without `any` in its header each observer must kill it on each kernel. With it, one observer must kill it on each
    kernel, or an observer that needs no kernel.
    """
    if trials and trials[0].mutant.any_of:
        kernels: dict[str, bool] = {}
        for done in trials:
            kernels[done.kernel] = kernels.get(done.kernel, False) or done.killed
        on_host = any(done.killed and done.observer in ON_HOST for done in trials)
        others = {name: killed for name, killed in kernels.items() if name != "host"}
        if on_host or others and all(others.values()):
            return KILLED
    results = {done.result for done in trials} - {KILLED}
    return next((word for word in SEVERITY if word in results), KILLED if trials else "BROKEN")


def verdicts(trials: Sequence[Trial]) -> dict[str, str]:
    """The result of each mutant, by its id."""
    return {name: verdict(own) for name, own in by_mutant(trials).items()}


def summary(
    trials: Sequence[Trial],
    errors: Sequence[str],
    faults: Sequence[str],
    skipped: int = 0,
    rules: bool = False,
) -> str:
    """The last lines: surviving mutants, mutants that were not judged, and the counts. `skipped`: the mutants that no
    trial could run for. `rules`: also name the rules that a mutant names and that no test failed.
    """
    lines = [f"not judged: {error}" for error in errors]
    lines += [f"the clean driver is not clean: {fault}" for fault in faults]
    found = verdicts(trials)
    for done in trials:
        if not done.killed and found[done.mutant.id] != KILLED:
            lines += explanation(done)
    for mutant, rule in rule_evidence.unfailed(trials) if rules else ():
        lines.append(f"{mutant}: rule {rule}: not failed by this mutant")
    counts = [(KILLED, "killed"), ("SURVIVED", "survived")]
    words = [f"{sum(word == r for r in found.values())} {said}" for word, said in counts]
    lost = sum(word in ("CRASH", "TIMEOUT") for word in found.values())
    broken = sum(word == "BROKEN" for word in found.values()) + len(errors)
    words += [f"{lost} ended the guest"] if lost else []
    words += [f"{broken} not judged"] if broken else []
    words += [f"{skipped} not for this kernel"] if skipped else []
    total = len(found) + len(errors) + skipped
    lines.append(f"{total} mutants: {', '.join(words)}; {len(trials)} trials")
    return "\n".join(lines)


def explanation(done: Trial) -> list[str]:
    """Why a mutant was not killed: the number of tests that ran, those of its rules, the nearest others, and the
    command that repeats the trial."""
    mutant = done.mutant
    where = "" if done.observer in ON_HOST else f" on {done.kernel}"
    what = done.detail or mutant.text or mutant.path.name
    tried = f"{done.tried} tests tried by {WHO[done.observer]}"
    lines = [f"{mutant.id}{where}: {done.result}: {what} ({tried})"]
    own = [test for test in done.ran if set(test.rules) & set(mutant.rules)]
    if done.ran and done.observer in (SUITE, KUNIT):
        rules = ", ".join(mutant.rules) or "none named"
        lines.append(f"  tests of its rules ({rules}): {_results(own)}")
    near = [test for test in done.ran if test not in own and is_near(test, done)]
    if near:
        lines.append(f"  nearest other tests (same file or area of rules): {_results(near)}")
    words = ["python3 -m ci.mutants", f"--id {mutant.id}", f"--observer {done.observer}", "--fresh"]
    words += [f"--kernel {done.kernel}"] if where else []
    return [*lines, f"  again: {' '.join(words)}"]


def is_near(test: Ran, done: Trial) -> bool:
    """Whether a test has a rule of the same area as the mutant, or a file named after a file that the mutant
    changes."""
    areas = {rule.partition("-")[0] for rule in done.mutant.rules}
    if any(rule.partition("-")[0] in areas for rule in test.rules):
        return True
    changed = {Path(name).stem for name in touched(done.mutant)}
    stem = Path(test.file).stem.removesuffix("_test").removesuffix("_kunit")
    return stem.removeprefix("refpmu_") in changed


def _results(tests: Sequence[Ran]) -> str:
    return shortened([f"{test.name} {test.result}" for test in tests], TESTS_SHOWN) or "none"


def status(found: Sequence[str], errors: Sequence[str], faults: Sequence[str]) -> int:
    """Returns 0 if all mutants were killed, 1 if not, 2 if not judged. An unclean driver prevents all judgements.

    `found`: the result of each mutant.
    """
    if faults or not found and not errors:
        return 2
    if any(result not in (KILLED, "BROKEN") for result in found):
        return 1
    return 2 if errors or "BROKEN" in found else 0


def rows(trials: Sequence[Trial]) -> list[dict[str, Any]]:
    """The trials as rows of the results file."""
    found = verdicts(trials)
    return [
        {
            "id": done.mutant.id,
            "file": done.mutant.path.name,
            "class": done.mutant.failure_class,
            "kernel": done.kernel,
            "observer": done.observer,
            "result": done.result,
            "verdict": found[done.mutant.id],
            "killed_by": list(done.killed_by),
            "other_rules": done.other_rules,
            "rules": list(done.mutant.rules),
            "failed_rules": dict(done.failed_rules),
            "tests_tried": done.tried,
            "duration_s": done.duration_s,
            "detail": done.detail,
            "remarks": list(done.mutant.remarks),
        }
        for done in trials
    ]


def write(
    trials: Sequence[Trial],
    errors: Sequence[str],
    faults: Sequence[str],
    skipped: int,
    path: Path,
) -> None:
    """Writes the results to a file."""
    found = list(verdicts(trials).values())
    killed = found.count(KILLED)
    cases = len(found) + len(errors) + len(faults)
    figures = {
        "killed": killed,
        "total": len(found) + len(errors),
        "totals": {
            "cases": cases + skipped,
            "passed": killed,
            "failed": cases - killed,
            "skipped": skipped,
        },
        "problems": [*errors, *(f"clean driver: {fault}" for fault in faults)],
        "mutants": rows(trials),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
