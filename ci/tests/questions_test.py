# SPDX-License-Identifier: Apache-2.0
"""docs/questions.md has a question for each room, and each file, folder and command in its answers exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "questions.md"
ROOMS = (
    *("conformance", "oracle", "tools/profile", "tools/watch", "tools/repro"),
    *("driver", "kunit", "fuzz", "vm", "ci"),
)
PROGRAM = "build/guest/conformance/"
SECTION = re.compile(r"^## (\S+)\n\n\*\*([^\n]+\?)\*\*\n(.*?)(?=^## |\Z)", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
MAKE = re.compile(r"make ([a-z-]+)(?: [A-Z_]+=\S+)*")
PMUCONF = re.compile(r"pmuconf ([a-z]+)(?: ([a-z]+))?")
MODULE = re.compile(r"python3 -m ([\w.]+)(?: (--[a-z-]+)(?: [A-Z]+)?)?")
OPTION = re.compile(r"--[a-z-]+")
TARGET = re.compile(r"^([a-z-]+):(?!=)", re.M)
SUBCOMMAND = re.compile(r'add_subcommand\(\s*"(\w+)"')
NEW = re.compile(r'= add\(\s*"(\w+)"')
PLACEHOLDER = re.compile(r"<\w+>")


def sources(root: Path) -> dict[Path, str]:
    """The C++ files that can define options: main.cpp, and the command.cpp of each room."""
    paths = [root / "conformance" / "main.cpp"]
    for room in ("conformance", "tools"):
        paths += (root / room).glob("**/command.cpp")
    return {path: path.read_text() for path in paths if path.is_file()}


def is_make_target(name: str, root: Path) -> bool:
    return name in TARGET.findall((root / "Makefile").read_text())


def is_subcommand(name: str, what: str | None, root: Path) -> bool:
    """Whether `pmuconf name` exists; for `new`, also what follows."""
    texts = sources(root)
    if not any(name in SUBCOMMAND.findall(text) for text in texts.values()):
        return False
    new = next((text for path, text in texts.items() if path.parent.name == "scaffold"), "")
    return name != "new" or what is None or what in NEW.findall(new)


def is_module(name: str, option: str | None, root: Path) -> bool:
    """Whether `python3 -m name` can run, and has the option: a module, or a package with a main module."""
    path = root.joinpath(*name.split("."))
    files = [file for file in (path.with_suffix(".py"), path / "__main__.py") if file.is_file()]
    known = option in (None, "--help") or any(f'"{option}"' in f.read_text() for f in files)
    return bool(files) and known


def is_option(name: str, root: Path) -> bool:
    return any(f'"{name}"' in text for text in sources(root).values())


def is_path(name: str, root: Path) -> bool:
    """Whether the file exists, or the folder, whose name ends with '/'. `<word>` stands for any name."""
    found = list(root.glob(PLACEHOLDER.sub("*", name)))
    return any(path.is_dir() if name.endswith("/") else path.is_file() for path in found)


def exists(span: str, root: Path) -> bool:
    """Whether the file, folder or command in a code span exists."""
    words = span.removeprefix(PROGRAM)
    if make := MAKE.fullmatch(words):
        return is_make_target(make[1], root)
    if command := PMUCONF.fullmatch(words):
        return is_subcommand(command[1], command[2], root)
    if module := MODULE.fullmatch(words):
        return is_module(module[1], module[2], root)
    if OPTION.fullmatch(words):
        return is_option(words, root)
    return is_path(span, root)


def sections() -> dict[str, tuple[str, str]]:
    """The question and the answer of each room."""
    return {
        room: (question, answer) for room, question, answer in SECTION.findall(PAGE.read_text())
    }


def test_each_room_has_one_question_and_a_short_answer() -> None:
    assert tuple(sections()) == ROOMS
    for room, (_, answer) in sections().items():
        assert len(answer.strip().splitlines()) <= 3, room


@pytest.mark.parametrize("room", ROOMS)
def test_answer_names_existing_things(room: str) -> None:
    question, answer = sections()[room]
    named = SPAN.findall(question + answer)
    assert named
    assert [span for span in named if not exists(span, ROOT)] == []


@pytest.mark.parametrize("room", ROOMS)
def test_answer_names_a_file_of_its_room(room: str) -> None:
    assert any(span.startswith(f"{room}/") for span in SPAN.findall(sections()[room][1]))


def test_introduction_names_existing_things() -> None:
    introduction = PAGE.read_text().partition("\n## ")[0]
    assert [span for span in SPAN.findall(introduction) if not exists(span, ROOT)] == []


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path) -> Path:
    """A tree with one thing of each type."""
    files = {
        "Makefile": "SHELL := /bin/bash\nrun: deps ## runs\n",
        "conformance/main.cpp": 'app.add_subcommand("list", "x"); AddNew(&app);\n',
        "conformance/scaffold/command.cpp": 'app->add_subcommand("new", "");\n'
        'auto* const rule = add("rule", "x");\nrule->add_option("--why", why);\n',
        "box/__main__.py": "",
        "box/toy.py": "",
        "box/a_toy.c": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("span", "known"),
    [
        ("make run", True),
        ("make run CASE='X' KERNEL=6.1", True),
        ("make walk", False),
        ("make SHELL", False),
        ("pmuconf list", True),
        (f"{PROGRAM}pmuconf list", True),
        ("pmuconf lists", False),
        ("pmuconf new", True),
        ("pmuconf new rule", True),
        ("pmuconf new toy", False),
        ("python3 -m box", True),
        ("python3 -m box.toy", True),
        ("python3 -m box.toy --help", True),
        ("python3 -m box.toy --gone FILE", False),
        ("python3 -m conformance", False),
        ("python3 -m box.gone", False),
        ("--why", True),
        ("--how", False),
        ("box/", True),
        ("box/toy.py", True),
        ("box/<subject>_toy.c", True),
        ("box/<subject>_gone.c", False),
        ("box", False),
        ("box/toy.py/", False),
        ("some words", False),
    ],
)
def test_missing_thing_is_found(tree: Path, span: str, known: bool) -> None:
    assert exists(span, tree) == known
