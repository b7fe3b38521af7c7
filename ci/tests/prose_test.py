# SPDX-License-Identifier: Apache-2.0
"""The prose linter reports what docs/style.md refuses, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from ci import driver_page, lint
from ci.checks import prose
from ci.checks.passages import Passage, fields, passages
from vm.errors import PmuvmError

PAGE = (prose.ROOT / prose.STYLE).read_text(encoding="utf-8")
TABLE = tomllib.loads((prose.TOOL / "words.toml").read_text(encoding="utf-8"))
WORDS = [
    ("It keeps the rule.", "It keeps the value."),
    ("A rule is kept.", "A value is kept."),
    ("The case holds a rule.", "The case holds a lock."),
    ("It told us.", "It is untold."),
    ("It says so.", "It is an essay."),
    ("What is left is small.", "The left side is small."),
    ("It is a part of the night.", "It is a part of the driver."),
    ("It is a share of the run.", "They share a page."),
    ("It is beside the file.", "Besides, it is a file."),
    ("The file lies here.", "The file relies on it."),
    ("It is an obstacle.", "It is a skip reason."),
    ("It is a cell of the matrix.", "It is a cell of the table."),
    ("It is a hole in the matrix.", "It is a hole in the table."),
    ("They are kinds of core.", "They are kinds of events."),
    ("It looks at the file.", "It looks up the file."),
    ("It hears an interrupt.", "The ear is here."),
    ("They are not there.", "They are not their files."),
    ("It goes on.", "It goes on the CPU."),
    ("It is a planted bug.", "It is a bug."),
    ("It is for whoever writes.", "It is for writers."),
]
"""For each entry of words.toml, in order, a sentence with a finding and one without."""


def findings(text: str, file: str = "a.md", document: bool = True) -> list[prose.Finding]:
    return prose.lint([Passage(file, 1, text, document)], PAGE)


def rules(text: str, file: str = "a.md", document: bool = True) -> list[str]:
    return [finding.rule for finding in findings(text, file, document)]


def sentence(words: int) -> str:
    return "Word" + "\nword" * (words - 1) + "."


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        (sentence(40), False),
        (sentence(41), True),
        (f"{sentence(40)} {sentence(40)}", False),
        (f"- {sentence(41)}".replace("\n", "\n  "), True),
        (f"# {sentence(41)}".replace("\n", " "), True),
        (f"| {sentence(41)} |\n|---|".replace("\nw", " w"), True),
        (sentence(41).replace("word\nword", "`word word`", 1), False),
        (sentence(41).replace("word", "word, e.g.", 1).replace("\nword", "", 1), True),
        (sentence(41).replace("word", "word -", 1).replace("\nword", "", 1), False),
        (f"```\n{sentence(41)}\n```", False),
    ],
)
def test_a_sentence_has_at_most_40_words(text: str, broken: bool) -> None:
    assert ("sentence-length" in rules(text)) == broken


@pytest.mark.parametrize(
    ("text", "broken"),
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
        ("Offsets, etc. What counts is time.", True),
        ("Offsets, i.e. What counts.", False),
        ("Offsets count. Whatsoever counts.", False),
        ("| what |\n|---|\n| a |", False),
        ("`What counts` is text.", False),
    ],
)
def test_no_sentence_begins_with_what_or_of(text: str, broken: bool) -> None:
    assert ("sentence-start" in rules(text)) == broken


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("a " * 59 + "aaa", True),
        ("a " * 59 + "aa", False),
        ("- " + "a" * 119, False),
        ("    " + "a " * 70, False),
        ("```\n" + "a " * 70 + "\n```", False),
        ("| a |\n|---|\n| " + "a " * 70 + " |", False),
        ("[a]\n\n[a]: " + "b" * 120, False),
    ],
)
def test_a_line_of_prose_has_at_most_120_characters(text: str, broken: bool) -> None:
    assert len("a " * 59 + "aa") == 120
    assert ("line-length" in rules(text)) == broken


def test_the_lines_of_a_field_may_be_longer() -> None:
    assert rules("a " * 70, "a.toml", document=False) == ["sentence-length"]


@pytest.mark.parametrize(("length", "broken"), [(200, False), (201, True)])
def test_a_table_cell_has_at_most_200_characters(length: int, broken: bool) -> None:
    text = f"| a | b |\n|---|---|\n| b | {'c' * length} |"
    assert ("cell-length" in rules(text)) == broken


def test_phrases_of_the_style_page_are_refused_with_their_replacement() -> None:
    found = findings("Memory is lost.\nIt is lost\nmemory, `lost memory`.")
    assert list(map(str, found)) == ['a.md:2: words: "lost memory"; write: memory leak']
    assert rules("- > It is lost\n  > memory.") == ["words"]
    assert not rules("Memory leaks.")


def test_each_pattern_matches_only_its_terms() -> None:
    entries = prose.words(PAGE, (prose.TOOL / "words.toml").read_text(encoding="utf-8"))
    entries = entries[len(entries) - len(TABLE["word"]) :]
    texts = [Passage(f"{n:02}", 1, text) for n, pair in enumerate(WORDS) for text in pair[:1]]
    refused = {(finding.file, finding.message) for finding in prose.lint(texts, PAGE)}
    for (number, entry), _ in zip(enumerate(entries), WORDS, strict=True):
        message = f"write: {entry['instead']}"
        assert any(f"{number:02}" == file and message in text for file, text in refused), entry
    spared = prose.lint([Passage(good, 1, good) for _, good in WORDS], PAGE)
    assert not [finding for finding in spared if finding.rule == "words"]


def test_every_term_of_the_style_page_is_checked_or_named_as_unchecked() -> None:
    covered = {text for entry in TABLE["word"] for text in entry.get("terms", [])}
    known = {term.text: term.literal or term.text in covered for term in prose.terms(PAGE)}
    assert {text for text, checked in known.items() if not checked} == TABLE["unchecked"].keys()
    assert {"lost memory", "but for"} <= {term.text for term in prose.terms(PAGE) if term.literal}


def test_a_phrase_with_a_qualifier_is_not_searched_for() -> None:
    page = "## Terms to use\n\n| write | not |\n|---|---|\n| a b | c d (of e) |\n| f | g h, i |\n"
    assert [(term.text, term.literal) for term in prose.terms(page)] == [
        ("c d", False),
        ("g h", True),
        ("i", False),
    ]


def test_terms_have_the_replacement_of_their_row_or_of_their_place_in_it() -> None:
    better = {term.text: term.instead for term in prose.terms(PAGE)}
    assert better["cell"] == "job" and better["hole"] == "exclusion"
    assert better["said"] == "output, print, message"


def test_a_pattern_for_a_term_that_the_page_does_not_have_is_an_error() -> None:
    table = "[[word]]\nterms = ['gone']\npattern = 'gone'\n"
    with pytest.raises(PmuvmError, match="docs/style.md has no term 'gone'"):
        prose.words(PAGE, table)
    with pytest.raises(PmuvmError, match="no section"):
        prose.terms("# Style\n")


def test_only_the_tables_of_the_style_page_may_show_bad_wording() -> None:
    table = "| not |\n|---|\n| What is told |"
    assert rules(table) == ["sentence-start", "words"]
    assert not rules(table, prose.STYLE)
    assert rules("What is told is wrong.", prose.STYLE) == ["sentence-start", "words"]


def test_a_finding_names_the_line_of_its_word() -> None:
    text = "# Title\n\n- one\n  > two `a`\n  > [three](b.md) *told*\n"
    assert [finding.line for finding in findings(text)] == [5]
    assert prose.lint([Passage("a.toml", 7, "One\ntold.")], PAGE)[0].line == 8


FIELDS = '''\
[[rule]]
id = "told"
text    = "A \\"text\\"."
why = """
One
two."""
reason = """Three
four."""
'''


def test_the_texts_of_rules_and_waivers_are_fields() -> None:
    found = [(passage.line, passage.text) for passage in fields("a.toml", FIELDS)]
    assert found == [(3, 'A "text".'), (5, "One\ntwo."), (7, "Three\nfour.")]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("conformance/rules/A.toml", 3),
        ("conformance/waivers/a.toml", 3),
        ("conformance/untested.toml", 3),
        ("driver/mutants/exempt_rules.toml", 3),
        ("conformance/targets/a.toml", 0),
        ("docs/a.md", 1),
        ("ci/a.py", 0),
    ],
)
def test_documents_and_texts_are_linted(tmp_path: Path, name: str, count: int) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(FIELDS, encoding="utf-8")
    assert len(passages(tmp_path, name)) == count


MUTANT = """\
Id: told
Rules: CNT-001

