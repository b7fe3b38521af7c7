# SPDX-License-Identifier: Apache-2.0
"""Compares the faults with the catalogue, the targets, the harnesses and the list of reasons. A fault must fail each
active rule, and exist for each known bug, or there is a reason why none does.

No patch is applied, since lint has no sources of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ci.faults import kernels
from ci.faults.report import shortened
from conformance.rules.generate import Rule, read_catalogue
from faults import fault as fault_file
from faults import reasons
from faults.fault import ANSWER, DEVICE, DRIVER, KERNEL, TEST, Fault
from faults.reasons import MISSED, NO_FAULT
from fuzz import corpora
from pmubase.errors import UserError

LISTED = 229
"""The number of known bugs of drivers: B001 to B229."""
LONGEST = 200
"""The most characters of a reason, which is a cell of a table."""
MOST_EXEMPT = 0.05
"""Largest part of the active rules that may have a reason, or that only reviews verify."""


def findings(root: Path, bugs: Sequence[str] | None = None) -> list[str]:
    """All errors. `bugs`: the ids of the known bugs."""
    found, errors = fault_file.collect(root)
    try:
        rules = {r.id: r for r in read_catalogue((root / "conformance" / "rules").glob("*.toml"))}
        why = reasons.read(root)
    except (UserError, OSError) as error:
        return [*errors, str(error)]
    if bugs is None:
        bugs = [f"B{number:03}" for number in range(1, LISTED + 1)]
    return [
        *errors,
        *(line for fault in found for line in _of_header(fault, rules, root)),
        *_of_subjects(found, rules),
        *_of_reasons(found, why, rules),
        *_of_bugs(found, why, bugs),
        *_of_rules(found, why, rules),
    ]


def _of_header(fault: Fault, rules: Mapping[str, Rule], root: Path) -> Iterator[str]:
    name = f"{fault.path.name}: {fault.id}"
    for rule in fault.named_rules:
        if rule not in rules or rules[rule].status == "retired":
            yield f"{name}: no active or draft rule {rule}"
        elif fault.breaks == ANSWER and "case" not in rules[rule].layer:
            yield f"{name}: no case verifies {rule}"
    for target in fault.targets:
        if not (root / "conformance" / "targets" / f"{target}.toml").is_file():
            if not (root / target).is_file():
                yield f"{name}: no target {target}"
    if fault.harness and fault.harness not in corpora.subjects(root / "fuzz"):
        yield f"{name}: no harness {fault.harness}"
    file, _, test = fault.test.partition("::")
    if test and not (
        (root / file).is_file() and f"def {test}(" in (root / file).read_text("utf-8")
    ):
        yield f"{name}: no test {fault.test}"
    for series in fault.kernels if fault.breaks == KERNEL else ():
        if series not in kernels.series():
            yield f"{name}: no kernel {series} can be built with a fault"


def _of_subjects(found: Sequence[Fault], rules: Mapping[str, Rule]) -> Iterator[str]:
    ours = (fault for fault in found if fault.breaks == DRIVER and fault.observers != (TEST,))
    named = {rule for fault in ours for rule in fault.rules}
    for rule in sorted(named & rules.keys()):
        if rules[rule].subject not in ("driver", "suite"):
            yield (
                f"{rule}: a fault of the driver violates it, so its subject must be driver, "
                f"not {rules[rule].subject}"
            )


def _of_reasons(
    found: Sequence[Fault], why: Mapping[str, tuple[str, str]], rules: Mapping[str, Rule]
) -> Iterator[str]:
    """Each reason is about a rule, a bug without a fault, or a fault that is missed."""
    ids = {fault.id for fault in found} | {fault.id[:4] for fault in found if _is_bug(fault)}
    missed = {fault.id for fault in found if fault.missed}
    for name, (status, reason) in why.items():
        if len(reason) > LONGEST and status != NO_FAULT:
            yield f"{name}: the reason has {len(reason)} characters; at most {LONGEST}"
        if status == NO_FAULT and not (name in rules and rules[name].status == "active"):
            yield f"{reasons.NAME}: no active rule {name}"
        elif status == MISSED and name not in missed:
            yield f"{reasons.NAME}: {name}: no fault expects to be missed"
        elif status not in (NO_FAULT, MISSED) and name in ids:
            yield f"{reasons.NAME}: {name} is '{status}', but has a fault"
    for name in sorted(missed):
        if why.get(name, ("", ""))[0] != MISSED:
            yield f"{name}: Expect: missed needs a reason in {reasons.NAME}"


def _is_bug(fault: Fault) -> bool:
    """A letter after the id of a known bug distinguishes its forms in several drivers."""
    return fault.breaks == KERNEL


def _of_bugs(
    found: Sequence[Fault], why: Mapping[str, tuple[str, str]], bugs: Sequence[str]
) -> Iterator[str]:
    known = {fault.id[:4] for fault in found if _is_bug(fault)} | why.keys()
    missing = [name for name in bugs if name not in known]
    if missing:
        yield f"known bugs without a fault and without a reason: {shortened(missing)}"


def _of_rules(
    found: Sequence[Fault], why: Mapping[str, tuple[str, str]], rules: Mapping[str, Rule]
) -> Iterator[str]:
    """A fault must fail each active rule that not only reviews verify."""
    active = [rule for rule in rules.values() if rule.status == "active"]
    wanted = [rule.id for rule in active if tuple(rule.layer) != ("review",)]
    named = {
        rule: fault.id
        for fault in found
        if fault.breaks not in (DEVICE, KERNEL)
        for rule in fault.named_rules
    }
    exempt = [name for name, (status, _) in why.items() if status == NO_FAULT]
    for rule in wanted:
        if rule not in named and rule not in exempt:
            yield f"{rule}: no fault names it, and {reasons.NAME} gives no reason"
    for rule in exempt:
        if rule in named:
            yield f"{rule}: {reasons.NAME} gives a reason, but {named[rule]} names it"
    reviewed = len(active) - len(wanted)
    most = int(MOST_EXEMPT * len(active))
    if len(exempt) + reviewed > most:
        yield (
            f"{reasons.NAME}: {len(exempt)} rules with a reason and {reviewed} reviewed ones are more "
            f"than {MOST_EXEMPT:.0%} of {len(active)} ({most})"
        )
