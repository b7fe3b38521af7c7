# SPDX-License-Identifier: Apache-2.0
"""Checks the sources that rules name: the file and the symbol must exist, in the kernel or in the manual."""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from conformance.rules.generate import Rule, read_catalogue
from pmubase.errors import UserError

MANUALS = Path("/usr/share/man")
LINUX = re.compile(r"linux:([^#]+)#(.+)|linux:(Documentation/[^#]+)")
MANUAL = re.compile(r"man:([\w.-]+)\((\d)\)#(.+)")
FONTS = re.compile(r"\\f(?:\w|\(..|\[\w*\])|\\&|\\[cp|^]")
COMPARISON = re.compile(r"(>=|<=|==|>|<)(\d+)\.(\d+)")
COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
}


def is_for(kernels: str, series: str) -> bool:
    """Whether `kernels` (">=6.1,<6.12") includes a series."""
    here = tuple(int(part) for part in series.split("."))
    return all(
        COMPARE[how](here, (int(major), int(minor)))
        for how, major, minor in COMPARISON.findall(kernels)
    )


@functools.cache
def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


def file_error(tree: Path, name: str, symbol: str) -> str:
    """The error in "linux:NAME#SYMBOL" for this tree; "" if there is none.

    For a member, written "struct.member", both names must occur. Other symbols must occur literally. A text of
    Documentation/ needs no symbol.
    """
    text = _text(tree / name)
    if text is None:
        return f"no file {name}"
    if not symbol:
        return ""
    parts = symbol.split(".") if re.fullmatch(r"[\w.]+", symbol) else [symbol]
    for part in parts:
        if not re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text):
            return f"{name} does not contain '{part}'"
    return ""


@functools.cache
def _manual(page: str, section: str) -> str | None:
    path = MANUALS / f"man{section}" / f"{page}.{section}.gz"
    try:
        text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
    except OSError:
        return None
    plain = FONTS.sub("", text).replace("\\-", "-").replace("\\_", "_")
    return " ".join(re.sub(r"^\.\w+ ?|\"", "", plain, flags=re.M).split()).lower()


def manual_error(page: str, section: str, words: str) -> str:
    """The error in "man:PAGE(SECTION)#WORDS"; "" if there is none or the page is not installed."""
    text = _manual(page, section)
    if text is None or words.lower() in text:
        return ""
    for word in re.split(r"[\s_]+", words.lower()):
        if word not in text:
            return f"{page}({section}) does not contain '{words}'"
    return ""


def rule_errors(rule: Rule, trees: Mapping[str, Path]) -> list[str]:
    """The error in a rule's sources. Each must exist in a kernel that the rule applies to."""
    found = []
    mine = [tree for series, tree in trees.items() if is_for(rule.kernels, series)]
    for source in rule.source:
        if linux := LINUX.fullmatch(source):
            name, symbol = linux[1] or linux[3], linux[2] or ""
            wrong = [file_error(tree, name, symbol) for tree in mine]
            if wrong and all(wrong):
                found.append(f"{rule.id}: {source}: {wrong[0]}")
        elif manual := MANUAL.fullmatch(source):
            if wrong_page := manual_error(*manual.groups()):
                found.append(f"{rule.id}: {source}: {wrong_page}")
        elif source.startswith(("linux:", "man:")):
            found.append(f"{rule.id}: {source}: must be linux:FILE#SYMBOL or man:PAGE(2)#WORDS")
    return found


def findings(root: Path, trees: Mapping[str, Path]) -> list[str]:
    """All sources of the catalogue that do not exist. `trees`: a kernel's sources for each series."""
    try:
        catalogue = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
    except UserError as error:
        return [str(error)]
    return [
        line for rule in catalogue if rule.status == "active" for line in rule_errors(rule, trees)
    ]