The driver
told.

--- a/driver/told.c
+++ b/driver/told.c
@@ -1,1 +1,1 @@
-told
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("driver/mutants/counters/C01-a.patch", MUTANT, [(4, "The driver\ntold.")]),
        ("driver/mutants/counters/C01-a.patch", MUTANT.replace("The driver\ntold.\n\n", ""), []),
        ("driver/a.patch", MUTANT, []),
    ],
)
def test_the_description_of_a_mutant_is_linted_without_its_header_and_diff(
    tmp_path: Path, name: str, text: str, expected: list[tuple[int, str]]
) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = [(passage.line, passage.text) for passage in passages(tmp_path, name)]
    assert found == expected


def test_a_finding_in_the_description_of_a_mutant_names_its_line(tmp_path: Path) -> None:
    name = "driver/mutants/counters/C01-a.patch"
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(MUTANT, encoding="utf-8")
    found = prose.lint(passages(tmp_path, name), PAGE)
    assert [(finding.line, finding.rule) for finding in found] == [(5, "words")]


PYTHON = '''\
#!/usr/bin/python3
# SPDX-License-Identifier: X
"""Module.

    Below.
"""
A = "# no comment"  # Beside code.
"""Variable."""


def f() -> str:
    """
    Function.
    """
    # One
    # two.

    # Three.
    return """no docstring"""
'''
C = """\
/* SPDX-License-Identifier: X */
// One
// two.
int a; // Three.
/*
 * Four
 *	five.
 */
char *b = "// no comment /*", c = '"'; /* Six. */
"""
SHELL = """\
#!/bin/sh
# One
# two.
echo '# three' # four
  # shellcheck disable=SC1
  # Five.
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.py",
            PYTHON,
            [
                (3, "Module.\n\nBelow."),
                (7, "Beside code."),
                (8, "Variable."),
                (13, "Function."),
                (15, "One\ntwo."),
                (18, "Three."),
            ],
        ),
        ("a.h", C, [(2, "One\ntwo."), (4, "Three."), (5, "\nFour\nfive.\n"), (9, "Six.")]),
        ("a.sh", SHELL, [(2, "One\ntwo."), (6, "Five.")]),
        ("a", SHELL, [(2, "One\ntwo."), (6, "Five.")]),
        ("a.md", SHELL, []),
    ],
)
def test_docstrings_and_comments_are_passages(
    tmp_path: Path, name: str, text: str, expected: list[tuple[int, str]]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = [(passage.line, passage.text) for passage in passages(tmp_path, name, comments=True)]
    assert sorted(found) == expected


def test_the_text_of_the_generated_page_is_clean() -> None:
    results = {
        "target": "software",
        "release": "6.12.1",
        "arch": "x86_64",
        "rules": [{"id": "CNT-001", "result": "PASSED"}, {"id": "CNT-002", "result": "WAIVED"}],
        "cases": [{"result": "WAIVED", "rules": ["CNT-002"], "message": "waiver W-1: it"}],
    }
    known = {"W-1": driver_page.Waiver("W-1", "The kernel is wrong", "a:b")}
    for waivers in (known, dict[str, driver_page.Waiver]()):
        text = driver_page.page([driver_page.column(results)], waivers, driver_page.ROOT)
        assert "W-1" in text and not findings(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two files that have findings."""
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "style.md").write_text(PAGE, encoding="utf-8")
    (root / "a.md").write_text("It\ntold.\n", encoding="utf-8")
    (root / "a.sh").write_text("# It told.\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


def test_all_documents_and_comments_are_linted(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prose.main(["--root", str(project)]) == 1
    expected = [f'{place}: words: "told"; write: report, return' for place in ("a.md:2", "a.sh:1")]
    assert capsys.readouterr().out == "\n".join([*expected, "findings: 2\n"])
    files = [project / "a.md", project / "a.sh"]
    assert prose.findings(project, files) == expected


def test_single_files_are_linted_and_findings_counted_on_request(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert prose.main(["--root", str(project), "docs/style.md"]) == 0
    monkeypatch.chdir(project / "docs")
    assert prose.main(["--root", str(project), "../a.md"]) == 1
    assert prose.main(["--root", str(project), "none.md"]) == 2
    assert "none.md: not a file of" in capsys.readouterr().err
    assert prose.main(["--root", str(project), "--counts"]) == 1
    assert capsys.readouterr().out == "     1 a.md\n     1 a.sh\n     2 words\nfindings: 2\n"


def test_a_project_without_a_style_page_is_one_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / prose.STYLE).unlink()
    assert prose.main(["--root", str(project), "a.md"]) == 2
    assert "style.md: No such file" in capsys.readouterr().err
    assert "No such file" in prose.findings(project, [project / "a.md"])[0]


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a fake npm that the test writes. The cache is empty."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    path = tmp_path / "npm"
    path.touch(0o755)
    return path


def entries(tmp_path: Path) -> list[str]:
    """The names in the folder of installed packages, except locks."""
    folder = tmp_path / "cache" / "pmuconf" / "npm"
    return [path.name for path in folder.iterdir() if path.suffix != ".lock"]


def test_packages_are_installed_once_for_each_lock_file(npm: Path, tmp_path: Path) -> None:
    npm.write_text("#!/bin/sh\n[ $1 = ci ] && [ -s package-lock.json ] && mkdir node_modules\n")
    first = prose.modules()
    assert first.is_dir() and entries(tmp_path) == [first.parent.name]
    npm.write_text("#!/bin/sh\nexit 1\n")
    assert prose.modules() == first
    other = tmp_path / "tool"
    shutil.copytree(prose.TOOL, other)
    (other / "package-lock.json").write_text("{}")
    with pytest.raises(PmuvmError, match="status 1"):
        prose.modules(other)


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("mkdir node_modules; exit 3", "failed: status 3"),
        ("echo 'npm error code EUSAGE' >&2; exit 1", "failed: code EUSAGE"),
        ("echo 'npm ERR! code ENOTFOUND' >&2; exit 1", "cannot reach its registry"),
        ("exec sleep 60", "did not end within 0.2 s"),
    ],
)
def test_a_failed_installation_is_one_line_and_leaves_nothing(
    npm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    monkeypatch.setattr("ci.npm.INSTALL_S", 0.2 if "sleep" in script else 30)
    npm.write_text(f"#!/bin/sh\n{script}\n")
    with pytest.raises(PmuvmError, match=message) as error:
        prose.modules()
    assert "\n" not in str(error.value) and not entries(tmp_path)


def test_a_missing_program_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert prose.main(["docs/style.md"]) == 2
    assert "no program node" in capsys.readouterr().err
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert prose.main(["--install"]) == 2
    assert "no program npm" in capsys.readouterr().err


def test_an_error_of_the_node_program_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prose, "words", lambda *_: [{"pattern": "(", "instead": ""}])
    with pytest.raises(PmuvmError, match="ci/prose/lint.js: .*regular expression"):
        findings("Text.")


