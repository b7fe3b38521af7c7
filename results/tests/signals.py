# SPDX-License-Identifier: Apache-2.0
"""Reads LAVA's signals from the text of a console, with the rules of LAVA's dispatcher."""

from __future__ import annotations

import re

SIGNAL = re.compile(r"<LAVA_SIGNAL_(\S+) ([^>]+)>")
RESULTS = {"pass", "fail", "skip", "unknown"}


def cases(console: str) -> dict[tuple[str, str], str]:
    """The result of each test case by its test set and its name. AssertionError for a signal that LAVA refuses."""
    found: dict[tuple[str, str], str] = {}
    in_set = ""
    begun = ""
    for match in SIGNAL.finditer(console):
        before = console[: match.start()].rpartition("\n")[2]
        after = console[match.end() :].partition("\n")[0]
        assert before.strip("\r") == after.strip("\r") == "", f"not a line of its own: {match[0]}"
        name, words = match[1], match[2].split()
        if name == "TESTSET":
            assert words[0] in ("START", "STOP") and len(words) == 1 + (words[0] == "START")
            in_set = words[1] if words[0] == "START" else ""
        elif name == "STARTTC":
            (begun,) = words
        elif name == "ENDTC":
            assert words == [begun]
        else:
            assert name == "TESTCASE"
            fields = dict(word.split("=") for word in words)
            assert fields.keys() == {"TEST_CASE_ID", "RESULT"} and fields["RESULT"] in RESULTS
            key = (in_set, fields["TEST_CASE_ID"])
            assert key not in found
            found[key] = fields["RESULT"]
    assert in_set == "", f"the test set {in_set} has no end"
    return found


def verdict(console: str) -> str:
    """The result of the last test case, which is the verdict."""
    (_, name), result = list(cases(console).items())[-1]
    assert name == "verdict"
    return result
