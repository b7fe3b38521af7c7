# SPDX-License-Identifier: Apache-2.0
"""Reads a mutant's patch and its header, and applies it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from vm.kernel import DEBUG_SUFFIX

KEYS = ("Id", "Class", "Rules", "After", "Target", "Kernels", "Kill", "Observers")
KEY_LINE = re.compile(rf"^({'|'.join(KEYS)}):(.*)$")
DIFF_START = re.compile(r"^(diff |Index: |--- )")
TOUCHED = re.compile(r"^(?:---|\+\+\+) ([^\t\n]+)", re.M)
RULE = re.compile(r"^[A-Z]{2,4}-\d{3}$")
NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
LEADING_ID = re.compile(r"^M\d+-\d+")
DEFAULT_TARGET = "refpmu"
KILLS = ("FAIL", "CRASH", "TIMEOUT")
OBSERVERS = ("cases", "kunit")
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
    observers: tuple[str, ...] = ("cases",)
    """Who must kill it: the suite's cases, the KUnit suites, or both."""

    def wants(self, kernel: str) -> bool:
        """Whether it must be killed on `kernel`. A debug kernel is only for mutants that need one."""
        return kernel in self.kernels or not (self.kernels or kernel.endswith(DEBUG_SUFFIX))


def read(path: Path) -> Mutant:
    """Reads a patch file. PatchError if it has no mutant, or its header is malformed."""
    try:
        whole = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PatchError(f"{path}: cannot be read: {error}") from error
    header, diff = _split(path, whole)
    _check_touched(path, diff)
    values, text = _values(path, header)
    if not NAME.match(path.stem):
        raise PatchError(
            f"{path}: a patch must be named <id>-<what-is-wrong>.patch, without spaces"
        )
    rules = _words(values.get("Rules", ""))
    for rule in rules:
        if not RULE.match(rule):
            raise PatchError(f"{path}: Rules: '{rule}' is not a rule id (like CNT-003)")
    kernels = _words(values.get("Kernels", "both"))
    if kernels == ("both",):
        kernels = ()
    for kernel in kernels:
        if not re.match(rf"^\d+\.\d+({DEBUG_SUFFIX})?$", kernel):
            known = f"neither 'both' nor like 6.12 or 6.12{DEBUG_SUFFIX}"
            raise PatchError(f"{path}: Kernels: '{kernel}' is {known}")
    kill = _words(values.get("Kill", "FAIL"))
    for result in kill:
        if result not in KILLS:
            raise PatchError(f"{path}: Kill: '{result}' must be one of {', '.join(KILLS)}")
    observers = _words(values.get("Observers", "cases"))
    for observer in observers:
        if observer not in OBSERVERS:
            known = ", ".join(OBSERVERS)
            raise PatchError(f"{path}: Observers: '{observer}' must be one of {known}")
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
    )


def _split(path: Path, whole: str) -> tuple[list[str], str]:
    lines = whole.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if DIFF_START.match(line):
            return [line.rstrip() for line in lines[:number]], "".join(lines[number:])
    raise PatchError(f"{path}: not a patch: no line starts a diff")


def _values(path: Path, header: list[str]) -> tuple[dict[str, str], str]:
    values: dict[str, str] = {}
    text = []
    for number, line in enumerate(header, 1):
        match = KEY_LINE.match(line)
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


def _words(value: str) -> tuple[str, ...]:
    return tuple(word for word in re.split(r"[,\s]+", value) if word)


def _id_of(path: Path) -> str:
    match = LEADING_ID.match(path.stem)
    return match.group(0) if match else path.stem


def _check_touched(path: Path, diff: str) -> None:
    touched = [name for name in TOUCHED.findall(diff) if name != "/dev/null"]
    if not touched:
        raise PatchError(f"{path}: not a patch: it names no file")
    for name in touched:
        parts = name.split("/")[1:]  # without a/ or b/
        if len(parts) < 2 or parts[0] != "driver" or ".." in parts:
            raise PatchError(f"{path}: changes {name}, which is not in driver/")


def collect(folder: Path) -> tuple[list[Mutant], list[PatchError]]:
    """The mutants in a folder and below it, in the order of their files' names, and the errors of the patches that have
    none."""
    mutants: list[Mutant] = []
    errors: list[PatchError] = []
    owners: dict[str, Path] = {}
    for path in sorted(folder.rglob("*.patch"), key=lambda path: path.name):
        try:
            mutant = read(path)
            if mutant.id in owners:
                raise PatchError(
                    f"{path}: Id {mutant.id} is also the id of {owners[mutant.id].name}"
                )
        except PatchError as error:
            errors.append(error)
            continue
        owners[mutant.id] = path
        mutants.append(mutant)
    return mutants, errors


def apply(mutant: Mutant, folder: Path) -> None:
    """Patches the copy of the driver in `folder`/driver. PatchError if the patch does not apply."""
    command = ["patch", "-p1", "--fuzz=0", "--force", "--no-backup-if-mismatch", "-r", "-"]
    try:
        done = subprocess.run(
            [*command, "-d", str(folder), "-i", str(mutant.path.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=APPLY_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PatchError(f"{mutant.path}: program 'patch': {error}") from error
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if "FAILED" in line or "can't" in line]
        why = (lines or done.stdout.splitlines() or ["no reason given"])[0].strip()
        raise PatchError(f"{mutant.path}: does not apply: {why}")
