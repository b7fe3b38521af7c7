# SPDX-License-Identifier: Apache-2.0
"""Reviews patches in the tree that they apply to: mails, a series in one mailbox, the output of git show or of diff."""

from __future__ import annotations

import dataclasses
import difflib
import email
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from email.message import Message
from pathlib import Path

from pmubase.errors import UserError

from .facts import read_bytes
from .view import Finding

FILE = re.compile(r"(?:\+\+\+|---) (?!/dev/null)(\S+)")
RENAME = re.compile(r"rename (?:from|to) (\S+)$")
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
SECTION = re.compile(r"diff --git |--- \S")
MAILBOX = re.compile(rb"^From \S+ .*\d\d:\d\d:\d\d \d{4}\r?\n", re.M)
HEADER = re.compile(rb"[A-Z][\w-]*: ")
PATCHED = re.compile(r"(?:patching|checking) file '?([^']+?)'?(?: \(.*\))?$")
SUCCEEDED = re.compile(r"Hunk #(\d+) succeeded at (\d+)")
FAILED = re.compile(
    r"FAILED|can't find|No file to patch|previously applied|already exists|malformed|unexpected"
)
DEFINED = re.compile(r"^(?!static\b)[A-Za-z_][\w \t*]*?\b(\w+)\(", re.M)
"""A function that other files can call."""
SUFFIXES = (".c", ".h")
BUILD = ("Kconfig", "Makefile")
LARGEST = 32 << 20
"""The most bytes of a patch."""
Starts = dict[tuple[str, int], int]
"""The first new line of each hunk of a file: the tree may have other lines above it than the tree of the author."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of a patch. `file`, `number`: its place in the new tree if it is added, and that of the next line if it is

    removed; 0 for another line.
    """

    text: str
    file: str = ""
    number: int = 0


@dataclasses.dataclass(frozen=True)
class Part:
    """A patch: the mail that has it, if there is one, and its lines in the tree that all patches have changed."""

    mail: Message | None
    lines: tuple[Line, ...]


@dataclasses.dataclass(frozen=True)
class Applied:
    """Patches in a copy of the folders that they change."""

    parts: tuple[Part, ...]
    scratch: Path
    folders: tuple[Path, ...]

    def changed(self) -> list[tuple[Path, Line]]:
        """The lines that the patches add or remove, each with its file."""
        return [
            (self.scratch / line.file, line)
            for part in self.parts
            for line in part.lines
            if line.number
        ]

    def sources(self) -> list[Path]:
        """The sources that register a PMU and that the patches change, or that may use a changed file."""
        changed = sorted({path for path, _ in self.changed() if path.is_file()})
        found = {path for path in changed if path.suffix == ".c" and _has_pmu(path)}
        for path in changed:
            if path not in found:
                found |= {other for other in path.parent.glob("*.c") if _uses(other, path)}
        return sorted(found)


def _uses(source: Path, other: Path) -> bool:
    """Whether a source that has a PMU includes another file, or calls a function of it."""
    text = source.read_text("utf-8", errors="replace")
    if not has_pmu(text):
        return False
    if other.suffix == ".h":
        return f'"{other.name}"' in text
    names = "|".join(DEFINED.findall(other.read_text("utf-8", errors="replace")))
    return bool(names) and re.search(rf"\b(?:{names})\b", text) is not None


def _has_pmu(path: Path) -> bool:
    return has_pmu(path.read_text("utf-8", errors="replace"))


def has_pmu(text: str) -> bool:
    """Whether a source has a PMU."""
    return any(word in text for word in ("perf_pmu_register", "struct pmu ", "armpmu_register"))


def is_patch(path: Path) -> bool:
    """Whether a file is a patch, by its name or by its text."""
    if path.suffix in (".patch", ".diff", ".mbox", ".eml"):
        return not path.is_dir()
    if path.suffix in SUFFIXES or not path.is_file():
        return False
    return re.search(r"^\+\+\+ ", path.read_text("utf-8", errors="replace"), re.M) is not None


def read_parts(path: Path) -> Iterator[tuple[Message | None, str]]:
    """The patches of a file, each with its mail. UserError for a file that cannot be read."""
    data = read_bytes(path, "patch", LARGEST)
    found = False
    for part in MAILBOX.split(data) if MAILBOX.match(data) else [data]:
        mail = email.message_from_bytes(part) if HEADER.match(part) else None
        text = _body(mail) if mail else part.decode("utf-8", "surrogateescape")
        text = text.replace("\r\n", "\n")
        if re.search(r"^(?:\+\+\+ \S|rename from )", text, re.M):
            found = True
            yield mail, text
    if not found:
        raise UserError(f"{path}: no patch: it has no line '+++ FILE'")


