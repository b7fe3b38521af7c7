# SPDX-License-Identifier: Apache-2.0
"""Patches as lists, git and vendors write them: encoded, with CRLF, with renames, as a series; and broken ones."""

from __future__ import annotations

import base64
import difflib
from pathlib import Path

import pytest

from review import examples
from review.__main__ import main

NAME = "drivers/perf/example.c"
CLEAN = examples.CLEAN.read_text("utf-8")
LOUD = CLEAN.replace('dev_dbg(ex->dev, "unknown', 'dev_err(ex->dev, "unknown')
FIRST = CLEAN.replace(
    "#include <linux/module.h>\n", "#include <linux/io.h>\n#include <linux/module.h>\n"
)
BOTH = FIRST.replace('dev_dbg(ex->dev, "unknown', 'dev_err(ex->dev, "unknown')
MAIL = "From: A Vendor <a@vendor.example>\nTo: one@example, two@example\nMessage-ID: <1@vendor.example>\n"
MAILBOX = "From 0123456789abcdef Mon Sep 17 00:00:00 2001\n"


def diff(before: str, after: str, old: str = f"a/{NAME}", new: str = f"b/{NAME}") -> str:
    """A patch as git prints it."""
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), old, new)
    return f"diff --git {old} {new}\n" + "".join(lines)


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path) -> Path:
    """A kernel tree with the driver without mistakes."""
    (tmp_path / "tree/drivers/perf").mkdir(parents=True)
    (tmp_path / "tree" / NAME).write_text(CLEAN, "utf-8")
    return tmp_path / "tree"


def line_of(text: str) -> int:
    """The line of the mistake in a source."""
    return text[: text.index('dev_err(ex->dev, "unknown')].count("\n") + 1


def encoded(body: str) -> str:
    """A mail whose body is encoded, and has CRLF."""
    text = base64.encodebytes(body.replace("\n", "\r\n").encode()).decode()
    kind = "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n"
    return f"{MAIL}Subject: [PATCH] loud\n{kind}\n{text}"


RENAMED = (
    "diff --git a/drivers/perf/example.c b/drivers/perf/other.c\nsimilarity index 99%\n"
    "rename from drivers/perf/example.c\nrename to drivers/perf/other.c\n"
    + diff(CLEAN, LOUD, new="b/drivers/perf/other.c").partition("\n")[2]
)


