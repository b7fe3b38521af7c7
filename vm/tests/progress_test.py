# SPDX-License-Identifier: Apache-2.0
"""Progress is one changing line on a terminal and few plain lines elsewhere."""

from __future__ import annotations

import io

import pytest

from vm.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def result(verdict: str, message: str = "") -> dict[str, str]:
    return {"t": "result", "id": "A.B", "result": verdict, "message": message}


def run(out: io.StringIO, verdicts: list[str], message: str = "") -> str:
    progress = Progress(len(verdicts), out)
    for verdict in verdicts:
        progress.result(result(verdict, message))
    return out.getvalue()


def test_a_file_gets_a_line_every_ten_cases_and_at_the_end() -> None:
    text = run(io.StringIO(), ["PASS"] * 24)
    assert [line.split()[0] for line in text.splitlines()] == ["[10/24]", "[20/24]", "[24/24]"]
    assert "\x1b" not in text and "\r" not in text


def test_a_failure_is_shown_at_once() -> None:
    text = run(io.StringIO(), ["PASS", "FAIL"], "expected 1\nat x.cpp:1")
    assert text.splitlines()[0] == "FAIL     A.B: expected 1"
    assert "1 not passed" in text


def test_a_terminal_gets_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    text = run(Terminal(), ["PASS", "SKIP", "FAIL", "PASS"])
    assert text.count("\n") == 1
    assert "\x1b[31mFAIL" in text
    assert text.endswith("\r\x1b[K")


def test_no_color_disables_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[31m" not in run(Terminal(), ["FAIL"])


def test_message_of_the_guest_cannot_control_the_terminal() -> None:
    assert "\x1b" not in run(io.StringIO(), ["FAIL"], "\x1b[2Jgone")