def _body(mail: Message) -> str:
    """The text of a mail and of its attachments that are texts, without their encoding."""
    texts = []
    for part in mail.walk():
        data = part.get_payload(decode=True)
        if part.get_content_maintype() != "text" or not isinstance(data, bytes):
            continue
        try:
            texts.append(data.decode(part.get_content_charset() or "utf-8", "surrogateescape"))
        except (LookupError, UnicodeDecodeError):
            texts.append(data.decode("utf-8", "surrogateescape"))
    return "\n".join(texts)


def sections(text: str) -> Iterator[list[str]]:
    """The lines about each file of a patch. Lines outside of them are of no section."""
    section: list[str] = []
    old = new = 0
    for line in text.split("\n"):
        if old <= 0 and new <= 0:
            if SECTION.match(line) and not (
                section and line.startswith("--- ") and not any(map(HUNK.match, section))
            ):
                if section:
                    yield section
                section = [line]
                continue
            if hunk := HUNK.match(line):
                old, new = int(hunk[1] or 1), int(hunk[3] or 1)
            elif not section or line in ("-- ", ""):
                continue
        else:
            old -= not line.startswith(("+", "\\"))
            new -= not line.startswith(("-", "\\"))
        section.append(line)
    if section:
        yield section


def names_of(section: Sequence[str], strip: int) -> list[str]:
    """The names of the old and of the new file of a section, in the tree."""
    names = []
    for line in section:
        if HUNK.match(line):
            break
        if found := FILE.match(line):
            names.append(_inside(found[1], strip))
        elif found := RENAME.match(line):
            names.append(found[1])
    return names


def _inside(name: str, strip: int) -> str:
    """The name of a file in the tree."""
    return name.partition("/")[2] if strip else name


def apply(patches: Sequence[Path], tree: Path, scratch: Path) -> Applied:
    """Copies the folders that patches change from `tree` to `scratch`, and applies them there, one by one."""
    if not tree.is_dir():
        raise UserError(f"{tree}: no folder")
    _copy(tree, scratch, Path("include/linux"), "perf_event.h")
    copied: set[Path] = set()
    states: list[tuple[Message | None, list[Line], dict[str, list[str]]]] = []
    for path in patches:
        for mail, text in read_parts(path):
            lines = _apply(path, text, tree, scratch, copied)
            files = {line.file for line in lines if line.number}
            states.append((mail, lines, {name: _lines(scratch / name) for name in files}))
    parts = []
    for mail, lines, state in states:
        moved = {name: _moved(before, _lines(scratch / name)) for name, before in state.items()}
        parts.append(
            Part(
                mail,
                tuple(
                    Line(line.text, line.file, moved[line.file].get(line.number, 0))
                    if line.number
                    else line
                    for line in lines
                ),
            )
        )
    applied = Applied(tuple(parts), scratch, tuple(sorted(copied)))
    if not applied.changed():
        raise UserError(f"{patches[0]}: it changes no line of a C source")
    if not applied.sources():
        raise UserError(f"{patches[0]}: no source that it changes belongs to a PMU")
    return applied


def _apply(path: Path, text: str, tree: Path, scratch: Path, copied: set[Path]) -> list[Line]:
    """Applies one patch. Returns its lines, each added line of a source with its place."""
    wanted: list[str] = []
    build: list[str] = []
    # The output of diff may have names without a folder in front.
    names = [found[1] for s in sections(text) for line in s if (found := FILE.match(line))]
    strip = 0 if any((tree / name).is_file() for name in names) else 1
    for section in sections(text):
        names = names_of(section, strip)
        for name in names:
            if not name or Path(name).is_absolute() or ".." in Path(name).parts:
                raise UserError(f"{path}: {name or 'a file'} is not in the tree")
            for folder, glob in ((Path(name).parent, "*"), (Path(name).parent.parent, "*.h")):
                if folder not in copied:
                    _copy(tree, scratch, folder, glob)
                    copied |= {folder} if glob == "*" else set()
        if any(Path(name).suffix in SUFFIXES for name in names):
            wanted += section
        elif any(Path(name).name in BUILD for name in names):
            build += section
    # Another tree may have other neighbours in these files, and a source can be reviewed without them.
    _patch(build, strip, scratch)
    if not wanted:
        return []
    done = _patch(wanted, strip, scratch)
    if done.returncode:
        reasons = [line for line in (done.stderr + done.stdout).splitlines() if FAILED.search(line)]
        # The number is that of a line of the sections that were applied.
        reason = re.sub(r" at (?:input )?line \d+", "", (reasons or ["no hunk fits"])[0])
        raise UserError(f"{path} does not apply to {tree}: {reason.strip(' :')}")
    return list(_read_lines(text, strip, dict(_starts(done.stdout))))


