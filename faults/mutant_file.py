# SPDX-License-Identifier: Apache-2.0
"""Reads a mutant's patch and its header, and applies it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pmubase import store

KEYS = ("Id", "Class", "Rules", "After", "Target", "Kernels", "Kill", "Observers", "Harness")


def key_line(keys: Sequence[str]) -> re.Pattern[str]:
    """Matches the line of a header with one of `keys`."""
    return re.compile(rf"^({'|'.join(keys)}):(.*)$")


KEY_LINE = key_line(KEYS)
DIFF_START = re.compile(r"^(diff |Index: |--- )")
TOUCHED = re.compile(r"^(?:---|\+\+\+) ([^\t\n]+)", re.M)
RULE = re.compile(r"^[A-Z]{2,4}-\d{3}$")
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
LEADING_ID = re.compile(r"^M\d+-\d+")
DEFAULT_TARGET = "refpmu"
DEBUG_SUFFIX = "-debug"
"""The end of the names of kernels with more checks, as in vm/kernel.py."""
KILLS = ("FAIL", "CRASH", "TIMEOUT")
UNIT, FUZZ, KUNIT, SUITE = "unit", "fuzz", "kunit", "suite"
OBSERVERS = (UNIT, FUZZ, KUNIT, SUITE)
"""The observers, the cheapest first: the unit tests of the driver, a fuzz harness, KUnit, the cases of the suite."""
ON_HOST = (UNIT, FUZZ)
"""The observers that need no guest."""
HARNESS = re.compile(r"^[a-z][a-z_]*$")
FOLDER = "mutants"
COMPONENTS = ("driver", "conformance", "kunit", "oracle")
"""The folders of the project that have a folder of mutants."""
APPLY_LIMIT_S = 60


class PatchError(Exception):
    """A patch has an error. The message is one line with the file and the reason."""


@dataclass(frozen=True)
class Mutant:
    """One variant with a known bug. Without rules all cases run on it; without kernels it is for all stock kernels."""

    id: str
    path: Path
    failure_class: str
    rules: tuple[str, ...]
    after: str
    kernels: tuple[str, ...]
    kill: tuple[str, ...]
    text: str
    remarks: tuple[str, ...]
    target: str = DEFAULT_TARGET
    observers: tuple[str, ...] = (SUITE,)
    """Who must kill it, the cheapest first: each of them, or (any_of) one of them."""
    any_of: bool = False
    harness: str = ""
    """The fuzz harness that must detect it; "" without the observer FUZZ."""
    diff: str = ""
    """The patch without its header."""

    @property
    def needs_guest(self) -> bool:
        """Whether a guest must run for one of its observers."""
        return any(observer not in ON_HOST for observer in self.observers)

    @property
    def content(self) -> str:
        """All that decides about the mutant. Class, After and the description do not."""
        headers = (self.rules, self.target, self.kernels, self.kill, self.observers)
        return "\n".join([repr((*headers, self.any_of, self.harness)), self.diff])

    def wants(self, kernel: str) -> bool:
        """Whether it must be killed on `kernel`. A debug kernel is only for mutants that need one."""
        return kernel in self.kernels or not (self.kernels or kernel.endswith(DEBUG_SUFFIX))


def read(path: Path) -> Mutant:
    """Reads a patch file. PatchError if it has no mutant, or its header is malformed."""
    values, text, diff = read_parts(path, KEYS)
    _check_touched(path, diff)
    rules = rule_ids(path, values.get("Rules", ""))
    kernels = words(values.get("Kernels", "both"))
    if kernels == ("both",):
        kernels = ()
    for kernel in kernels:
        if not re.match(rf"^\d+\.\d+({DEBUG_SUFFIX})?$", kernel):
            known = f"neither 'both' nor like 6.12 or 6.12{DEBUG_SUFFIX}"
            raise PatchError(f"{path}: Kernels: '{kernel}' is {known}")
    kill = results_that_kill(path, values)
    observers, any_of = _observers(path, values)
    if component_of(path) == KUNIT and observers != (KUNIT,):
        raise PatchError(f"{path}: Observers: must be {KUNIT} for a change of {KUNIT}/")
    return Mutant(
        id=values.get("Id") or _id_of(path),
        path=path,
        failure_class=values.get("Class", ""),
        rules=rules,
        after=values.get("After", ""),
        kernels=kernels,
        kill=kill,
        text=text,
        remarks=() if rules else ("its header names no rules: all cases are tried",),
        target=values.get("Target", DEFAULT_TARGET),
        observers=observers,
        any_of=any_of,
        harness=_harness(path, values, observers),
        diff=diff,
    )


def read_parts(path: Path, keys: Sequence[str]) -> tuple[dict[str, str], str, str]:
    """The values of a patch file's header, its description, and its diff. `keys`: the keys that a header may have.
    PatchError if a part is malformed."""
    try:
        whole = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PatchError(f"{path}: cannot be read: {error}") from error
    header, diff = _split(path, whole)
    values, text = _values(path, header, key_line(keys))
    if not NAME.match(path.stem):
        raise PatchError(
            f"{path}: a patch must be named <id>-<what-is-wrong>.patch, without spaces"
        )
    return values, text, diff


def rule_ids(path: Path, value: str) -> tuple[str, ...]:
    """The rules that a header names."""
    rules = words(value)
    for rule in rules:
        if not RULE.match(rule):
            raise PatchError(f"{path}: Rules: '{rule}' is not a rule id (like CNT-003)")
    return rules


def results_that_kill(path: Path, values: dict[str, str]) -> tuple[str, ...]:
    """The results of a case that kill, from the key Kill."""
    kill = words(values.get("Kill", "FAIL"))
    for result in kill:
        if result not in KILLS:
            raise PatchError(f"{path}: Kill: '{result}' must be one of {', '.join(KILLS)}")
    return kill


def _observers(path: Path, values: dict[str, str]) -> tuple[tuple[str, ...], bool]:
    """The observers in the order of OBSERVERS, and whether one of them is enough."""
    observers = words(values.get("Observers", SUITE))
    quantifier = observers[0] if observers[0] in ("any", "all") else ""
    named = set(observers[1 if quantifier else 0 :])
    for observer in sorted(named - set(OBSERVERS)):
        known = ", ".join(OBSERVERS)
        raise PatchError(f"{path}: Observers: '{observer}' must be one of {known}")
    if not named or (quantifier and len(named) < 2):
        raise PatchError(f"{path}: Observers: '{quantifier}' must be followed by two observers")
    return tuple(each for each in OBSERVERS if each in named), quantifier == "any"


def _harness(path: Path, values: dict[str, str], observers: tuple[str, ...]) -> str:
    harness = values.get("Harness", "")
    if (FUZZ in observers) != bool(harness):
        raise PatchError(f"{path}: Harness: must be set for the observer {FUZZ}, and only then")
    if harness and not HARNESS.match(harness):
        raise PatchError(f"{path}: Harness: '{harness}' is not the name of a harness")
    return harness


def touched(mutant: Mutant) -> tuple[str, ...]:
    """The files that the mutant changes, relative to the project, each once."""
    return touched_by(mutant.diff)


def touched_by(diff: str) -> tuple[str, ...]:
    """The files that a diff changes, without a/ or b/, each once."""
    names = [name.partition("/")[2] for name in TOUCHED.findall(diff)]
    return tuple(dict.fromkeys(name for name in names if name and not name.startswith("dev/")))


def _split(path: Path, whole: str) -> tuple[list[str], str]:
    lines = whole.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if DIFF_START.match(line):
            return [line.rstrip() for line in lines[:number]], "".join(lines[number:])
    raise PatchError(f"{path}: not a patch: no line starts a diff")


def _values(path: Path, header: list[str], of_key: re.Pattern[str]) -> tuple[dict[str, str], str]:
    values: dict[str, str] = {}
    text = []
    for number, line in enumerate(header, 1):
        match = of_key.match(line)
        if match is None:
            text.append(line)
            continue
        key, value = match.group(1), match.group(2).strip()
        if not value:
            raise PatchError(f"{path}:{number}: {key}: has no value")
        if key in values:
            raise PatchError(f"{path}:{number}: {key}: occurs twice")
        values[key] = value
    return values, " ".join(" ".join(text).split())


def words(value: str) -> tuple[str, ...]:
    """The words of a value, which commas or blanks separate."""
    return tuple(word for word in re.split(r"[,\s]+", value) if word)


def _id_of(path: Path) -> str:
    match = LEADING_ID.match(path.stem)
    return match.group(0) if match else path.stem


def component_of(path: Path) -> str:
    """The folder of the project that a patch may change: the one that its folder FOLDER is in, or else the driver."""
    if path.is_absolute() and path.is_relative_to(store.ROOT):
        parts = path.relative_to(store.ROOT).parts
        if FOLDER in parts[1:]:
            return "/".join(parts[: parts.index(FOLDER, 1)])
    return "driver"


def _check_touched(path: Path, diff: str) -> None:
    touched_files = [name for name in TOUCHED.findall(diff) if name != "/dev/null"]
    if not touched_files:
        raise PatchError(f"{path}: not a patch: it names no file")
    component = component_of(path)
    for name in touched_files:
        inside = name.partition("/")[2]  # without a/ or b/
        if not inside.startswith(f"{component}/") or ".." in inside.split("/"):
            raise PatchError(f"{path}: changes {name}, which is not in {component}/")


def collect(*folders: Path) -> tuple[list[Mutant], list[PatchError]]:
    """The mutants in folders and below them, in the order of their files' names, and the errors of the patches that
    have none."""
    mutants: list[Mutant] = []
    errors: list[PatchError] = []
    owners: dict[str, Path] = {}
    changes: dict[tuple[str, str], Path] = {}
    found = [path for folder in folders for path in folder.rglob("*.patch")]
    for path in sorted(found, key=lambda path: path.name):
        try:
            mutant = read(path)
            if mutant.id in owners:
                raise PatchError(
                    f"{path}: Id {mutant.id} is also the id of {owners[mutant.id].name}"
                )
            same = changes.setdefault((mutant.target, mutant.diff), path)
            if same != path:
                raise PatchError(f"{path}: {same.name} has the same change and the same target")
        except PatchError as error:
            errors.append(error)
            continue
        owners[mutant.id] = path
        mutants.append(mutant)
    return mutants, errors


def folders(root: Path) -> list[Path]:
    """The folders of the project's own mutants."""
    return [root / component / FOLDER for component in COMPONENTS]


def apply(mutant: Mutant, folder: Path) -> None:
    """Patches the copy of the project's sources in `folder`. PatchError if the patch does not apply."""
    apply_file(mutant.path, folder)


def apply_file(path: Path, folder: Path) -> None:
    """Applies a patch file in `folder`, without fuzz. PatchError if it does not apply."""
    command = ["patch", "-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch", "-r", "-"]
    try:
        done = subprocess.run(
            [*command, "-d", str(folder), "-i", str(path.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=APPLY_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PatchError(f"{path}: program 'patch': {error}") from error
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "FAILED" in line or "can't" in line]
        why = (lines or done.stdout.splitlines() or ["no reason given"])[0].strip()
        raise PatchError(f"{path}: does not apply: {why}")
