# SPDX-License-Identifier: Apache-2.0
"""Prints the review of a patch as an inline reply to its mail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email.message import Message

from .patch import HUNK, Applied, Line, Part
from .report import about_checks
from .view import Finding

ABOVE, BELOW = 8, 2
"""The quoted lines above and below a finding."""
LEFT_OUT = "[ ... ]"


def reply(applied: Applied, findings: Sequence[Finding]) -> str:
    """A reply to each patch that has findings: each finding is below the line that it is about."""
    places: dict[int, dict[int, list[Finding]]] = {}
    for finding in findings:
        number, index = _place(applied, finding)
        places.setdefault(number, {}).setdefault(index, []).append(finding)
    return "\n\n".join(
        "\n".join([*_head(part.mail), *_quoted(part, places[number])])
        for number, part in enumerate(applied.parts)
        if number in places
    )


def _place(applied: Applied, finding: Finding) -> tuple[int, int]:
    """The patch, and the line of it, that a finding is about: its own line, or the nearest changed one."""
    found = [
        (abs(line.number - finding.line), line.text.startswith("-"), number, index)
        for number, part in enumerate(applied.parts)
        for index, line in enumerate(part.lines)
        if line.number and applied.scratch / line.file == finding.file
    ]
    *_, number, index = min(found)
    return number, index


def _head(mail: Message | None) -> Iterator[str]:
    """The header of the reply, and the line that introduces the quotation. Nothing for a patch that is no mail."""
    if mail is None:
        return
    subject = _value(mail, "Subject")
    yield f"Subject: {subject if subject.lower().startswith('re:') else f'Re: {subject}'}"
    author, others = _value(mail, "From"), [_value(mail, "To"), _value(mail, "Cc")]
    yield f"To: {author}"
    if any(others):
        yield "Cc: " + ", ".join(other for other in others if other).replace(", ", ",\n ")
    if number := _value(mail, "Message-ID"):
        yield f"In-Reply-To: {number}"
        yield "References: " + f"{_value(mail, 'References')} {number}".strip().replace(" ", "\n ")
    yield from ("MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8")
    yield from ("Content-Transfer-Encoding: 8bit", "")
    date = _value(mail, "Date")
    yield f"On {date}, {author} wrote:" if date else f"{author} wrote:"


def _value(mail: Message, name: str) -> str:
    return " ".join(str(mail.get(name, "")).split())


def _quoted(part: Part, about: dict[int, list[Finding]]) -> Iterator[str]:
    """The lines near each finding, with the names of their file and function, and the findings below."""
    shown = _shown(part.lines, sorted(about))
    last = -1
    for index in shown:
        if index != last + 1:
            yield LEFT_OUT
        last = index
        yield f"> {_text(part.lines[index])}".rstrip()
        for finding in about.get(index, ()):
            check = about_checks()[finding.check]
            yield ""
            own = part.lines[index].number == finding.line
            place = "" if own else f" (line {finding.line})"
            yield f"[{finding.verdict}, {', '.join(check.rules)}] {finding.message}{place}."
            yield check.why
            if check.fixed:
                yield f"Fixed elsewhere by {check.fixed}."
            yield ""
    if last + 1 < len(part.lines):
        yield LEFT_OUT


def _shown(lines: Sequence[Line], about: Sequence[int]) -> list[int]:
    """The indices of the lines to quote."""
    shown: set[int] = set()
    for index in about:
        start = max(i for i in range(index) if HUNK.match(lines[i].text))
        shown |= {start} | set(
            range(max(start, index - ABOVE), min(index + BELOW, len(lines) - 1) + 1)
        )
        name = max(i for i in range(start) if lines[i].text.startswith("+++ "))
        shown |= {name - 1, name}
    return sorted(shown)


def _text(line: Line) -> str:
    return line.text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
