# SPDX-License-Identifier: Apache-2.0
"""The corpora of the harnesses: regression inputs as files, and all other inputs in one archive for each harness.

A regression input is fuzz/corpus/HARNESS/NAME. The archive is fuzz/corpus/HARNESS.zip. Its entries are not compressed,
so the same inputs give the same bytes on each machine, and git stores only the difference to the previous version.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import io
import os
import re
import shutil
import struct
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "fuzz" / "corpus"
UNPACKED = ROOT / "build" / "fuzz" / "corpus"
DATED = (1980, 1, 1, 0, 0, 0)
UNIX = 3
ARCHIVED = re.compile(r"[0-9a-f]{40}")
"""The name of an input in an archive: the SHA-1 of its content, as libFuzzer names it."""
DAMAGE = (zipfile.BadZipFile, struct.error, EOFError, ValueError, RuntimeError)


class CorpusError(Exception):
    """A corpus cannot be read or written. The text is one line with the file."""


def subjects(fuzz: Path = CORPUS.parent) -> list[str]:
    """All harnesses, from their source files. The one without code under test has no corpus."""
    names = {path.name.removesuffix("_fuzzer.cpp") for path in fuzz.glob("*_fuzzer.cpp")}
    return sorted(names - {"empty"})


def archive_of(subject: str, corpus: Path = CORPUS) -> Path:
    """The path of a harness's archive."""
    return corpus / f"{subject}.zip"


def name_of(data: bytes) -> str:
    """The name of an input in an archive."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def packed(inputs: Mapping[str, bytes]) -> bytes:
    """The archive of these inputs. It depends on their names and contents alone."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in sorted(inputs):
            entry = zipfile.ZipInfo(name, DATED)
            entry.create_system = UNIX
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, inputs[name], zipfile.ZIP_STORED)
    return made.getvalue()


def archived(path: Path) -> dict[str, bytes]:
    """The inputs of an archive, by name. CorpusError unless it has exactly the bytes that `add` writes."""
    found: dict[str, bytes] = {}
    try:
        data = path.read_bytes()
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                name = entry.orig_filename
                if not ARCHIVED.fullmatch(name):
                    raise CorpusError(f"{path}: unexpected entry {name!r}: a name must be a SHA-1")
                if entry.compress_type != zipfile.ZIP_STORED:
                    raise CorpusError(f"{path}: {name} is compressed: it must be stored")
                found[name] = archive.read(entry)
                if name_of(found[name]) != name:
                    raise CorpusError(f"{path}: the content of {name} does not have this SHA-1")
    except FileNotFoundError as error:
        made = f"`python3 -m fuzz.corpora add {path.stem} FILE` creates it"
        raise CorpusError(f"{path}: no such archive: {made}") from error
    except OSError as error:
        raise CorpusError(f"{path}: {error.strerror or error}") from error
    except DAMAGE as error:
        raise CorpusError(f"{path}: damaged archive: {error}") from error
    # Otherwise a damaged table of contents could hide inputs.
    if packed(found) != data:
        raise CorpusError(f"{path}: damaged, or not written by `python3 -m fuzz.corpora add`")
    return found


def regression(subject: str, corpus: Path = CORPUS) -> dict[str, bytes]:
    """The regression inputs of a harness, by name. There may be none."""
    try:
        folder = corpus / subject
        files = sorted(folder.iterdir()) if folder.is_dir() else []
        return {path.name: path.read_bytes() for path in files}
    except OSError as error:
        raise CorpusError(f"{error.filename}: {error.strerror}") from error


def inputs(subject: str, corpus: Path = CORPUS) -> dict[str, bytes]:
    """All inputs of a harness, by name."""
    return archived(archive_of(subject, corpus)) | regression(subject, corpus)


def fill(folder: Path, found: Mapping[str, bytes]) -> Path:
    """Writes inputs to a folder, which is created. Returns the folder."""
    folder.mkdir(parents=True)
    for name, data in found.items():
        (folder / name).write_bytes(data)
    return folder


def _has(folder: Path, found: Mapping[str, bytes]) -> bool:
    """Whether a folder has exactly these inputs."""
    try:
        return found == {path.name: path.read_bytes() for path in folder.iterdir()}
    except OSError:
        return False


def unpacked(subject: str, corpus: Path = CORPUS, out: Path = UNPACKED) -> Path:
    """A folder with exactly the inputs of a harness. It is written only if its names or contents differ from them."""
    found = inputs(subject, corpus)
    final = out / subject
    try:
        out.mkdir(parents=True, exist_ok=True)
        with (out / f"{subject}.lock").open("w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _has(final, found):
                with tempfile.TemporaryDirectory(dir=out, prefix=f".{subject}.") as folder:
                    made = fill(Path(folder) / subject, found)
                    if final.exists():
                        shutil.rmtree(final)
                    made.rename(final)
    except OSError as error:
        raise CorpusError(f"{final}: {error.strerror or error}") from error
    return final


def add(subject: str, found: Iterable[bytes], corpus: Path = CORPUS) -> int:
    """Adds inputs to the archive of a harness, which may be absent. Returns the number of inputs that are new.

    Readers see the previous or the new archive, never a part of one.
    """
    path = archive_of(subject, corpus)
    old = archived(path) if path.exists() else {}
    known = {name_of(data) for data in regression(subject, corpus).values()} | old.keys()
    new = {name: data for data in found if (name := name_of(data)) not in known}
    if new or not path.exists():
        try:
            store.write(path, packed(old | new))
        except UserError as error:
            raise CorpusError(f"{path}: {error}") from error
    return len(new)


def _list(options: argparse.Namespace) -> None:
    for subject in options.subject or subjects():
        for name, data in sorted(inputs(subject).items()):
            print(f"{subject}/{name} {len(data)}")


def _unpack(options: argparse.Namespace) -> None:
    for subject in options.subject or subjects():
        print(os.path.relpath(unpacked(subject)))


def _add(options: argparse.Namespace) -> None:
    source = ROOT / "fuzz" / f"{options.subject}_fuzzer.cpp"
    if not source.is_file():
        raise CorpusError(f"{source}: no such harness")
    try:
        found = [path.read_bytes() for path in options.file]
    except OSError as error:
        raise CorpusError(f"{error.filename}: {error.strerror}") from error
    print(f"{options.subject}: {add(options.subject, found)} new inputs")


def _replay(options: argparse.Namespace) -> None:
    # The harness replaces this process, so its status and its signal are those of the command.
    command = [str(options.program), "-runs=0", str(unpacked(options.subject))]
    try:
        sys.stdout.flush()
        os.execv(command[0], command)
    except OSError as error:
        raise CorpusError(f"{options.program}: {error.strerror}") from error


def main(argv: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m fuzz.corpora", description=__doc__.splitlines()[0]
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, text in (
        ("list", _list, "print the name and the length of each input"),
        ("unpack", _unpack, "write all inputs below build/fuzz/corpus, and print the folders"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("subject", nargs="*", metavar="HARNESS", help="only of these")
        command.set_defaults(run=run)
    command = commands.add_parser("add", help="add inputs to the archive of a harness")
    command.add_argument("subject", metavar="HARNESS")
    command.add_argument("file", nargs="+", type=Path, metavar="FILE")
    command.set_defaults(run=_add)
    command = commands.add_parser("replay", help="run a harness on each input of its corpus")
    command.add_argument("subject", metavar="HARNESS")
    command.add_argument("program", type=Path, metavar="PROGRAM", help="the built harness")
    command.set_defaults(run=_replay)
    options = parser.parse_args(argv)
    try:
        options.run(options)
    except CorpusError as error:
        print(f"corpora: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