def _patch(lines: Sequence[str], strip: int, scratch: Path) -> subprocess.CompletedProcess[str]:
    """Runs patch. One that is applied already is an error: patch would take it back."""
    return subprocess.run(
        ["patch", f"-p{strip}", "--batch", "--forward", "--verbose", "--no-backup-if-mismatch"],
        cwd=scratch,
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )


def _read_lines(text: str, strip: int, starts: Starts) -> Iterator[Line]:
    """The lines of a patch. `starts`: the lines at which the hunks apply."""
    file, number, old, new, hunks = "", 0, 0, 0, 0
    for line in text.split("\n"):
        if old <= 0 and new <= 0:
            if line.startswith("+++ ") and (found := FILE.match(line)):
                file, hunks = _inside(found[1], strip), 0
            elif hunk := HUNK.match(line):
                old, number, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
                hunks += 1
                number = starts.get((file, hunks), number)
            yield Line(line)
        elif line.startswith("+"):
            yield Line(line, file, number if Path(file).suffix in SUFFIXES else 0)
            number, new = number + 1, new - 1
        elif line.startswith("-"):
            yield Line(line, file, number if Path(file).suffix in SUFFIXES else 0)
            old -= 1
        else:
            yield Line(line)
            if not line.startswith("\\"):
                number, old, new = number + 1, old - 1, new - 1


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", errors="replace").split("\n") if path.is_file() else []


def _moved(before: Sequence[str], after: Sequence[str]) -> dict[int, int]:
    """The numbers that the lines of a file have after later patches. A line that is gone has none."""
    if before == after:
        return {number: number for number in range(1, len(before) + 1)}
    matcher = difflib.SequenceMatcher(None, before, after)
    return {
        block.a + i + 1: block.b + i + 1
        for block in matcher.get_matching_blocks()
        for i in range(block.size)
    }


def _copy(tree: Path, scratch: Path, folder: Path, glob: str) -> None:
    (scratch / folder).mkdir(parents=True, exist_ok=True)
    for file in (tree / folder).glob(glob) if (tree / folder).is_dir() else ():
        if file.is_file() and not (scratch / folder / file.name).exists():
            shutil.copy(file, scratch / folder / file.name)


def _starts(output: str) -> Iterator[tuple[tuple[str, int], int]]:
    """The places of hunks that the output of patch names."""
    file = ""
    for line in output.splitlines():
        if found := PATCHED.match(line):
            file = found[1]
        elif hunk := SUCCEEDED.match(line):
            yield (file, int(hunk[1])), int(hunk[2])


def before(applied: Applied, tree: Path, scratch: Path) -> list[Path]:
    """Copies the folders as they were before the patches. Returns the sources of the review that were there."""
    for folder in (*applied.folders, Path("include/linux")):
        _copy(tree, scratch, folder, "*" if folder in applied.folders else "perf_event.h")
    old = [scratch / path.relative_to(applied.scratch) for path in applied.sources()]
    return [path for path in old if path.is_file()]


def own(
    applied: Applied, findings: Sequence[Finding], old: Sequence[Finding], there: int
) -> list[Finding]:
    """The findings on lines that the patches add, and those on other lines of their files that were not there before.

    `there`: the number of reviewed sources that existed before. A new or renamed source has only lines of its own.
    """
    added = {(path, line.number) for path, line in applied.changed() if line.text.startswith("+")}
    files = {path for path, _ in applied.changed()} if there else set()
    more = Counter(map(_kind, findings)) - Counter(map(_kind, old))
    return [f for f in findings if (f.file, f.line) in added or f.file in files and more[_kind(f)]]


def _kind(finding: Finding) -> tuple[str, str, str]:
    """A finding without its place."""
    return finding.check, finding.verdict, re.sub(r"\d+", "", finding.message)
