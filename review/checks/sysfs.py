# SPDX-License-Identifier: Apache-2.0
"""Checks of the files in sysfs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Fact
from ..view import BREACH, SUSPECT, View, check

Found = Iterator[tuple[str, Fact, str]]
EVENT_MACRO = re.compile(r"\w*(?:EVENT|CYCLE)\w*|\w+_(?:evt|event)\w*", re.I)
PRINTS = r"\b(s[cn]*printf)\(\s*(?:{})\s*(?:\+\s*\*?\w+\s*)?,(?!\s*sizeof|\s*\w*(?:len|size)\b)"
"""A call that prints to a page; one that gets the size of a variable prints to something else."""
SHOWN = re.compile(r"struct (?:device|kobj)_attribute \*\w+,\s*char \*(\w+)\)")
"""The parameter of a function that shows a file."""
NAME = re.compile(r"\"?([A-Za-z][\w.-]*)\"?\Z")


@check("sysfs-emit")
def sysfs_emit(view: View) -> Found:
    """A file of sysfs is written by sysfs_emit(). Macros that define such files are no code that Coccinelle reads."""
    for path, text in view.program.texts.items():
        if path != view.program.root and path.suffix != ".h":
            continue
        # A pointer that walks over the page.
        names = {"buf", "page", *SHOWN.findall(text)}
        names |= set(re.findall(rf"\bchar \*(\w+)\s*=\s*(?:{'|'.join(names)})\s*[;,]", text))
        for found in re.finditer(PRINTS.format("|".join(sorted(names))), text):
            line = text.count("\n", 0, found.start()) + 1
            place = Fact(line, 0, "call", "", (found[1],), path)
            yield BREACH, place, f"{found[1]}() writes to a page of sysfs; sysfs_emit() knows its size"


@check("event-name")
def event_name(view: View) -> Found:
    """The name of an event has one case and no other characters than letters, digits, dot, underscore, hyphen."""
    for fact in view.program.facts:
        if fact.kind != "call" or fact.file != view.program.root:
            continue
        attribute = re.search(r"ATTR|attr", fact.words[0]) is not None
        if not EVENT_MACRO.match(fact.words[0]):
            # A macro with another name, in the table of events.
            if not attribute or not re.search(r"event|evt", fact.function):
                continue
        elif not attribute and "attr" not in fact.function:
            continue
        first = fact.words[1].split(",")[0]
        name = NAME.match(first)
        if name is None or name[1].startswith("_") or first in ("name", "_name", "config"):
            continue
        if re.search("[a-z]", name[1]) and re.search("[A-Z]", name[1]):
            yield BREACH, fact, f"the name of the event {name[1]} has both cases"


@check("identifier")
def identifier(view: View) -> Found:
    """A file names the version of the device."""
    if view.is_uncore and not re.search(
        r"\bidentifier\b|_identifier|identifier_", view.program.source
    ):
        message = "the PMU has no file identifier, so tools cannot choose its list of events"
        yield SUSPECT, view.pmu.place, message
