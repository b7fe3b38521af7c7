# SPDX-License-Identifier: Apache-2.0
"""Checks that only the files of an architecture name it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from vm.arch import ARCHES

ROOTS = ("cmake", "conformance", "driver", "kunit", "oracle", "vm")
"""The folders that are checked."""
OWN = ("vm/arch.py", "vm/arches/*", "vm/tcg/x86.*", "driver/swinc/*")
"""The files of architectures: the table, the decoder of instructions, a module for the PMU of one architecture."""
FREE = {"arch", "tests", "selftest"}
"""Folders whose files may name architectures: the files of each, and tests. Documents, target files, waivers and recorded
data are not code, so they may do so too."""
COMMENTS = {
    **dict.fromkeys((".c", ".h", ".cpp", ".inc"), re.compile(r"/\*.*?\*/|//[^\n]*", re.S)),
    **dict.fromkeys((".cmake", ".sh"), re.compile(r"#[^\n]*")),
}
"""The code that is checked, by suffix, and what is a comment in it. A comment may give an architecture as an example."""
MACRO = r"__(?:(?:x86_64|amd64|i386|aarch64|arm)__|riscv|powerpc|s390|loongarch)\w*"
NAMES = sorted({name for arch in ARCHES.values() for name in (arch.name, arch.machine)})
NAMED = re.compile(rf"(?<!\w)(?:{'|'.join(NAMES)})(?!\w)|\b{MACRO}")
"""The names of the distribution and of uname(1), and the macros of compilers."""


def only_its_files_name_an_architecture(root: Path, files: list[Path]) -> list[str]:
    """No code outside the files of an architecture has its name: it asks the table in vm/arches instead."""
    found = []
    for file in files:
        relative = file.relative_to(root)
        if relative.parts[0] not in ROOTS or FREE & set(relative.parts):
            continue
        if any(relative.match(glob) for glob in OWN):
            continue
        for number, name in _named(file):
            found.append(f"{relative}:{number}: names the architecture '{name}'")
    return found


def _named(file: Path) -> Iterator[tuple[int, str]]:
    """The names in the code of a file, with their lines."""
    if file.suffix == ".py":
        for number, text in _strings(ast.parse(file.read_text(encoding="utf-8"))):
            yield from ((number, match[0]) for match in NAMED.finditer(text))
    elif file.suffix in COMMENTS:
        text = COMMENTS[file.suffix].sub(_blank, file.read_text(encoding="utf-8"))
        for number, line in enumerate(text.splitlines(), 1):
            yield from ((number, match[0]) for match in NAMED.finditer(line))


def _strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The strings of a program, except those that document it."""
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in documents:
                yield node.lineno, node.value


def _blank(comment: re.Match[str]) -> str:
    return "\n" * comment[0].count("\n")
