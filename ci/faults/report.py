# SPDX-License-Identifier: Apache-2.0
"""Reports the results of faults: for a person, for programs, and as an exit status.

A fault has several trials, one for each observer and kernel. All counts are counts of faults.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ci.faults.trial import BROKEN, CAUGHT, HOST, MISSED, Ran, Trial
from faults.fault import KERNEL, KUNIT, ON_HOST, SUITE
from pmubase import store

WHO = {"unit": "unit tests", "fuzz": "a fuzz harness", KUNIT: "KUnit", SUITE: "the suite"}
WORST = (BROKEN, MISSED, CAUGHT)
CASES_SHOWN = 3
NAMES_SHOWN = 20
TESTS_SHOWN = 12


def shortened(names: Sequence[str], shown: int = NAMES_SHOWN) -> str:
    """The first names of a list, and the number of the others."""
    more = [f"and {len(names) - shown} more"] if len(names) > shown else []
    return ", ".join([*names[:shown], *more])


def side(kernel: str) -> str:
    """The series of a kernel that was built with a fault, on any architecture; else the kernel's name."""
    return kernel.removesuffix("-msr").removesuffix("-arm64")


def line(done: Trial) -> str:
    """One line about one trial."""
    words = []
    if done.by:
        words.append(f"by {shortened(done.by, CASES_SHOWN)}")
    if done.caught and done.fault.rules and not done.failed_rules and done.observer != "unit":
        words.append("(by other rules than it names)")
    if done.detail:
        words.append(done.detail)
    return (
        f"{done.fault.id:<12} {done.observer:<6}{done.kernel:<11}{done.result:<7}"
        f"{done.took_s:>6.1f} s  {' '.join(words)}"
    ).rstrip()


