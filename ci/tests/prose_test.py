# SPDX-License-Identifier: Apache-2.0
"""The step prose of lint reports what docs/style.md states that it rejects, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci import driver_page, lint
from ci.checks import prose

PAGE = (lint.ROOT / prose.STYLE).read_text(encoding="utf-8")
REJECTED = prose.rejected_words(PAGE)
LINE = "a " * 59 + "aa"


def messages(text: str, name: str = "a.md") -> list[str]:
    return [message for _, message in prose.document(name, text, REJECTED)]


def broken(text: str, message: str) -> bool:
    return any(message in found for found in messages(text))


def sentence(words: int) -> str:
    return "Word" + "\nword" * (words - 1) + "."


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (sentence(40), False),
        (sentence(41), True),
        (f"{sentence(40)} {sentence(40)}", False),
        (f"- {sentence(41)}".replace("\n", "\n  "), True),
        (f"# {sentence(41)}".replace("\n", " "), True),
        (f"| {sentence(41)} |\n|---|".replace("\nw", " w"), True),
        (sentence(41).replace("word\nword", "`word word`", 1), False),
        (sentence(41).replace("word", "word -", 1).replace("\nword", "", 1), False),
        (f"```\n{sentence(41)}\n```", False),
    ],
)
def test_a_sentence_has_at_most_40_words(text: str, wrong: bool) -> None:
    assert broken(text, "a sentence of 41 words; at most 40") == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("What counts is time.", True),
        ("Whatever counts is time.", True),
        ("Of course it counts.", True),
        ("It counts. Of these one counts.", True),
        ("It counts.\n**What** counts is time.", True),
        ("# What runs", True),
        ("- what it is", True),
        ("- of a file", False),
        ("| a |\n|---|\n| What it is |", True),
        ("What counts?", False),
        ("It counts. What does it count?", False),
        ("It is known what counts.", False),
        ("Offsets count. Whatsoever counts.", False),
        ("| what |\n|---|\n| a |", False),
        ("`What counts` is text.", False),
    ],
)
def test_no_sentence_begins_with_what_or_of(text: str, wrong: bool) -> None:
    assert broken(text, "a sentence begins with") == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (LINE + "a", True),
        (LINE, False),
        ("- " + "a" * 119, False),
        ("    " + "a " * 70, False),
        ("```\n" + "a " * 70 + "\n```", False),
        ("| a |\n|---|\n| " + "a " * 70 + " |", False),
        ("[a]\n\n[a]: " + "b" * 120, False),
    ],
)
def test_a_line_of_prose_has_at_most_120_characters(text: str, wrong: bool) -> None:
    assert len(LINE) == 120
    assert broken(text, "a line of ") == wrong


@pytest.mark.parametrize(("length", "wrong"), [(200, False), (201, True)])
def test_a_table_cell_has_at_most_200_characters(length: int, wrong: bool) -> None:
    text = f"| a | b |\n|---|---|\n| b | {'c' * length} |"
    assert broken(text, f"a cell of {length} characters; at most 200") == wrong


def test_each_word_of_the_style_page_is_rejected_with_its_replacement() -> None:
    assert REJECTED["told"] == "report, return" and "lost memory" in REJECTED
    for word, instead in REJECTED.items():
        assert f'"{word}"; write: {instead}' in messages(f"It {word.replace(' ', chr(10))} it.")
        assert not messages(f"It `{word}` it. It x{word}x it.")


def test_a_finding_names_the_line_of_its_word_or_sentence() -> None:
    text = "# Title\n\n- one\n  > two `a`\n  > [three](b.md) *told*. Two.\n  > What is it.\n"
    assert [line for line, _ in prose.document("a.md", text, REJECTED)] == [5, 6]


def test_only_the_tables_of_the_style_page_may_show_bad_wording() -> None:
    table = "| not |\n|---|\n| What is told |"
    assert len(messages(table)) == 2
    assert not messages(table, prose.STYLE)
    assert len(messages("What is told is wrong.", prose.STYLE)) == 2


def test_the_text_of_the_generated_page_is_clean() -> None:
    results = {
        "target": "software",
        "release": "6.12.1",
        "arch": "x86_64",
        "rules": [{"id": "CNT-001", "result": "PASSED"}, {"id": "CNT-002", "result": "WAIVED"}],
        "cases": [{"result": "WAIVED", "rules": ["CNT-002"], "waiver": {"id": "W-1"}}],
    }
    known = {"W-1": driver_page.Waiver("W-1", "The kernel is wrong", "a:b")}
    for waivers in (known, dict[str, driver_page.Waiver]()):
        text = driver_page.page([driver_page.column(results)], waivers, driver_page.ROOT)
        assert "W-1" in text and not messages(text)


def test_documents_and_texts_of_rules_are_linted_and_comments_are_not(tmp_path: Path) -> None:
    entry = '[[rule]]\nid = "A-001"\ntext = "It\\ntold."\nwhy = "What counts."\nsource = ["told"]\n'
    reason = '[[untested]]\nrule = "A-001"\nreason = "It told."\n'
    for name, text in (
        (prose.STYLE, PAGE),
        ("a.md", "It\ntold.\n"),
        ("a.py", "# It told.\n"),
        ("conformance/rules/A.toml", entry),
        ("conformance/untested.toml", reason),
        ("ci/a.toml", entry),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    told = '"told"; write: report, return'
    found = prose.findings(tmp_path, sorted(path for path in tmp_path.rglob("*.*")))
    assert found == [
        f"a.md:2: {told}",
        f"conformance/rules/A.toml: A-001: text: {told}",
        'conformance/rules/A.toml: A-001: why: a sentence begins with "What"; name the thing instead',
        f"conformance/untested.toml: A-001: reason: {told}",
    ]
    (tmp_path / prose.STYLE).write_text("# Style\n", encoding="utf-8")
    (missing,) = prose.findings(tmp_path, [])
    assert missing.startswith(f"{prose.STYLE}: no words in the section")


def test_the_linter_is_a_step_of_lint_and_the_project_has_no_finding() -> None:
    assert "prose" in lint.step_names()
    assert prose.findings(lint.ROOT, lint.tracked()) == []
