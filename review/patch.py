# SPDX-License-Identifier: Apache-2.0
"""Reviews a patch in the tree that it applies to, and prints the review as a reply to the mail."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from pmubase.errors import UserError

from .report import about_checks
from .view import Finding

FILE = re.compile(r"\+\+\+ (?:b/)?(\S+)")
HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
SUFFIXES = (".c", ".h")


PATCHED = re.compile(r"(?:patching|checking) file '?([^']+?)'?$")
SUCCEEDED = re.compile(r"Hunk #(\d+) succeeded at (\d+)")
Starts = dict[tuple[str, int], int]
"""The first new line of each hunk of a file: the tree may have other lines above it than the tree of the author."""


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the mail. `file`, `number`: the place of an added line in the new tree; 0 for another line."""

    text: str
    file: str = ""
    number: int = 0


def is_patch(path: Path) -> bool:
    """Whether a file is a patch, by its name or by its text."""
    if path.suffix in (".patch", ".diff", ".mbox", ".eml"):
        return True
    if path.suffix in SUFFIXES or not path.is_file():
        return False
    return re.search(r"^\+\+\+ ", path.read_text("utf-8", errors="replace"), re.M) is not None


def read_lines(text: str, starts: Starts | None = None) -> Iterator[Line]:
    """The lines of a patch, each added line with its place. `starts`: the lines at which the hunks apply."""
    file, number, old, new, hunks = "", 0, 0, 0, 0
    for line in text.splitlines():
        if old <= 0 and new <= 0:
            if found := FILE.match(line):
                file, hunks = found[1], 0
            elif hunk := HUNK.match(line):
                old, number, new = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
                hunks += 1
                number = (starts or {}).get((file, hunks), number)
            yield Line(line)
        elif line.startswith("+"):
            yield Line(line, file, number)
            number, new = number + 1, new - 1
        elif line.startswith("-"):
            yield Line(line)
            old -= 1
        else:
            yield Line(line)
            if not line.startswith("\\"):
                number, old, new = number + 1, old - 1, new - 1


@dataclasses.dataclass(frozen=True)
class Applied:
    """A patch in a copy of the folders that it changes."""

    text: str
    scratch: Path
    starts: Starts

    def lines(self) -> Iterator[Line]:
        """The lines of the patch."""
        return read_lines(self.text, self.starts)

    def added(self) -> set[tuple[Path, int]]:
        """The lines of the new tree that the patch adds."""
        return {(self.scratch / line.file, line.number) for line in self.lines() if line.number}

    def sources(self) -> list[Path]:
        """The C sources that the patch changes."""
        names = {line.file for line in self.lines() if line.number and line.file.endswith(".c")}
        return sorted(self.scratch / name for name in names)


def apply(patch: Path, tree: Path, scratch: Path) -> Applied:
    """Copies the folders that a patch changes from `tree` to `scratch`, and applies the patch there."""
    text = patch.read_text("utf-8", errors="replace")
    names = {
        found[1]
        for line in read_lines(text)
        if not line.number and (found := FILE.match(line.text))
    }
    names.discard("/dev/null")
    if not names:
        raise UserError(f"{patch}: no patch: it has no line '+++ FILE'")
    for name in names:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise UserError(f"{patch}: {name} is not in the tree")
    for folder in {Path(name).parent for name in names}:
        _copy(tree, scratch, folder, "*")
    _copy(tree, scratch, Path("include/linux"), "perf_event.h")
    argv = [
        "patch",
        "-p1",
        "--batch",
        "--verbose",
        "--no-backup-if-mismatch",
        "-i",
        str(patch.resolve()),
    ]
    done = subprocess.run(
        argv,
        cwd=scratch,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "LC_ALL": "C"},
    )
    if done.returncode:
        failed = [line for line in done.stdout.splitlines() if re.search("FAILED|can't find", line)]
        raise UserError(f"{patch} does not apply to {tree}: {(failed or ['no hunk fits'])[0]}")
    applied = Applied(text, scratch, dict(_starts(done.stdout)))
    if not applied.sources():
        raise UserError(f"{patch}: it adds no line to a C source")
    return applied


def _copy(tree: Path, scratch: Path, folder: Path, glob: str) -> None:
    (scratch / folder).mkdir(parents=True, exist_ok=True)
    for file in (tree / folder).glob(glob) if (tree / folder).is_dir() else ():
        if file.is_file():
            shutil.copy(file, scratch / folder / file.name)


def _starts(output: str) -> Iterator[tuple[tuple[str, int], int]]:
    """The places of hunks that the output of patch names."""
    file = ""
    for line in output.splitlines():
        if found := PATCHED.match(line):
            file = found[1]
        elif hunk := SUCCEEDED.match(line):
            yield (file, int(hunk[1])), int(hunk[2])


def reply(applied: Applied, findings: Sequence[Finding]) -> str:
    """The patch as an inline reply: each finding is below the line that it is about."""
    by_line: dict[tuple[Path, int], list[Finding]] = {}
    for finding in findings:
        by_line.setdefault((finding.file, finding.line), []).append(finding)
    shown = []
    for line in applied.lines():
        shown.append(f"> {line.text}".rstrip())
        for finding in (
            by_line.get((applied.scratch / line.file, line.number), []) if line.number else []
        ):
            about = about_checks()[finding.check]
            shown += [
                "",
                f"[{finding.verdict}, {', '.join(about.rules)}] {finding.message}.",
                about.why,
                "",
            ]
    return "\n".join(shown)
