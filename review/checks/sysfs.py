# SPDX-License-Identifier: Apache-2.0
"""Checks of the files in sysfs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Fact
from ..view import BREACH, SUSPECT, View, check
from .registration import DRIVERS

Found = Iterator[tuple[str, Fact, str]]
EVENT_MACRO = re.compile(r"\w*(?:EVENT|CYCLE)\w*|\w+_(?:evt|event)\w*", re.I)
NAME = re.compile(r"\"?([A-Za-z][\w.-]*)\"?\Z")


@check("sysfs-emit")
def sysfs_emit(view: View) -> Found:
    """A file of sysfs is written by sysfs_emit()."""
    for call in view.program.calls("sprintf|snprintf|scnprintf|strcpy|strlcpy"):
        if call.file == view.program.root and re.match(
            r"(?:buf|page)(?:\+[\w>-]+)?,", call.words[1]
        ):
            if re.search(r"_show\b|show_|_show_|show$", call.function):
                yield BREACH, call, f"{call.words[0]}() writes to a page of sysfs; sysfs_emit() knows its size"


@check("event-name")
def event_name(view: View) -> Found:
    """The name of an event has one case and no other characters than letters, digits, dot, underscore, hyphen."""
    for fact in view.program.facts:
        if (
            fact.kind != "call"
            or fact.file != view.program.root
            or not EVENT_MACRO.match(fact.words[0])
        ):
            continue
        if not re.search(r"ATTR|attr", fact.words[0]) and "attr" not in fact.function:
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
    devices = [f for f in view.program.facts if f.kind == "member" and f.words[0] in DRIVERS]
    if (
        view.is_uncore
        and devices
        and not re.search(r"\bidentifier\b|_identifier|identifier_", view.program.source)
    ):
        message = "the PMU has no file identifier, so tools cannot choose its list of events"
        yield SUSPECT, view.pmu.place, message
