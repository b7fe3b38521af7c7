# SPDX-License-Identifier: Apache-2.0
"""A corpus has exactly its inputs, and a damaged archive is an error."""

from __future__ import annotations

import os
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz import corpora, run

LIMIT_S = 60
INPUTS = {corpora.name_of(data): data for data in (b"", b"one", b"\0\xff" * 40)}


@pytest.fixture(name="corpus")
def fixture_corpus(tmp_path: Path) -> Path:
    """The corpus of the harness `toy`: three inputs in the archive, and a regression input."""
    folder = tmp_path / "corpus"
    corpora.add("toy", INPUTS.values(), folder)
    corpora.fill(folder / "toy", {"named": b"named"})
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def unpacked(corpus: Path) -> Path:
    return corpora.unpacked("toy", corpus, corpus.parent / "out")


def test_archive_and_regression_inputs_are_unpacked(corpus: Path) -> None:
    assert contents(unpacked(corpus)) == INPUTS | {"named": b"named"}


def identity(path: Path) -> tuple[int, int]:
    """Inode and time of change, which differ for a replaced or changed file. Reading changes the time of access."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def test_changed_corpus_is_unpacked_again(corpus: Path) -> None:
    first = identity(unpacked(corpus))
    assert identity(unpacked(corpus)) == first
    assert corpora.add("toy", [b"two"], corpus) == 1
    (corpus / "toy" / "named").unlink()
    expected = INPUTS | {corpora.name_of(b"two"): b"two"}
    assert contents(unpacked(corpus)) == expected


@pytest.mark.parametrize("change", ["missing", "other", "additional", "folder"])
def test_changed_folder_of_inputs_is_replaced(corpus: Path, change: str) -> None:
    folder = unpacked(corpus)
    if change == "missing":
        (folder / "named").unlink()
    elif change == "other":
        (folder / "named").write_bytes(b"other")
    elif change == "additional":
        (folder / "additional").write_bytes(b"")
    else:
        (folder / "additional").mkdir()
    assert contents(unpacked(corpus)) == INPUTS | {"named": b"named"}
    assert {path.name for path in folder.parent.iterdir()} == {"toy", "toy.lock"}


def test_archive_depends_only_on_the_inputs(corpus: Path) -> None:
    data = corpora.archive_of("toy", corpus).read_bytes()
    for other in reversed(INPUTS.values()):
        corpora.add("other", [other], corpus)
    assert corpora.archive_of("other", corpus).read_bytes() == data


def test_known_inputs_are_not_added(corpus: Path) -> None:
    archive = corpora.archive_of("toy", corpus)
    before = identity(archive)
    assert corpora.add("toy", [b"one", b"named"], corpus) == 0
    assert identity(archive) == before


def test_archive_is_replaced_as_a_whole(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = corpora.archive_of("toy", corpus)
    before = archive.read_bytes()

    def interrupt(_from: object, _to: object) -> None:
        assert archive.read_bytes() == before
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", interrupt)
    with pytest.raises(
        corpora.CorpusError, match="toy.zip: cannot write to .*: No space left on device$"
    ):
        corpora.add("toy", [b"two"], corpus)
    assert archive.read_bytes() == before
    assert {path.name for path in corpus.iterdir()} == {"toy", "toy.zip"}


def test_damage_of_any_byte_is_an_error(corpus: Path) -> None:
    archive = corpora.archive_of("toy", corpus)
    data = archive.read_bytes()
    for place, value in enumerate(data):
        for flipped in (value ^ 1, value ^ 0x80, value ^ 0xFF):
            archive.write_bytes(data[:place] + bytes([flipped]) + data[place + 1 :])
            with pytest.raises(corpora.CorpusError) as raised:
                corpora.archived(archive)
            assert str(archive) in str(raised.value) and "\n" not in str(raised.value)


def test_truncated_archive_is_an_error(corpus: Path) -> None:
    archive = corpora.archive_of("toy", corpus)
    data = archive.read_bytes()
    for size in range(len(data)):
        archive.write_bytes(data[:size])
        with pytest.raises(corpora.CorpusError, match="toy.zip: "):
            corpora.archived(archive)


@pytest.mark.parametrize("name", ["../outside", "/outside", "folder/name", "..", "", "a\nb"])
def test_entry_outside_of_the_folder_is_an_error(corpus: Path, name: str) -> None:
    with zipfile.ZipFile(corpora.archive_of("toy", corpus), "a") as archive:
        archive.writestr(zipfile.ZipInfo(name), b"x")
    with pytest.raises(corpora.CorpusError) as raised:
        unpacked(corpus)
    said = str(raised.value)
    assert said.endswith(f"toy.zip: unexpected entry {name!r}: a name must be a SHA-1")
    assert "\n" not in said
    assert not (corpus.parent / "out").exists()


def test_input_with_a_wrong_name_is_an_error(corpus: Path) -> None:
    name = corpora.name_of(b"two")
    corpora.archive_of("toy", corpus).write_bytes(corpora.packed({name: b"three"}))
    with pytest.raises(corpora.CorpusError, match=f"content of {name} does not have this SHA-1"):
        corpora.inputs("toy", corpus)


def test_compressed_input_is_an_error(corpus: Path) -> None:
    with zipfile.ZipFile(corpora.archive_of("toy", corpus), "a") as archive:
        archive.writestr(corpora.name_of(b"x" * 99), b"x" * 99, zipfile.ZIP_DEFLATED)
    with pytest.raises(corpora.CorpusError, match="is compressed: it must be stored"):
        corpora.inputs("toy", corpus)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no archive", "toy.zip: damaged archive: File is not a zip file"),
        (None, "toy.zip: no such archive: "),
    ],
)
@pytest.mark.parametrize("command", [corpora.main, run.main])
def test_unusable_archive_is_one_line_and_status_2(
    corpus: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: Callable[[list[str]], int],
    content: bytes | None,
    said: str,
) -> None:
    archive = corpora.archive_of("toy", corpus)
    archive.unlink()
    if content is not None:
        archive.write_bytes(content)
    monkeypatch.setattr(corpora, "unpacked", lambda subject: corpora.inputs("toy", corpus))
    assert command(["unpack", "toy"] if command is corpora.main else []) == 2
    out, error = capsys.readouterr()
    assert said in error and (out, error.count("\n")) == ("", 1)


def command_line(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the program in the checkout."""
    return subprocess.run(
        ["/usr/bin/python3", "-B", "-m", "fuzz.corpora", *words],
        cwd=run.ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


def test_replay_returns_the_status_of_the_harness(tmp_path: Path) -> None:
    harness = tmp_path / "harness"
    harness.write_text('#!/bin/sh\necho "$1"; ls "$2"; exit 77\n', encoding="utf-8")
    harness.chmod(0o755)
    done = command_line("replay", "period", str(harness))
    first, *names = done.stdout.splitlines()
    assert (done.returncode, first, done.stderr) == (77, "-runs=0", "")
    assert sorted(names) == sorted(corpora.inputs("period"))
    missing = command_line("replay", "period", str(tmp_path / "missing"))
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == f"corpora: {tmp_path}/missing: No such file or directory\n"


def test_list_prints_each_input() -> None:
    lines = command_line("list", "period").stdout.splitlines()
    inputs = corpora.inputs("period")
    assert lines == [f"period/{name} {len(inputs[name])}" for name in sorted(inputs)]


def test_inputs_of_an_unknown_harness_are_not_added() -> None:
    done = command_line("add", "unknown", "README.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("/fuzz/unknown_fuzzer.cpp: no such harness\n")


def test_each_corpus_belongs_to_a_harness_and_has_named_regression_inputs() -> None:
    assert corpora.subjects() == sorted(path.stem for path in corpora.CORPUS.glob("*.zip"))
    for subject in corpora.subjects():
        named = corpora.regression(subject)
        assert not [name for name in named if corpora.ARCHIVED.fullmatch(name)]
        stored = corpora.archived(corpora.archive_of(subject))
        assert not [name for name in named if corpora.name_of(named[name]) in stored]