def test_versions_are_exact_and_the_lock_file_names_no_registry() -> None:
    package = json.loads((prose.TOOL / "package.json").read_text(encoding="utf-8"))
    lock = json.loads((prose.TOOL / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert lock[""]["dependencies"] == package["dependencies"]
    for name, version in package["dependencies"].items():
        assert lock[f"node_modules/{name}"]["version"] == version
    assert all("integrity" in entry for name, entry in lock.items() if name)
    assert not [name for name, entry in lock.items() if "resolved" in entry]


@pytest.mark.parametrize(("present", "wanted"), [((), {"nodejs", "npm"}), (("node", "npm"), set())])
def test_packages_of_node_are_installed_where_it_is_missing(
    tmp_path: Path, present: tuple[str, ...], wanted: set[str]
) -> None:
    for name in ("bash", "id", "mktemp", "rm", "env", "grep"):
        (tmp_path / name).symlink_to(shutil.which(name) or name)
    for name in ("dpkg-query", "apt-get", "sudo", *present):
        (tmp_path / name).write_text("#!/bin/bash\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "sudo").write_text('#!/bin/bash\n"$@"\n')
    done = subprocess.run(
        [str(tmp_path / "bash"), str(prose.ROOT / "ci" / "install-deps")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    listed = set(done.stderr.split())
    assert "strace" in listed and listed & {"nodejs", "npm"} == wanted


def test_the_linter_is_a_step_of_lint() -> None:
    assert "prose" in lint.step_names()
