# SPDX-License-Identifier: Apache-2.0
"""The sources that rules name: the file and the symbol must be there, in the kernel or the manual."""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from generate import CatalogueError, Rule, read_catalogue

MANUALS = Path("/usr/share/man")
LINUX = re.compile(r"linux:([^#]+)#(.+)|linux:(Documentation/[^#]+)")
MANUAL = re.compile(r"man:([\w.-]+)\((\d)\)#(.+)")
FONTS = re.compile(r"\\f(?:\w|\(..|\[\w*\])|\\&|\\[cp|^]")
COMPARISON = re.compile(r"(>=|<=|==|>|<)(\d+)\.(\d+)")
HOLDS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
}


def is_for(kernels: str, series: str) -> bool:
    """Whether a rule for `kernels` (">=6.1,<6.12") is for that series."""
    here = tuple(int(part) for part in series.split("."))
    return all(
        HOLDS[how](here, (int(major), int(minor)))
        for how, major, minor in COMPARISON.findall(kernels)
    )


@functools.cache
def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


def in_file(tree: Path, name: str, symbol: str) -> str:
    """What is wrong with "linux:NAME#SYMBOL" in that tree; "" for nothing.

    A member is written "struct.member": both must be there. Else the words stand there as they are.
    A text of Documentation/ may stand whole, without a symbol.
    """
    text = _text(tree / name)
    if text is None:
        return f"no file {name}"
    if not symbol:
        return ""
    parts = symbol.split(".") if re.fullmatch(r"[\w.]+", symbol) else [symbol]
    for part in parts:
        if not re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text):
            return f"{name} does not hold '{part}'"
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


def in_manual(page: str, section: str, words: str) -> str:
    """What is wrong with "man:PAGE(SECTION)#WORDS"; "" also where the page is not installed."""
    text = _manual(page, section)
    if text is None or words.lower() in text:
        return ""
    for word in re.split(r"[\s_]+", words.lower()):
        if word not in text:
            return f"{page}({section}) does not hold '{words}'"
    return ""


def of_rule(rule: Rule, trees: Mapping[str, Path]) -> list[str]:
    """What is wrong with its sources: each must be in a kernel that the rule is for."""
    found = []
    mine = [tree for series, tree in trees.items() if is_for(rule.kernels, series)]
    for source in rule.source:
        if linux := LINUX.fullmatch(source):
            name, symbol = linux[1] or linux[3], linux[2] or ""
            wrong = [in_file(tree, name, symbol) for tree in mine]
            if wrong and all(wrong):
                found.append(f"{rule.id}: {source}: {wrong[0]}")
        elif manual := MANUAL.fullmatch(source):
            if wrong_page := in_manual(*manual.groups()):
                found.append(f"{rule.id}: {source}: {wrong_page}")
        elif source.startswith(("linux:", "man:")):
            found.append(f"{rule.id}: {source}: is not linux:FILE#SYMBOL, nor man:PAGE(2)#WORDS")
    return found


def findings(root: Path, trees: Mapping[str, Path]) -> list[str]:
    """Every source of the catalogue that is not there; `trees`: series → a kernel's sources."""
    try:
        catalogue = read_catalogue((root / "conformance" / "rules").glob("*.toml"))
    except CatalogueError as error:
        return [str(error)]
    return [line for rule in catalogue if rule.status == "active" for line in of_rule(rule, trees)]
