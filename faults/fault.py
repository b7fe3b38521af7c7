# SPDX-License-Identifier: Apache-2.0
"""Reads faults: bugs on purpose, which tests must notice. A patch has a header; a TOML file has tables with the same
keys. The first folder below faults/ says what a fault breaks: docs/faults.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pmubase import store, toml_file
from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, TEXT, TEXTS, Schema, like, table

FOLDER = "faults"
DRIVER, DEVICE, KERNEL, ANSWER = "driver", "device", "kernel", "answer"
TARGET, SUITE_CODE = "target", "suite"
FOLDERS = {
    **{"driver": DRIVER, "devices": DEVICE, "kernel": KERNEL, "answers": ANSWER},
    **{"target": TARGET, "suite": SUITE_CODE},
}
"""Folder below faults/ to what its faults break."""
KINDS = tuple(FOLDERS.values())
MAY_CHANGE = {
    DRIVER: ("driver/",),
    DEVICE: ("drivers/", "arch/x86/events/"),
    SUITE_CODE: ("conformance/", "kunit/", "oracle/"),
    KERNEL: tuple(f"{n}/" for n in "arch drivers fs include kernel lib mm security".split()),
}
"""The folders that a patch may change: of the project, or of a kernel tree."""
DEFAULT_TARGET = "refpmu"
DEBUG_SUFFIX = "-debug"
"""The end of the names of kernels with more checks, as in vm/kernel.py."""
UNIT, FUZZ, KUNIT, SUITE, TEST = "unit", "fuzz", "kunit", "suite", "test"
OBSERVERS = (UNIT, FUZZ, KUNIT, SUITE, TEST)
"""Who may have to notice a fault, the cheapest first: the driver's unit tests, a fuzz harness, KUnit, the cases of the
suite, a test of pytest."""
ON_HOST = (UNIT, FUZZ, TEST)
"""The observers that need no kernel from the runner."""
FALSE_CLAIMS = "conformance/selftest/false_claims_test.py::test_false_claim_fails_its_case"
HARNESS = "[a-z][a-z_]*"


def _list(entry: Schema) -> Schema:
    return {**SOME_TEXTS, "items": entry}


COMMON: dict[str, Schema] = {
    "id": like("[A-Za-z0-9]+(-[A-Za-z0-9]+)*", "an id"),
    "text": TEXT,
    "rules": _list(like(r"[A-Z]{2,4}-\d{3}", "a rule id like CNT-003")),
    "targets": SOME_TEXTS,
    "kernels": _list(like(r"\d+\.\d+(-debug)?", "a kernel like 6.12 or 6.12-debug")),
    "observers": _list({"enum": ["any", *OBSERVERS]}),
    "results": _list({"enum": ["FAIL", "CRASH", "TIMEOUT"]}),
    "from": TEXT,
    "expect": {"enum": ["missed"]},
}
PATCH = {
    **{"harness": like(HARNESS, "the name of a harness")},
    **{"test": like(r"[A-Z]{2,4}-\d{3} \S+::\w+", "a rule and a test of pytest")},
}
ANSWER_KEYS: dict[str, Schema] = {"call": {}, "path": {}, "when": {}, "effect": {}, "cases": TEXTS}
"""`pmuconf` checks their values."""
EDIT: Schema = {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}
TARGET_KEYS: dict[str, Schema] = {
    **{"run": TEXT, "cases": SOME_TEXTS},
    "edits": {"type": "array", "items": EDIT, "minItems": 1},
}
NEEDED = {"id", "text", "call", "effect", "run", "cases", "edits"}


def _schema(keys: dict[str, Schema], needed: Iterable[str] = NEEDED) -> Schema:
    every = {**COMMON, **keys}
    return table(every, optional=every.keys() - set(needed))


SCHEMAS = {
    DRIVER: _schema(PATCH),
    DEVICE: _schema(PATCH, {*NEEDED, "targets", "kernels"}),
    SUITE_CODE: _schema(PATCH),
    KERNEL: _schema(PATCH, {*NEEDED, "targets", "kernels", "from"}),
    ANSWER: _schema(ANSWER_KEYS, NEEDED - {"cases"}),
    TARGET: _schema(TARGET_KEYS),
}
KEY_LINE = re.compile(rf"^({'|'.join(key.title() for key in {**COMMON, **PATCH})}):(.*)$")
DIFF_START = re.compile(r"^(diff |Index: |--- )", re.M)
TOUCHED = re.compile(r"^(?:---|\+\+\+) ([^\t\n]+)", re.M)
NEW_OR_REMOVED = re.compile(r"^(?:---|\+\+\+) /dev/null", re.M)
FILE_NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
HEAD = re.compile(r"^\[\[fault\]\]\s*$", re.M)


@dataclass(frozen=True)
class Fault:
    """A bug on purpose."""

    id: str
    path: Path
    text: str
    breaks: str
    rules: tuple[str, ...] = ()
    """The rules whose tests must fail. Without rules, any test may notice it."""
    targets: tuple[str, ...] = (DEFAULT_TARGET,)
    """The targets whose cases are tried, the cheapest first."""
    kernels: tuple[str, ...] = ()
    """The kernels on which it must be caught; all stock ones without one."""
    observers: tuple[str, ...] = (SUITE,)
    """Who must catch it, the cheapest first: each of them, or (any_of) one of them."""
    any_of: bool = False
    results: tuple[str, ...] = ("FAIL",)
    """The results of a test that count as a catch."""
    origin: str = ""
    """The known bug or the fix after which it is modelled."""
    missed: bool = False
    """It is known to be missed. faults/reasons.toml has the reason."""
    harness: str = ""
    """The fuzz harness that must detect it."""
    test: str = ""
    """The test of pytest that must detect it, as PATH::NAME."""
    test_rule: str = ""
    """The rule of that test."""
    cases: tuple[str, ...] = ()
    """Of an answer: cases to run first. Of a target: cases that must fail."""
    change: str = ""
    """The diff, or the TOML of the entry alone."""
    edits: tuple[tuple[str, str], ...] = ()
    """Of a target file: regular expressions and their replacements."""
    run: str = ""
    """Of a target file: a glob of the cases to run."""

    @property
    def name(self) -> str:
        """A name that no other fault has: an id has several patches if kernels differ."""
        return self.path.stem if self.path.suffix == ".patch" else self.id

    @property
    def named_rules(self) -> tuple[str, ...]:
        """All rules that it names."""
        return (*self.rules, *([self.test_rule] if self.test_rule not in ("", *self.rules) else []))

    @property
    def content(self) -> str:
        """All that decides about the fault. Its origin and its description do not."""
        who = (self.observers, self.any_of, self.harness, self.test)
        head = (self.rules, self.targets, self.kernels, self.results, self.missed, *who)
        return "\n".join([repr(head), self.change])

    @property
    def files(self) -> tuple[str, ...]:
        """The files that its diff changes, without a/ or b/, each once."""
        if self.path.suffix != ".patch":
            return ()
        names = [name.partition("/")[2] for name in TOUCHED.findall(self.change)]
        return tuple(dict.fromkeys(name for name in names if not name.startswith("dev/") and name))

    def wants(self, kernel: str) -> bool:
        """Whether it must be caught on `kernel`. A debug kernel is only for faults that need one."""
        return kernel in self.kernels or not (self.kernels or kernel.endswith(DEBUG_SUFFIX))


def read(path: Path) -> list[Fault]:
    """The faults of a file, which is below a folder faults/. UserError for the first error."""
    parts = path.parts
    last = len(parts) - 1 - parts[::-1].index(FOLDER)
    breaks = FOLDERS.get(parts[last + 1], "")
    if path.suffix == ".patch" and breaks in MAY_CHANGE:
        return [_read_patch(path, breaks)]
    if path.suffix == ".toml" and breaks in (ANSWER, TARGET):
        return _read_tables(path, breaks)
    raise UserError(f"{path}: {path.suffix} is no file of a fault in this folder")


def _read_tables(path: Path, breaks: str) -> list[Fault]:
    entries = toml_file.load(path, toml_file.tables("fault", SCHEMAS[breaks])).get("fault", [])
    text = path.read_text(encoding="utf-8")
    starts = [match.start() for match in HEAD.finditer(text)]
    if len(starts) != len(entries):
        raise UserError(f"{path}: each fault needs a line [[fault]]")
    sources = [text[a:b] for a, b in zip(starts, [*starts[1:], len(text)])]
    return [_fault(path, breaks, entry, source) for entry, source in zip(entries, sources)]


def _read_patch(path: Path, breaks: str) -> Fault:
    try:
        whole = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error
    start = DIFF_START.search(whole)
    if start is None:
        raise UserError(f"{path}: not a patch: no line starts a diff")
    head, diff = whole[: start.start()], whole[start.start() :]
    values: dict[str, Any] = {}
    text = []
    for line in head.splitlines():
        match = KEY_LINE.match(line)
        if match is None:
            text.append(line)
            continue
        key = match[1].lower()
        if key in values:
            raise UserError(f"{path}: {match[1]}: occurs twice")
        is_list = {**COMMON, **PATCH}[key].get("type") == "array"
        values[key] = re.findall(r"[^,\s]+", match[2]) if is_list else match[2].strip()
    values["text"] = " ".join(" ".join(text).split())
    toml_file.check(values, SCHEMAS[breaks], path)
    _check_patch(path, breaks, values, diff)
    return _fault(path, breaks, values, diff)


def _check_patch(path: Path, breaks: str, values: dict[str, Any], diff: str) -> None:
    if not FILE_NAME.match(path.stem) or not path.name.startswith(f"{values['id']}-"):
        raise UserError(f"{path}: a patch must be named <id>-<what-is-wrong>.patch")
    touched = [name for name in TOUCHED.findall(diff) if name != "/dev/null"]
    if not touched:
        raise UserError(f"{path}: not a patch: it names no file")
    for name in touched:
        inside = name.partition("/")[2]  # without a/ or b/
        if not inside.startswith(MAY_CHANGE[breaks]) or ".." in inside.split("/"):
            where = ", ".join(MAY_CHANGE[breaks])
            raise UserError(f"{path}: changes {name}, which is in none of {where}")
    if breaks in (KERNEL, DEVICE) and NEW_OR_REMOVED.search(diff):
        raise UserError(f"{path}: adds or removes a file of the kernel")
    observers = values.get("observers", [SUITE])
    if any(name.partition("/")[2].startswith("kunit/") for name in touched):
        if observers != [KUNIT]:
            raise UserError(f"{path}: Observers: must be {KUNIT} for a change of kunit/")
    for observer, key in ((FUZZ, "harness"), (TEST, "test")):
        if (observer in observers) != (key in values):
            raise UserError(
                f"{path}: {key.title()}: must be set for the observer {observer}, and only then"
            )


def _fault(path: Path, breaks: str, values: dict[str, Any], change: str) -> Fault:
    named = values.get("observers", [TEST if breaks == TARGET else SUITE])
    if "any" in named[1:] or named == ["any"]:
        raise UserError(f"{path}: observers: 'any' must be first, and observers must follow")
    rule, _, test = values.get("test", "").partition(" ")
    return Fault(
        id=values["id"],
        path=path,
        text=" ".join(values["text"].split()),
        breaks=breaks,
        rules=tuple(values.get("rules", ())),
        targets=tuple(values.get("targets", (DEFAULT_TARGET,))),
        kernels=tuple(values.get("kernels", ())),
        observers=tuple(each for each in OBSERVERS if each in named),
        any_of=named[0] == "any",
        results=tuple(values.get("results", ("FAIL",))),
        origin=values.get("from", ""),
        missed=values.get("expect") == "missed",
        harness=values.get("harness", ""),
        test=FALSE_CLAIMS if breaks == TARGET else test,
        test_rule=rule,
        cases=tuple(values.get("cases", ())),
        change=change,
        edits=tuple((pattern, instead) for pattern, instead in values.get("edits", ())),
        run=values.get("run", ""),
    )


def collect(root: Path = store.ROOT) -> tuple[list[Fault], list[str]]:
    """The faults of a project in the order of FOLDERS and of their files' names, and the errors of the other files."""
    found: list[Fault] = []
    errors: list[str] = []
    for folder in FOLDERS:
        suffix = "*.toml" if folder in ("answers", "target") else "*.patch"
        paths = (root / FOLDER / folder).rglob(suffix)
        for path in sorted(paths, key=lambda path: (path.name, path)):
            try:
                found += read(path)
            except UserError as error:
                errors.append(str(error))
    return _unique(found, errors), errors


def _unique(faults: Iterable[Fault], errors: list[str]) -> list[Fault]:
    """The faults, without those that repeat an id on a kernel, or a change on a target. Adds their errors."""
    by_id: dict[str, list[Fault]] = {}
    changes: dict[tuple[str, tuple[str, ...]], Fault] = {}
    found = []
    for fault in faults:
        same = by_id.setdefault(fault.id, [])
        overlap = [
            other
            for other in same
            if not (fault.kernels and other.kernels) or set(fault.kernels) & set(other.kernels)
        ]
        other = changes.setdefault((fault.change, fault.targets), fault)
        if overlap:
            errors.append(f"{fault.path}: id {fault.id} is also in {overlap[0].path.name}")
        elif other is not fault:
            errors.append(f"{fault.path}: {other.name} has the same change and the same targets")
        else:
            same.append(fault)
            found.append(fault)
    return found


def read_all(root: Path = store.ROOT) -> list[Fault]:
    """All faults of a project. UserError for the first error."""
    found, errors = collect(root)
    if errors:
        raise UserError(errors[0])
    return found


def find(name: str) -> Fault:
    """The fault of the project with an id."""
    return next(fault for fault in read_all() if fault.id == name)
