# SPDX-License-Identifier: Apache-2.0
"""Checks the wording of documents, and of the texts of rules and waivers: docs/style.md names what it checks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

STYLE = "docs/style.md"
TEXTS = ("conformance/rules/", "conformance/waivers/", "conformance/untested.toml")
"""Where TOML files have texts of rules, and reasons."""
KEYS = ("text", "why", "reason")
MOST_WORDS, MOST_CELL, MOST_LINE = 40, 200, 120

REJECTED = re.compile(r"^## Words that lint rejects\n(.*?)^## ", re.M | re.S)
ROW = re.compile(r"^\| *([^|]+?) *\| *([^|]+?) *\|$", re.M)
SENTENCE = re.compile(r"(?<=[.!?])\s+")
START = re.compile(r"[\"'“‘(\[]*([Ww]hat|[Ww]hatever|Of)\s")
BREAKABLE = re.compile(r"[\s>]*(?:(?:[-*+]|\d+\.)\s+)?+(?!\[[^\]]+\]:\s)\S+\s+\S")
"""A line that is neither one unbreakable word nor the definition of a link."""


def rejected_words(page: str) -> dict[str, str]:
    """The replacement of each word or phrase that the style page rejects."""
    section = REJECTED.search(page)
    rows = ROW.findall(section[1])[2:] if section else []
    return {word: instead for instead, words in rows for word in words.split(", ")}


def wording(text: str, rejected: dict[str, str]) -> Iterator[tuple[int, str]]:
    """The findings in the words of a text: the number of lines above, and a message."""
    for word, instead in rejected.items():
        pattern = rf"\b{re.escape(word)}\b".replace(r"\ ", r"\s+")
        for match in re.finditer(pattern, text, re.I):
            yield text.count("\n", 0, match.start()), f'"{word}"; write: {instead}'
    begin = 0
    for sentence in SENTENCE.split(text):
        begin = text.index(sentence, begin)
        above = text.count("\n", 0, begin)
        if (start := START.match(sentence)) and not sentence.rstrip("\"'”’)]").endswith("?"):
            yield above, f'a sentence begins with "{start[1]}"; name the thing instead'
        words = sum(any(map(str.isalnum, word)) for word in sentence.split())
        if words > MOST_WORDS:
            yield above, f"a sentence of {words} words; at most {MOST_WORDS}"


def plain(token: Token) -> str:
    """The text of a paragraph, heading or cell. A code span counts as one word."""
    shown = {"softbreak": "\n", "hardbreak": "\n", "code_inline": "x"}
    return "".join(shown.get(child.type, child.content) for child in token.children or [])


def document(name: str, text: str, rejected: dict[str, str]) -> Iterator[tuple[int, str]]:
    """The findings in a Markdown document: line and message."""
    free: set[int] = set()
    table = range(0)
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        lines = range(*token.map) if token.map else range(0)
        if token.type in ("fence", "code_block", "table_open"):
            free.update(lines)
        if token.type == "table_open":
            table = lines
        if token.type != "inline":
            continue
        if lines[0] in table and len(token.content) > MOST_CELL:
            yield lines[0] + 1, f"a cell of {len(token.content)} characters; at most {MOST_CELL}"
        # Tables of the style page show bad wording.
        if name != STYLE or lines[0] not in table:
            for above, message in wording(plain(token), rejected):
                yield lines[0] + above + 1, message
    for number, line in enumerate(text.split("\n")):
        if len(line) > MOST_LINE and number not in free and BREAKABLE.match(line):
            yield number + 1, f"a line of {len(line)} characters; at most {MOST_LINE}"


def fields(text: str, rejected: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The findings in the texts of a TOML file: the id of an entry, and a message."""
    for entries in tomllib.loads(text).values():
        for entry in entries if isinstance(entries, list) else ():
            for key in KEYS:
                for _, message in wording(entry.get(key, ""), rejected):
                    yield f"{entry.get('id') or entry.get('rule')}: {key}", message


def findings(root: Path, files: list[Path]) -> list[str]:
    """The step `prose` of ci/lint.py."""
    rejected = rejected_words((root / STYLE).read_text(encoding="utf-8"))
    found = [] if rejected else [f"{STYLE}: no words in the section 'Words that lint rejects'"]
    for file in files:
        name = str(file.relative_to(root))
        if file.suffix == ".md":
            text = file.read_text(encoding="utf-8")
            found += [f"{name}:{line}: {what}" for line, what in document(name, text, rejected)]
        elif file.suffix == ".toml" and name.startswith(TEXTS):
            text = file.read_text(encoding="utf-8")
            found += [f"{name}: {place}: {what}" for place, what in fields(text, rejected)]
    return found
