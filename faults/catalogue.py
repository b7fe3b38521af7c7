# SPDX-License-Identifier: Apache-2.0
"""Find the bugs that show that a rule can fail: mutants, false claims, lies, and real bugs of Linux."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable
from pathlib import Path

from faults import exempt_rules, lie_file, mutant_file, regression_file, verdicts
from faults.verdicts import CAUGHT
from pmubase.errors import UserError

MUTANTS = ("driver/mutants", "conformance/mutants", "oracle/mutants")
"""Folders of patches. Only the first one must exist."""
FALSE_CLAIMS = "conformance/selftest/false_claims_test.py"


@dataclasses.dataclass(frozen=True)
class Fault:
    """A bug on purpose. Its header or table claims that tests of `rules` fail because of it."""

    kind: str
    """"mutant", "false claim", "lie" or "regression"."""
    id: str
    text: str
    file: str
    """Relative to the root of the project."""
    rules: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    """Cases that must fail. They verify the rules if `rules` is empty."""
    target: str = ""
    kernels: tuple[str, ...] = ()
    """Empty: every kernel."""
    observers: tuple[str, ...] = ()


def mutants(root: Path) -> list[Fault]:
    """The mutants, in the order of their ids."""
    found = []
    for folder in MUTANTS:
        patches, errors = mutant_file.collect(root / folder)
        if errors:
            raise UserError(str(errors[0]))
        found += patches
    return [
        Fault(
            "mutant",
            mutant.id,
            mutant.text,
            str(mutant.path.relative_to(root)),
            mutant.rules,
            (),
            mutant.target,
            mutant.kernels,
            mutant.observers,
        )
        for mutant in sorted(found, key=lambda mutant: mutant.id)
    ]


def false_claims(text: str, file: str) -> list[Fault]:
    """The calls FalseClaim(name, edits, cases, fails, target) in the source of the false-claim tests."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "FalseClaim":
            continue
        words = dict(zip(("name", "edits", "cases", "fails", "target"), node.args, strict=False))
        words |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg}
        try:
            plain = {
                key: str(ast.literal_eval(words[key]))
                for key in ("name", "fails", "target")
                if key in words
            }
            name, fails = plain["name"], plain["fails"]
        except (KeyError, ValueError) as error:
            raise UserError(f"{file}:{node.lineno}: name and fails must be strings") from error
        target = plain.get("target", "refpmu")
        claim = f"The target file of {target} has a false claim: {name.replace('-', ' ')}."
        found.append(Fault("false claim", name, claim, file, (), (fails,), target))
    return sorted(found, key=lambda fault: fault.id)


def lies(root: Path) -> list[Fault]:
    """The lies of the project: wrong answers of the kernel to a case."""
    return [
        Fault(
            "lie",
            lie.id,
            " ".join(lie.text.split()),
            str(lie.path.relative_to(root)),
            lie.rules,
            lie.cases,
            lie.target,
            lie.kernels,
        )
        for lie in lie_file.read(root / lie_file.FOLDER)
    ]


def regressions(root: Path) -> list[Fault]:
    """The real bugs of Linux that a case caught when they were last tried, in the order of their ids."""
    folder = root / regression_file.FOLDER
    if not folder.is_dir():
        return []
    stored = verdicts.read(folder)
    known, errors = regression_file.collect(folder)
    if errors:
        raise UserError(str(errors[0]))
    found: dict[str, Fault] = {}
    for one in known:
        caught = [v for (name, _), v in stored.items() if name == one.id and v.result == CAUGHT]
        if not caught:
            continue
        found[one.id] = Fault(
            "regression",
            one.id,
            f"{one.text} (fixed by: {one.subject})",
            str(one.path.relative_to(root)),
            tuple(dict.fromkeys(v.rule for v in caught)),
            tuple(dict.fromkeys(v.case for v in caught)),
            caught[0].target,
            tuple(v.kernel for v in caught),
        )
    return [found[name] for name in sorted(found)]


def read_all(root: Path) -> list[Fault]:
    """All faults of the checkout. UserError names the file that has an error."""
    found = [*mutants(root), *lies(root), *regressions(root)]
    claims = root / FALSE_CLAIMS
    if claims.exists():
        found += false_claims(claims.read_text("utf-8"), FALSE_CLAIMS)
    return found
