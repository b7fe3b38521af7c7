# SPDX-License-Identifier: Apache-2.0
"""Each mutation changes one place in the code, never a comment, a string or a type."""

from __future__ import annotations

import pytest

from ci.mutation.mutate import mutations

C = """// a == b
#define N (1 + 2)
/* x < y */
int f(int a)
{
	if (a == 3)
		g(a, "b < c");
	return a && true;
}
"""
PYTHON = '''def f(a: int | None, *rest: int) -> bool:
    """a == b"""
    for each in rest:
        if a is not None and each not in (1, -a):
            return each in rest or not a  # x == y
    return a == "1 < 2"
'''
SHELL = """# a && b
[ "$a" = 'x && y' ] && echo "p || q"
"""


def changes(name: str, text: str) -> list[tuple[int, str, str]]:
    return [(each.line(text), each.before, each.after) for each in mutations(name, text)]


def test_c_is_mutated_in_operators_constants_conditions_and_calls() -> None:
    assert changes("a.c", C) == [
        (6, "(a == 3)", "(!(a == 3))"),
        (6, "==", "!="),
        (6, "3", "4"),
        (7, 'g(a, "b < c");', ";"),
        (8, "&&", "||"),
        (8, "true", "false"),
    ]


def test_python_is_mutated_only_in_expressions() -> None:
    assert changes("a.py", PYTHON) == [
        (4, "and", "or"),
        (4, "1", "2"),
        (5, "in", "not in"),
        (5, "or", "and"),
        (5, "not ", ""),
        (6, "==", "!="),
    ]


def test_a_shell_script_is_mutated_outside_of_comments_and_strings() -> None:
    assert changes("ci/build", SHELL) == [(2, "=", "!="), (2, "&&", "||")]


@pytest.mark.parametrize(("name", "text"), [("a.c", C), ("a.py", PYTHON), ("build", SHELL)])
def test_mutation_changes_only_its_place(name: str, text: str) -> None:
    for each in mutations(name, text):
        changed = each.apply(text)
        assert changed != text
        assert changed.startswith(text[: each.begin] + each.after)
        assert changed.endswith(text[each.begin + len(each.before) :])
