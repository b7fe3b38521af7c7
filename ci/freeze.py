# SPDX-License-Identifier: Apache-2.0
"""Records changes of frozen things: the next version of a profile, another wording of a rule, a withdrawn rule."""

from __future__ import annotations

import argparse
import datetime
import itertools
import json
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from conformance.rules import frozen
from conformance.rules.frozen import FOLDER, LEDGER, PROFILES, RELEASED, FrozenError
from conformance.rules.generate import CatalogueError, Rule, read_catalogue
from vm import store

ROOT = Path(__file__).resolve().parent.parent

WIDTH = 98


def toml_value(value: object) -> str:
    """A value of the ledger in TOML. Strings are those of JSON."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False)


def append_entry(root: Path, kind: str, entry: dict[str, object]) -> None:
    """Appends an entry to the ledger, with the keys of its kind."""
    path = root / FOLDER / LEDGER
    lines = [f"{key} = {toml_value(entry[key])}" for key in frozen.ENTRIES[kind]]
    text = path.read_text(encoding="utf-8") + "\n".join(["", f"[[{kind}]]", *lines, ""])
    store.write(path, text.encode())


def profile_text(name: str, head: str, rules: Sequence[str]) -> str:
    """The text of a profile file: `head` up to its rules, then the ids, each area on lines of its own."""
    base, version = frozen.version_of(name)
    lines = ["rules = ["]
    for _, ids in itertools.groupby(rules, key=lambda rule: rule.partition("-")[0]):
        quoted = " ".join(f'"{rule}",' for rule in ids)
        lines += [f"  {line}" for line in textwrap.wrap(quoted, WIDTH - 2)]
    number = ".".join(map(str, version))
    head = re.sub(r'^version = ".*"$', f'version = "{number}"', head, flags=re.M)
    return head + "\n".join([*lines, "]", ""])


def next_rules(old: frozen.Profile, catalogue: Sequence[Rule]) -> list[str]:
    """The rules of the next version: the active ones of the old version, and the rules of its areas that became active
    since. The next version of `driver` has instead the MUST rules of drivers that a test verifies.
    """
    areas = {rule.partition("-")[0] for rule in old.rules}
    active = [rule for rule in catalogue if rule.status == "active"]
    if frozen.version_of(old.name)[0] == "driver":
        chosen = [
            rule
            for rule in active
            if rule.level == "MUST" and rule.subject == "driver" and rule.layer != ("review",)
        ]
    else:
        chosen = [rule for rule in active if rule.id.partition("-")[0] in areas]
    return [rule.id for rule in chosen]


def make_profile(root: Path, base: str) -> str:
    """Writes the next minor version of a profile and its digest. Returns a line about it."""
    old = frozen.newest(frozen.read_profiles(root), base)
    if old is None:
        raise FrozenError(f"no profile '{base}' in {PROFILES}")
    rules = next_rules(old, read_catalogue((root / "conformance" / "rules").glob("*.toml")))
    if rules == list(old.rules):
        raise FrozenError(f"{old.name} has all rules already: no new version is needed")
    major, minor = frozen.version_of(old.name)[1]
    name = f"{base}-{major}.{minor + 1}"
    head = (root / PROFILES / f"{old.name}.toml").read_text(encoding="utf-8")
    head = head[: head.index("rules = [")]
    digests = root / FOLDER / RELEASED
    line = f'"{name}" = "{frozen.digest_of(rules)}"\n'
    path = root / PROFILES / f"{name}.toml"
    store.write(path, profile_text(name, head, rules).encode())
    store.write(digests, (digests.read_text(encoding="utf-8") + line).encode())
    added, gone = set(rules) - set(old.rules), set(old.rules) - set(rules)
    return f"{path.relative_to(root)}: {len(rules)} rules, {len(added)} new, {len(gone)} withdrawn"


def record(root: Path, kind: str, rule_id: str, reason: str) -> str:
    """Appends an entry about a rule whose wording changed, or that was retired. Returns a line about it."""
    rules = {
        rule.id: rule for rule in read_catalogue((root / "conformance" / "rules").glob("*.toml"))
    }
    if rule_id not in rules:
        raise FrozenError(f"no rule '{rule_id}' in the catalogue")
    if not reason.strip():
        raise FrozenError("--reason must state why")
    rule, ledger = rules[rule_id], frozen.read_ledger(root)
    before = frozen.recorded(frozen.read_baseline(root), ledger).get(rule_id)
    wanted = "retired" if kind == "retired" else "active"
    if before is None:
        raise FrozenError(f"{rule_id} was never active: change it as you like")
    if rule.status != wanted:
        raise FrozenError(f"{rule_id} is {rule.status}: set its status to {wanted} first")
    if kind == "editorial" and before == frozen.meaning(rule):
        raise FrozenError(f"{rule_id} has not changed since it was recorded")
    if kind == "retired" and any(entry["rule"] == rule_id for entry in ledger.retired):
        raise FrozenError(f"{rule_id} is retired in {LEDGER} already")
    entry: dict[str, object] = {
        "rule": rule_id,
        "before": before,
        "meaning": frozen.meaning(rule),
        "date": datetime.date.today(),
        "reason": reason,
    }
    append_entry(root, kind, entry)
    return f"{FOLDER / LEDGER}: [[{kind}]] of {rule_id}"


def main(argv: Sequence[str], root: Path = ROOT) -> int:
    """The command line. Returns 0, or 2 with a line about an error."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.freeze", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    profile = commands.add_parser("profile", help="write the next version of a profile")
    profile.add_argument("name", help="its name without a version, such as counting")
    for name, text in (
        ("editorial", "the wording of a rule changed, but not its meaning"),
        ("retire", "a rule was withdrawn"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("rule", help="the id of the rule")
        command.add_argument("--reason", required=True, help="why")
    options = parser.parse_args(argv)
    try:
        if options.command == "profile":
            print(make_profile(root, options.name))
        else:
            kind = "retired" if options.command == "retire" else "editorial"
            print(record(root, kind, options.rule, options.reason))
    except (FrozenError, CatalogueError) as error:
        print(f"freeze: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
