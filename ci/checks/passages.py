# SPDX-License-Identifier: Apache-2.0
"""Extracts passages of prose from the project's files: Markdown, fields of TOML, descriptions of patches, docstrings
and comments."""

from __future__ import annotations

import ast
import inspect
import io
import re
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ci.mutation.patch import DIFF_START, KEYS, key_line
from ci.regression import patches

PATCHES = ("driver/mutants/", f"{patches.FOLDER}/")
"""Folders whose patches have a description."""
KEY_LINE = key_line((*KEYS, *patches.KEYS))
FIELD_FOLDERS = (
    "conformance/rules/",
    "conformance/waivers/",
    "conformance/untested.toml",
    *PATCHES,
)
"""Folders whose TOML files have fields with prose."""
FIELD = re.compile(r"^(text|why|reason)\s*=")
C_SUFFIXES = (".c", ".cpp", ".h", ".S", ".inc")
HASH_SUFFIXES = (".sh", ".toml", ".cmake", ".config")
HASH_NAMES = ("CMakeLists.txt", "Makefile", "Kbuild", "Kconfig")
SHEBANG = re.compile(r"#!.*\b(sh|bash)\b")
NO_PROSE = re.compile(
    r"\s*(SPDX-License-Identifier|NOLINT|clang-format |noqa\b|type: |shellcheck |fmt: |pylint: |!)"
)
"""Comments that programs read."""
C_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|R"(\w*)\(.*?\)\1\"""", re.S
)


@dataclass(frozen=True)
class Passage:
    """A text that the linter reads as Markdown."""

    file: str
    line: int
    """The first line of the text in its file."""
    text: str
    document: bool = False
    """The text is the whole file, so the lengths of its lines are checked."""


def passages(root: Path, name: str, comments: bool = False) -> list[Passage]:
    """The prose of a file. `comments`: docstrings and comments instead of documents and fields."""
    if comments:
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        return list(_comments(name, text))
    if name.endswith(".md"):
        return [Passage(name, 1, (root / name).read_text(encoding="utf-8"), document=True)]
    if name.endswith(".toml") and name.startswith(FIELD_FOLDERS):
        return list(fields(name, (root / name).read_text(encoding="utf-8")))
    if name.endswith(".patch") and name.startswith(PATCHES):
        return list(description(name, (root / name).read_text(encoding="utf-8")))
    return []


def fields(name: str, text: str) -> Iterator[Passage]:
    """The values of text, why and reason in a TOML file."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if not FIELD.match(line):
            continue
        for end in range(number, len(lines) + 1):
            try:
                value = tomllib.loads("\n".join(lines[number - 1 : end]))
            except tomllib.TOMLDecodeError:
                # The value continues on the next line.
                continue
            below = line.rstrip().endswith('"""') and end > number
            yield Passage(name, number + int(below), str(*value.values()))
            break


def description(name: str, text: str) -> Iterator[Passage]:
    """The description of a patch: the text between the keys of its header and its diff."""
    begin, lines = 1, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if DIFF_START.match(line):
            break
        if KEY_LINE.match(line) or not (lines or line.strip()):
            continue
        if not lines:
            begin = number
        lines.append(line)
    if lines:
        yield Passage(name, begin, "\n".join(lines).rstrip())


def _comments(name: str, text: str) -> Iterator[Passage]:
    path = Path(name)
    if path.suffix == ".py":
        yield from docstrings(name, text)
        yield from python_comments(name, text)
    elif path.suffix in C_SUFFIXES:
        yield from c_comments(name, text)
    elif (
        path.suffix in HASH_SUFFIXES
        or path.name in HASH_NAMES
        or (not path.suffix and SHEBANG.match(text))
    ):
        yield from hash_comments(name, text)


def docstrings(name: str, text: str) -> Iterator[Passage]:
    """Docstrings of Python, also those below a variable."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            value = node.value.value
            if isinstance(value, str):
                above = len(value) - len(value.lstrip())
                line = node.lineno + value[:above].count("\n")
                yield Passage(name, line, inspect.cleandoc(value))


def python_comments(name: str, text: str) -> Iterator[Passage]:
    """Comments of Python."""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = token.line[: token.start[1]].strip() == ""
            found.append((token.start[0], token.start[1], alone, token.string[1:]))
    yield from _joined(name, found)


def hash_comments(name: str, text: str) -> Iterator[Passage]:
    """Whole-line comments of shell, TOML, CMake and make."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.lstrip()
        if bare.startswith("#"):
            found.append((number, len(line) - len(bare), True, bare[1:]))
    yield from _joined(name, found)


def c_comments(name: str, text: str) -> Iterator[Passage]:
    """Comments of C and C++."""
    single = []
    for match in C_TOKEN.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        begin = text.rfind("\n", 0, match.start()) + 1
        if match[0].startswith("//"):
            alone = text[begin : match.start()].strip() == ""
            single.append((line, match.start() - begin, alone, match[0][2:].lstrip("/")))
        elif match[0].startswith("/*") and not NO_PROSE.match(match[0][2:]):
            body = match[0][2:-2].lstrip("*")
            lines = [re.sub(r"^\s*\*[ \t]?|^\s+", "", part) for part in body.split("\n")]
            yield Passage(name, line, "\n".join([lines[0].strip(), *lines[1:]]))
    yield from _joined(name, single)


def _joined(name: str, comments: Iterable[tuple[int, int, bool, str]]) -> Iterator[Passage]:
    """Passages of one-line comments (line, column, alone on its line, text). Adjacent comments are one passage."""
    begin, lines, column = 0, list[str](), -1
    for number, at, alone, text in comments:
        if NO_PROSE.match(text):
            continue
        if lines and alone and number == begin + len(lines) and at == column:
            lines.append(text.removeprefix(" "))
            continue
        if lines:
            yield Passage(name, begin, "\n".join(lines))
        begin, lines, column = number, [text.removeprefix(" ")], at
    if lines:
        yield Passage(name, begin, "\n".join(lines))
