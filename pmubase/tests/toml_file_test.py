# SPDX-License-Identifier: Apache-2.0
"""A TOML file is checked by its schema. Each error is one line that names the file and the key."""

from __future__ import annotations

from pathlib import Path

import pytest

from pmubase.errors import UserError
from pmubase.toml_file import SOME_TEXTS, TEXT, TEXTS, like, load, table, tables

ENTRY = table(
    {
        "id": like("[a-z]+", "a lower-case word"),
        "kind": {"enum": ["car", "train"]},
        "text": TEXT,
        "rules": SOME_TEXTS,
        "cases": TEXTS,
        "count": {"type": "integer", "minimum": 1, "description": "a whole number above 0"},
        "done": {"type": "boolean"},
        "more": table({"size": {"type": "number"}}),
    },
    optional=["cases", "count", "done", "more"],
)
GOOD = '# A file.\n\n[[toy]]\nid = "a"\nkind = "car"\ntext = "A toy."\nrules = ["R1", "R2"]\n'


def test_file_that_follows_its_schema_is_returned(tmp_path: Path) -> None:
    path = tmp_path / "toys.toml"
    path.write_text(GOOD + GOOD + "more = { size = 1.5 }\n", encoding="utf-8")
    first, second = load(path, tables("toy", ENTRY))["toy"]
    assert (first["kind"], second["more"]) == ("car", {"size": 1.5})
    path.write_text("", encoding="utf-8")
    assert load(path, tables("toy", ENTRY)) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + "colour = 3\n", ":3: toy: unknown key 'colour'; known: id, kind, text, "),
        (GOOD + GOOD + "colour = 3\n", ":10: toy: unknown key 'colour'"),
        ("colour = 3\n" + GOOD, ": unknown key 'colour'; known: toy"),
        (GOOD.replace('text = "A toy."\n', ""), ":3: toy: no key 'text'"),
        (GOOD.replace('"A toy."', "3"), ":3: toy.text: 3 is not a text"),
        (GOOD.replace('"A toy."', '" "'), ":3: toy.text: ' ' is not a text"),
        (GOOD.replace('"a"', '"a-b"'), ":3: toy.id: 'a-b' is not a lower-case word"),
        (GOOD.replace('"a"', '"a\\n"'), ":3: toy.id: 'a\\n' is not a lower-case word"),
        (GOOD.replace('"car"', '"ship"'), ":3: toy.kind: 'ship' is not one of car, train"),
        (GOOD.replace('"R2"', "2"), ":3: toy.rules[2]: 2 is not a text"),
        (GOOD.replace('"R2"', '"R1"'), ":3: toy.rules: has an entry twice"),
        (GOOD.replace('["R1", "R2"]', "[]"), ":3: toy.rules: has fewer than 1 entries"),
        (GOOD + "cases = 'x'\n", ":3: toy.cases: 'x' is not a list"),
        (GOOD + "count = 0\n", ":3: toy.count: 0 is not a whole number above 0"),
        (GOOD + "count = true\n", ":3: toy.count: True is not a whole number above 0"),
        (GOOD + "done = 1\n", ":3: toy.done: 1 is not true or false"),
        (GOOD + "more = 1\n", ":3: toy.more: 1 is not a table"),
        (GOOD + "more = { size = 'x' }\n", ":3: toy.more.size: 'x' is not a number"),
        ("toy = [{ id = 'a' }]\n", ": toy[1]: no key 'kind'"),
        ("toy = 3\n", ": toy: 3 is not a list"),
        ("toy = [", ": Invalid value (at end of document)"),
    ],
)
def test_violation_is_one_line_with_file_and_key(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "toys.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load(path, tables("toy", ENTRY))
    assert str(caught.value).startswith(f"{path}{said}")
    assert "\n" not in str(caught.value)


def test_file_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="x.toml: No such file or directory$"):
        load(tmp_path / "x.toml", ENTRY)
    (tmp_path / "x.toml").write_bytes(b"\xff")
    with pytest.raises(UserError, match="x.toml: 'utf-8' codec"):
        load(tmp_path / "x.toml", ENTRY)