def by_fault(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    """The trials of each fault, by its name."""
    found: dict[str, list[Trial]] = {}
    for done in trials:
        found.setdefault(done.fault.name, []).append(done)
    return found


def verdict(trials: Sequence[Trial]) -> str:
    """The result of a fault from its trials: caught, or the worst result.

    Each observer must catch it on each kernel. One observer is enough on each kernel, or one that needs no kernel, if
    the header has `any`. One architecture is enough for a fault in the kernel.
    """
    fault = trials[0].fault
    if fault.any_of or fault.breaks == KERNEL:
        if any(done.caught and done.observer in ON_HOST for done in trials):
            return CAUGHT
        sides = {side(done.kernel) for done in trials} - {HOST}
        if sides and sides <= {side(done.kernel) for done in trials if done.caught}:
            return CAUGHT
    results = {done.result for done in trials}
    return next(word for word in WORST if word in results)


def problem(trials: Sequence[Trial]) -> str:
    """The reason why the result of a fault is a failure; "" if it is none."""
    found = verdict(trials)
    details = "; ".join(done.detail for done in trials if done.detail)
    if found == BROKEN:
        return f"broken: {details}"
    if found == MISSED and not trials[0].fault.missed:
        return f"missed{': ' if details else ''}{details}"
    if found == CAUGHT and trials[0].fault.missed:
        by = next(done.by[0] for done in trials if done.by)
        return f"caught by {by}: remove 'Expect' from the header, and the reason"
    return ""


def unfailed(trials: Sequence[Trial]) -> list[tuple[str, str]]:
    """The rules that a fault names and that no trial failed, with the fault. Only observers whose tests name rules
    count."""
    found = []
    for own in by_fault(trials).values():
        if any(done.observer != "unit" for done in own):
            failed = {rule for done in own for rule, _ in done.failed_rules}
            fault = own[0].fault
            found += [(fault.id, rule) for rule in fault.rules if rule not in failed]
    return found


def summary(
    trials: Sequence[Trial],
    errors: Sequence[str],
    problems: Sequence[str],
    notes: Sequence[str],
    rules: bool,
) -> str:
    """The last lines: faults that were not caught, errors, and the counts. `rules`: also name the rules that a fault
    names and that no test failed."""
    lines = [f"not judged: {error}" for error in errors]
    lines += [f"the clean original is not clean: {each}" for each in problems]
    lines += [f"clean: {note}; this case catches no fault" for note in notes]
    found = by_fault(trials)
    for own in found.values():
        why = problem(own)
        if why:
            for done in own:
                lines += explanation(done, why)
    if rules:
        lines += [
            f"{name}: rule {rule}: not failed by this fault" for name, rule in unfailed(trials)
        ]
    results = Counter(map(verdict, found.values()))
    words = [f"{results[word]} {word}" for word in reversed(WORST) if results[word]]
    expected = sum(own[0].fault.missed and not problem(own) for own in found.values())
    words += [f"{expected} of them as expected"] if expected else []
    words += [f"{len(errors)} not judged"] if errors else []
    old = sum(done.recorded for done in trials)
    lines.append(
        f"{len(found)} faults: {', '.join(words) or 'none'}; {len(trials)} trials, {old} recorded before"
    )
    return "\n".join(lines)


def explanation(done: Trial, why: str) -> list[str]:
    """Why a fault was not caught: the tests of its rules that ran, the nearest others, and the command that repeats the
    trial."""
    fault = done.fault
    where = "" if done.observer in ON_HOST else f" on {done.kernel}"
    who = WHO.get(done.observer, done.observer)
    lines = [f"{fault.id}{where}: {why} ({done.tried} tests tried by {who})"]
    own = [test for test in done.ran if set(test.rules) & set(fault.rules)]
    if done.ran and done.observer in (SUITE, KUNIT):
        rules = ", ".join(fault.rules) or "none named"
        lines.append(f"  tests of its rules ({rules}): {_results(own)}")
    near = [test for test in done.ran if test not in own and is_near(test, done)]
    if near:
        lines.append(f"  nearest other tests (same file or area of rules): {_results(near)}")
    words = ["python3 -m ci.faults", f"--id {fault.id}", f"--observer {done.observer}", "--fresh"]
    words += [f"--kernel {side(done.kernel)}"] if where else []
    return [*lines, f"  again: {' '.join(words)}"]


def is_near(test: Ran, done: Trial) -> bool:
    """Whether a test has a rule of the same area as the fault, or a file named after a file that the fault changes."""
    areas = {rule.partition("-")[0] for rule in done.fault.rules}
    if any(rule.partition("-")[0] in areas for rule in test.rules):
        return True
    changed = {Path(name).stem for name in done.fault.files}
    stem = Path(test.file).stem.removesuffix("_test").removesuffix("_kunit")
    return stem.removeprefix("refpmu_") in changed


def _results(tests: Sequence[Ran]) -> str:
    return shortened([f"{test.name} {test.result}" for test in tests], TESTS_SHOWN) or "none"


def status(trials: Sequence[Trial], errors: Sequence[str], problems: Sequence[str]) -> int:
    """Returns 0 if each fault was caught, or missed as expected, 1 if not, 2 if not judged. An unclean original prevents
    all judgements."""
    if problems or not trials:
        return 2
    found = by_fault(trials).values()
    if any(problem(own) and verdict(own) != BROKEN for own in found):
        return 1
    return 2 if errors or any(verdict(own) == BROKEN for own in found) else 0


def row(done: Trial) -> dict[str, Any]:
    """A trial as a row of the results file."""
    fault = done.fault
    return {
        "id": fault.id,
        "breaks": fault.breaks,
        "file": fault.path.name,
        "kernel": done.kernel,
        "observer": done.observer,
        "result": done.result,
        "by": list(done.by),
        "rules": list(fault.rules),
        "failed_rules": dict(done.failed_rules),
        "other_rules": list(done.other_rules),
        "tests_tried": done.tried,
        "took_s": done.took_s,
        "recorded": done.recorded,
        "detail": done.detail,
    }


def write(
    trials: Sequence[Trial],
    errors: Sequence[str],
    problems: Sequence[str],
    skipped: Sequence[str],
    out: Path,
) -> None:
    """Writes results.json, rules.json and the page. Each fault is a case, which passes if its result is no failure."""
    found = by_fault(trials)
    cases = [{"id": name, "result": "SKIP", "message": "for other kernels"} for name in skipped]
    for name, own in found.items():
        why = problem(own)
        result = "BROKEN" if verdict(own) == BROKEN else "FAIL" if why else "PASS"
        by = next((f"by {done.by[0]}" for done in own if done.by), "")
        cases.append({"id": name, "result": result, "message": why or by})
    results = Counter(case["result"] for case in cases)
    bad = len(errors) + len(problems)
    document = {
        "totals": {
            "cases": len(cases) + bad,
            "passed": results["PASS"],
            "failed": results["FAIL"] + results["BROKEN"] + bad,
            "skipped": results["SKIP"],
        },
        "problems": [*errors, *(f"clean original: {each}" for each in problems)],
        "cases": cases,
        "trials": [row(done) for done in trials],
    }
    store.write(out / "results.json", (json.dumps(document, indent=1) + "\n").encode())
    store.write(out / "rules.json", (json.dumps(rules_failed(trials), indent=1) + "\n").encode())
    store.write(out / "faults.md", page(trials).encode())


def rules_failed(trials: Sequence[Trial]) -> dict[str, list[dict[str, str]]]:
    """The faults that failed each rule. An entry is evidence: the test verifies the rule, fails with the fault, and
    passes without it."""
    found: dict[str, list[dict[str, str]]] = {}
    for done in trials:
        for rule, test in done.failed_rules if done.caught else ():
            one = {"kind": done.fault.breaks, "id": done.fault.id, "observer": done.observer}
            found.setdefault(rule, []).append({**one, "test": test, "kernel": done.kernel})
    return dict(sorted(found.items()))


def page(trials: Sequence[Trial]) -> str:
    """The results as Markdown: the counts by folder, and a row for each trial that is no catch."""
    lines = [
        "# Faults",
        "",
        "| folder | faults | caught | missed | broken |",
        "|---|---|---|---|---|",
    ]
    counts: dict[str, Counter[str]] = {}
    for own in by_fault(trials).values():
        fault = own[0].fault
        name = f"{fault.breaks}: {fault.path.parent.name}"
        counts.setdefault(name, Counter())[verdict(own)] += 1
    for name, results in sorted(counts.items()):
        cells = [str(results[word]) for word in (CAUGHT, MISSED, BROKEN)]
        lines.append(f"| {name} | {results.total()} | {' | '.join(cells)} |")
    lines += ["", "## Trials", "", "| fault | kernel | observer | result | rule | by | why |"]
    lines.append("|---|---|---|---|---|---|---|")
    for done in trials:
        rule = done.failed_rules[0][0] if done.failed_rules else ""
        cells = [done.fault.id, done.kernel, done.observer, done.result, rule]
        cells += [done.by[0] if done.by else "", done.detail.replace("|", "/")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
