# SPDX-License-Identifier: Apache-2.0
"""The facts of a C file: Coccinelle reads them with facts.cocci. No compiler and no headers are needed."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError

SCRIPT = Path(__file__).with_name("facts.cocci")
DEADLINE_S = 200
LARGEST = 2 << 20
"""The most bytes of a file. The largest driver of Linux has a tenth of them."""
SPACE = re.compile(r"(?<!\w)\s+|\s+(?!\w)")


@dataclasses.dataclass(frozen=True, order=True)
class Fact:
    """A construct in a C file. `words` depend on `kind`; their white space is normal."""

    line: int
    column: int
    kind: str
    """call, set, member, if, else, loop, attr, return or goto."""
    function: str
    """The function, or the variable, that has it."""
    words: tuple[str, ...]
    file: Path = Path()

    @property
    def start(self) -> int:
        """The first line of the statement that an if, an else or a loop controls."""
        return int(self.words[1])

    @property
    def end(self) -> int:
        """Its last line."""
        return int(self.words[-1])


def normal(text: str) -> str:
    """An expression without the white space that does not separate words."""
    return SPACE.sub("", text.strip())


def read_bytes(path: Path, kind: str, most: int) -> bytes:
    """The bytes of a file. UserError if it cannot be read, or is larger than a file of its kind."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None
    if len(data) > most:
        raise UserError(f"{path}: {len(data)} bytes; a {kind} has at most {most}")
    return data


def read_text(path: Path) -> str:
    """The text of a source. UserError for a file that cannot be reviewed."""
    data = read_bytes(path, "source", LARGEST)
    if b"\0" in data:
        raise UserError(f"{path}: not a text")
    return data.decode("utf-8", errors="replace")


def read_facts(path: Path) -> list[Fact]:
    """The facts of a file, by line. They are in the cache once a file was read."""
    text = read_text(path)
    # Facts state lines, and the name of the file is not in them.
    key = store.digest([SCRIPT.read_bytes(), text.encode()])
    kept = store.cache() / "review" / f"{key}.json"
    if not kept.is_file():
        store.write(kept, _run(path).encode())
    return sorted(set(_facts(kept.read_text("utf-8"), path)))


def _facts(lines: str, path: Path) -> Iterator[Fact]:
    for line in lines.splitlines():
        kind, number, column, function, *words = json.loads(line)
        normalised = tuple(normal(word) for word in words)
        yield Fact(number, column, kind, function, normalised, path)


def _run(path: Path) -> str:
    """The output of Coccinelle for a file."""
    # Isomorphisms match a condition and its negation alike, which would be two facts.
    options = ["--very-quiet", "--no-includes", "--iso-file", "/dev/null"]
    argv = ["spatch", *options, "--sp-file", str(SCRIPT), str(path)]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=DEADLINE_S, check=False, errors="replace"
        )
    except FileNotFoundError:
        raise UserError("spatch is not installed: package coccinelle") from None
    except subprocess.TimeoutExpired:
        raise UserError(f"{path}: Coccinelle has not read it after {DEADLINE_S} s") from None
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise UserError(f"{path}: Coccinelle cannot read it: {reason}")
    return "".join(f"{line}\n" for line in done.stdout.splitlines() if line.startswith("["))
