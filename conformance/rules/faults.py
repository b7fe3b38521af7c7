# SPDX-License-Identifier: Apache-2.0
"""Find the bugs that show that a rule can fail: mutants, false claims, lies, and real bugs of Linux."""

from __future__ import annotations

import ast
import dataclasses
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ci.mutation import exempt_rules, patch
from ci.regression import patches, verdicts
from ci.regression.verdict import CAUGHT
from pmubase.errors import UserError

MUTANTS = ("driver/mutants", "conformance/mutants", "oracle/mutants")
"""Folders of patches. Only the first one must exist."""
FALSE_CLAIMS = "conformance/selftest/false_claims_test.py"
LIES = "conformance/lies"
"""Wrong answers of the kernel to a case."""


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
        patches, errors = patch.collect(root / folder)
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


def lies(folder: Path, root: Path) -> list[Fault]:
    """The tables [[lie]] in the TOML files below a folder: `id`, `text`, and optional `rules`, `cases`, `target` and
    `kernels`. Other keys define the wrong answer. Empty without such a folder."""
    found = []
    for path in sorted(folder.rglob("*.toml")):
        where = str(path.relative_to(root))
        try:
            tables = tomllib.loads(path.read_text(encoding="utf-8"))
            found += [_lie(where, entry) for entry in tables.get("lie", [])]
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise UserError(f"{where}: {error!r}") from error
    return found


def _lie(where: str, entry: dict[str, Any]) -> Fault:
    return Fault(
        "lie",
        str(entry["id"]),
        " ".join(str(entry["text"]).split()),
        where,
        tuple(map(str, entry.get("rules", ()))),
        tuple(map(str, entry.get("cases", ()))),
        str(entry.get("target", "")),
        tuple(map(str, entry.get("kernels", ()))),
    )


def regressions(root: Path) -> list[Fault]:
    """The real bugs of Linux that a case caught when they were last tried, in the order of their ids."""
    folder = root / patches.FOLDER
    if not folder.is_dir():
        return []
    try:
        stored = verdicts.read(folder)
    except UserError as error:
        raise UserError(f"{patches.FOLDER}/{error}") from error
    known, errors = patches.collect(folder)
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
    found = [*mutants(root), *lies(root / LIES, root), *regressions(root)]
    claims = root / FALSE_CLAIMS
    if claims.exists():
        found += false_claims(claims.read_text("utf-8"), FALSE_CLAIMS)
    return found


def exempt(root: Path, rules: Iterable[str]) -> dict[str, str]:
    """The reason why no mutant can violate a rule, for each rule that has one."""
    try:
        return exempt_rules.read(root / MUTANTS[0] / exempt_rules.NAME, rules)
    except UserError as error:
        raise UserError(str(error)) from error
