# SPDX-License-Identifier: Apache-2.0
"""Finds the places where one small mutation can change a source: an operator, a constant, a condition, a call."""

from __future__ import annotations

import dataclasses
import io
import re
import token
import tokenize
from collections.abc import Iterator

OPERATORS = {
    "==": "!=",
    "!=": "==",
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "&&": "||",
    "||": "&&",
    "+": "-",
    "-": "+",
    "&": "|",
    "|": "&",
    "<<": ">>",
    ">>": "<<",
    "+=": "-=",
    "-=": "+=",
    "|=": "&=",
    "&=": "|=",
}
WORDS = {"true": "false", "false": "true"}
PYTHON_OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "+", "-", "+=", "-=")
"""Without `|` and `&`, which also occur in type hints and sets."""
PYTHON_WORDS = {
    "and": "or",
    "or": "and",
    "True": "False",
    "False": "True",
    "in": "not in",
    "is": "is not",
}
SHELL_OPERATORS = {"&&": "||", "||": "&&", "=": "!=", "!=": "=", "-eq": "-ne", "-ne": "-eq"}

C_SKIPPED = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.S | re.M,
)
"""Matches comments, strings and preprocessor lines."""
C_OPERATOR = re.compile(r"(?<= )(" + "|".join(map(re.escape, OPERATORS)) + r")(?= )")
C_WORD = re.compile(r"\b(true|false)\b")
C_NUMBER = re.compile(r"(?<![\w.'])(\d+)(?![\w.'])")
C_CONDITION = re.compile(r"^\s+if (\(.*\))(?: \{)?$", re.M)
C_CALL = re.compile(r"^\s+(\w[\w.>\[\]-]*\(.*\);)$", re.M)
SHELL_SKIPPED = re.compile(r"(?:^|\s)#[^\n]*|'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\"", re.M)
SHELL_OPERATOR = re.compile(r"(?<= )(" + "|".join(map(re.escape, SHELL_OPERATORS)) + r")(?= )")


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One replacement in a text: `before` at the offset `begin` becomes `after`."""

    begin: int
    before: str
    after: str

    def apply(self, text: str) -> str:
        """The mutated text."""
        end = self.begin + len(self.before)
        assert text[self.begin : end] == self.before
        return text[: self.begin] + self.after + text[end:]

    def line(self, text: str) -> int:
        """The number of the line, from 1."""
        return text.count("\n", 0, self.begin) + 1


def mutations(name: str, text: str) -> list[Mutation]:
    """All mutations of a source, in order. The suffix of `name` determines the language."""
    if name.endswith(".py"):
        found = _python(text)
    elif name.endswith((".c", ".h", ".cpp")):
        found = _c(text)
    else:
        found = _shell(text)
    return sorted(found, key=lambda each: (each.begin, each.after))


def _c(text: str) -> Iterator[Mutation]:
    code = _blanked(text, C_SKIPPED)
    for match in C_OPERATOR.finditer(code):
        yield Mutation(match.start(), match[1], OPERATORS[match[1]])
    for match in C_WORD.finditer(code):
        yield Mutation(match.start(), match[1], WORDS[match[1]])
    for match in C_NUMBER.finditer(code):
        yield Mutation(match.start(), match[1], str(int(match[1]) + 1))
    for match in C_CONDITION.finditer(code):
        condition = text[match.start(1) : match.end(1)]
        yield Mutation(match.start(1), condition, f"(!{condition})")
    for match in C_CALL.finditer(code):
        yield Mutation(match.start(1), text[match.start(1) : match.end(1)], ";")


def _shell(text: str) -> Iterator[Mutation]:
    for match in SHELL_OPERATOR.finditer(_blanked(text, SHELL_SKIPPED)):
        yield Mutation(match.start(), match[1], SHELL_OPERATORS[match[1]])


def _python(text: str) -> Iterator[Mutation]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for number, each in enumerate(tokens):
        begin = starts[each.start[0] - 1] + each.start[1]
        if each.type == token.OP and each.string in PYTHON_OPERATORS:
            # A sign, the `->` of an annotation and `*args` are no binary operators.
            if tokens[number - 1].type in (token.NAME, token.NUMBER) or tokens[
                number - 1
            ].string in (")", "]"):
                yield Mutation(begin, each.string, OPERATORS[each.string])
        elif each.type == token.NUMBER and each.string.isdigit():
            yield Mutation(begin, each.string, str(int(each.string) + 1))
        elif each.type == token.NAME and each.string in PYTHON_WORDS:
            after = PYTHON_WORDS[each.string]
            if each.string == "in" and _is_loop(tokens, number):
                continue
            if each.string == "is" and tokens[number + 1].string == "not":
                continue
            if each.string == "in" and tokens[number - 1].string == "not":
                continue
            yield Mutation(begin, each.string, after)
        elif each.type == token.NAME and each.string == "not":
            if tokens[number + 1].string != "in" and tokens[number - 1].string != "is":
                yield Mutation(begin, "not ", "")


def _is_loop(tokens: list[tokenize.TokenInfo], number: int) -> bool:
    """Whether the `in` at `number` belongs to a `for`."""
    depth = 0
    for each in reversed(tokens[:number]):
        depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(each.string, 0)
        if each.type in (token.NEWLINE, token.INDENT, token.DEDENT) or depth < 0:
            return False
        if depth == 0 and each.string == "for":
            return True
    return False


def _blanked(text: str, skipped: re.Pattern[str]) -> str:
    """The text with blanks instead of the matches of `skipped`. Lines and offsets stay the same."""
    return skipped.sub(lambda match: re.sub(r"[^\n]", "\x00", match[0]), text)
