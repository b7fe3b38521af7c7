# SPDX-License-Identifier: Apache-2.0
"""Compares the regressions with the catalogue, the targets, the list of known bugs, their results and their page.

No patch is applied, since lint has no sources of the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ci.mutation.report import shortened
from ci.regression import page, recipes
from conformance.rules.generate import read_catalogue
from faults import regression_file, verdicts
from faults.regression_file import Regression, Unplanted
from faults.verdicts import CAUGHT, Stored
from pmubase.errors import UserError
from vm.arch import AMD64

LONGEST = 200
"""The most characters of a reason, which is a cell of a table."""


def findings(root: Path, bugs: Sequence[str] | None = None) -> list[str]:
    """Errors of headers, unknown names, bugs without a patch and without a reason, and an old page. `bugs`: the ids of
    the known bugs."""
    folder = root / regression_file.FOLDER
    try:
        catalogue = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
        stored = verdicts.read(folder)
    except (UserError, OSError) as error:
        return [str(error)]
    rules = {rule.id for rule in catalogue if rule.status != "retired"}
    targets = {path.stem for path in (root / "conformance" / "targets").glob("*.toml")}
    found, errors = regression_file.collect(folder)
    absent, wrong = regression_file.unplanted(folder)
    return [
        *map(str, errors),
        *wrong,
        *(line for one in found for line in _of_header(one, rules, targets)),
        *_of_list(found, absent, page.listed() if bugs is None else bugs),
        *_of_results(found, stored, rules),
        *_of_page(root),
    ]


def _of_header(one: Regression, rules: set[str], targets: set[str]) -> Iterator[str]:
    name = one.path.name
    for rule in one.rules:
        if rule not in rules:
            yield f"{name}: no active or draft rule {rule}"
    for target in one.targets:
        if target not in targets:
            yield f"{name}: no target {target}"
    for series in one.kernels:
        if series not in recipes.series():
            yield f"{name}: no kernel {recipes.kernel_name(series, AMD64)} can be built"
    if not one.text:
        yield f"{name}: no description"
    if len(one.missed) > LONGEST:
        yield f"{name}: Missed: has {len(one.missed)} characters; at most {LONGEST}"


def _of_list(
    found: Sequence[Regression], absent: Sequence[Unplanted], bugs: Sequence[str]
) -> Iterator[str]:
    """Each known bug has a patch or a reason, and not both."""
    planted = {name for one in found for name in (one.id, one.bug)}
    seen: set[str] = set()
    for bug in absent:
        if bug.id in planted:
            yield f"{bug.id}: has a patch, but is listed as {bug.status}"
        if bug.id in seen:
            yield f"{bug.id}: is listed twice as a bug without a patch"
        if len(bug.reason) > LONGEST:
            yield f"{bug.id}: the reason has {len(bug.reason)} characters; at most {LONGEST}"
        seen.add(bug.id)
    missing = [name for name in bugs if name not in planted | seen]
    if missing:
        where = f"{regression_file.FOLDER}/{regression_file.WITHOUT_PATCH}"
        yield f"known bugs without a patch and without an entry in {where}: {shortened(missing)}"


def _of_results(
    found: Sequence[Regression], stored: Mapping[tuple[str, str], Stored], rules: set[str]
) -> Iterator[str]:
    """The results that the project keeps agree with the headers."""
    known = {(one.id, series): one for one in found for series in one.kernels}
    for key, done in stored.items():
        where = f"{verdicts.NAME}: {done.id} on {done.kernel}"
        one = known.get(key)
        if one is None:
            yield f"{where}: there is no such patch"
            continue
        if done.rule and done.rule not in rules:
            yield f"{where}: no active or draft rule {done.rule}"
        if done.result == CAUGHT and one.missed:
            yield f"{where}: is caught, so its header must not have the key Missed"
        if done.result != CAUGHT and not one.missed:
            yield f"{where}: is missed, so its header needs the key Missed with a reason"


def _of_page(root: Path) -> Iterator[str]:
    path = root / page.PAGE
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if page.MARK not in text:
        yield f"{page.PAGE}: has no line {page.MARK}"
    elif text != page.replaced(text, page.generated(root)):
        yield f"{page.PAGE}: is not up to date: run python3 -m ci.regression_page"