@pytest.mark.parametrize(
    "patch, name, number",
    [
        (f"commit 12\nAuthor: A\n\n    loud\n\n{diff(CLEAN, LOUD)}", NAME, line_of(LOUD)),
        (diff(CLEAN, LOUD, NAME, NAME), NAME, line_of(LOUD)),
        (encoded(diff(CLEAN, LOUD)), NAME, line_of(LOUD)),
        (diff(CLEAN, LOUD).replace("\n", "\r\n"), NAME, line_of(LOUD)),
        (RENAMED, "drivers/perf/other.c", line_of(LOUD)),
        (
            # The second patch moves the line that the first one adds.
            f"{MAILBOX}{MAIL}Subject: 1\n\n{diff(CLEAN, LOUD)}"
            f"\n{MAILBOX}{MAIL}Subject: 2\n\n{diff(LOUD, BOTH)}",
            NAME,
            line_of(BOTH),
        ),
    ],
    ids=["git-show", "no-prefix", "base64", "crlf", "rename", "series"],
)
def test_patch_is_read_in_each_form(
    patch: str, name: str, number: int, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tree.parent / "a.patch"
    file.write_bytes(patch.encode())
    assert main([str(file), "--tree", str(tree)]) == 1
    assert capsys.readouterr().out.startswith(f"{name}:{number}: BREACH user-print")


def test_patch_with_other_files_needs_only_the_sources_to_fit(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = diff("absent\n", "new\n", "a/MAINTAINERS", "b/MAINTAINERS")
    (tree.parent / "a.patch").write_text(other + diff(CLEAN, LOUD))
    assert main([str(tree.parent / "a.patch"), "--tree", str(tree)]) == 1
    assert "1 file: 1 BREACH" in capsys.readouterr().out


def test_patch_of_a_helper_is_reviewed_with_the_drivers_that_use_it(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    helper = "int example_helper(struct ex_pmu *ex)\n{\n\treturn 0;\n}\n"
    loud = helper.replace("\treturn", '\tdev_err(ex->dev, "bad event");\n\treturn')
    driver = CLEAN.replace("	event->hw.idx = -1;\n", "	event->hw.idx = -1;\n	example_helper(ex);\n")
    (tree / NAME).write_text(driver, "utf-8")
    (tree / "drivers/perf/example_helper.c").write_text(helper, "utf-8")
    name = "drivers/perf/example_helper.c"
    (tree.parent / "a.patch").write_text(diff(helper, loud, f"a/{name}", f"b/{name}"))
    assert main([str(tree.parent / "a.patch"), "--tree", str(tree)]) == 1
    assert capsys.readouterr().out.startswith(f"{name}:3: BREACH user-print")


def test_reply_to_a_series_answers_the_mail_that_has_the_mistake(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree.parent / "1.patch").write_text(f"{MAIL}Subject: [PATCH 1/2] io\n\n{diff(CLEAN, FIRST)}")
    second = encoded(diff(FIRST, BOTH)).replace("[PATCH]", "[PATCH 2/2]")
    (tree.parent / "2.patch").write_text(second)
    words = [str(tree.parent / "1.patch"), str(tree.parent / "2.patch"), "--tree", str(tree)]
    assert main([*words, "--reply"]) == 1
    out = capsys.readouterr().out
    assert out.startswith(
        "Subject: Re: [PATCH 2/2] loud\nTo: A Vendor <a@vendor.example>\n"
        "Cc: one@example,\n two@example\nIn-Reply-To: <1@vendor.example>\n"
    )
    assert out.count("wrote:") == 1
    assert '> +\t\tdev_err(ex->dev, "unknown event\\n");\n\n[BREACH, SRC-007]' in out


def test_patch_without_a_mistake_has_no_reply(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree.parent / "a.patch").write_text(diff(CLEAN, FIRST))
    assert main([str(tree.parent / "a.patch"), "--tree", str(tree), "--reply"]) == 0
    assert capsys.readouterr().out == "No finding is on a line that the patch adds.\n"


def test_letters_of_another_encoding_stay(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = CLEAN.encode().replace(b"is not built", b"is not b\xfcilt")
    (tree / NAME).write_bytes(old)
    text = diff(CLEAN, LOUD).encode() + b"-- \n\xe9\n"
    (tree.parent / "a.patch").write_bytes(text.replace(b"is not built", b"is not b\xfcilt"))
    assert main([str(tree.parent / "a.patch"), "--tree", str(tree), "--reply"]) == 1
    assert "[BREACH, SRC-007]" in capsys.readouterr().out


NEW = diff("", LOUD, "/dev/null", "b/drivers/perf/new.c")
DOCUMENT = diff("a\n", "b\n", "a/Documentation/a.rst", "b/Documentation/a.rst")


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "no patch"),
        (bytes(range(256)), "no patch"),
        (diff(LOUD, CLEAN).encode(), "previously applied"),
        (diff(FIRST, LOUD).encode(), "does not apply"),
        ("".join(NEW.splitlines(True)[:-3]).encode(), "does not apply"),
        (diff(CLEAN, LOUD).replace("dev_err(", "dev_err\n(").encode(), "malformed patch"),
        (diff("", LOUD, "/dev/null").encode(), "already exists"),
        (DOCUMENT.encode(), "it changes no line of a C source"),
        (
            diff("", "int a;\n", "/dev/null", "b/lib/a.c").encode(),
            "no source that it changes belongs to a PMU",
        ),
    ],
    ids=[
        "empty",
        "binary",
        "applied",
        "foreign",
        "cut",
        "wrapped",
        "exists",
        "document",
        "library",
    ],
)
def test_patch_that_cannot_be_reviewed_is_a_one_line_error(
    data: bytes, message: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tree.parent / "a.patch"
    file.write_bytes(data)
    assert main([str(file), "--tree", str(tree)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "a.patch" in line and message in line


def test_absent_patch_and_absent_tree_are_one_line_errors(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree.parent / "a.patch").write_text(diff(CLEAN, LOUD))
    for words, message in (
        (["absent.patch", "--tree", str(tree)], "No such file"),
        ([str(tree.parent / "a.patch"), "--tree", "absent"], "absent: no folder"),
        ([str(tree.parent / "a.patch"), str(tree), "--tree", str(tree)], "name one of them"),
    ):
        assert main(words) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert message in line


def test_patch_that_removes_a_check_is_commented_where_it_does(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    less = CLEAN.replace("		.module = THIS_MODULE,\n", "")
    (tree.parent / "a.patch").write_text(diff(CLEAN, less))
    words = [str(tree.parent / "a.patch"), "--tree", str(tree)]
    assert main(words) == 1
    assert "BREACH module-owner" in capsys.readouterr().out
    assert main([*words, "--reply"]) == 1
    out = capsys.readouterr().out
    assert "> -\t\t.module = THIS_MODULE,\n\n[BREACH, DRC-009, HOT-009]" in out


def test_finding_that_was_there_before_is_not_the_patch_s(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = CLEAN.replace("		.module = THIS_MODULE,\n", "")
    (tree / NAME).write_text(old, "utf-8")
    new = old.replace("#include <linux/module.h>\n", "")
    (tree.parent / "a.patch").write_text(diff(old, new))
    assert main([str(tree.parent / "a.patch"), "--tree", str(tree)]) == 0
    assert "nothing found" in capsys.readouterr().out
