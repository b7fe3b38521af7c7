#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C++ of the project. A source that passed before with the same inputs is not looked at again.

Two kinds: `tidy` has every check but the static analyzer, which takes four times as long as all the others: it is
the kind `analyzer`.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "vm"), str(ROOT / "ci")]

from mutation import parts  # noqa: E402
from units import records, traces  # noqa: E402
from units.inputs import Inputs  # noqa: E402
from units.records import Case, Record  # noqa: E402

PROGRAM = "clang-tidy-22"
"""Older ones look for mistakes in the headers of the system, too: three times the time."""
KINDS = {"tidy": "-clang-analyzer-*", "analyzer": "-*,clang-analyzer-*"}
"""What is added to the checks of .clang-tidy."""
NEWER = ("-Wno-deprecated-declarations", "-Wno-missing-designated-field-initializers")
"""Warnings of this program's compiler that those of the builds do not have."""
OFF = re.compile(r"-clang-analyzer-[\w.]+")
PRESETS = ("tidy", "fuzz")
"""Configured before: their compile_commands.json has the sources, and how they are compiled."""
TIMEOUT_S = 600


@dataclass(frozen=True)
class Source:
    """A file that a preset compiles."""

    path: Path
    arguments: tuple[str, ...]
    """Of the compiler, without files and outputs."""
    folder: Path

    @property
    def name(self) -> str:
        """Its path in the project."""
        return str(self.path.relative_to(ROOT))


class TidyError(Exception):
    """One line: the sources cannot be found."""


def sources(root: Path = ROOT) -> list[Source]:
    """Every C++ file that the presets compile, generated ones aside, in one order everywhere."""
    found: dict[Path, Source] = {}
    for preset in PRESETS:
        path = root / "build" / preset / "compile_commands.json"
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise TidyError(f"{path}: {error.strerror}: run ci/build {preset}") from error
        for entry in entries:
            file = Path(entry["file"])
            if file.suffix == ".cpp" and root / "build" not in file.parents:
                arguments = compiler_arguments(shlex.split(entry["command"]), str(file))
                found.setdefault(file, Source(file, arguments, Path(entry["directory"])))
    return [found[path] for path in sorted(found)]


def compiler_arguments(words: Sequence[str], file: str) -> tuple[str, ...]:
    """The arguments of a compile command that decide what the source means."""
    kept: list[str] = []
    skip = False
    # A launcher such as ccache stands before the compiler.
    begin = next(i for i, word in enumerate(words) if word.startswith("-"))
    for word in words[begin:]:
        if skip or word in ("-c", file):
            skip = False
            continue
        if word == "-o":
            skip = True
            continue
        kept.append(word)
    return tuple(kept)


def command(source: Source, kind: str) -> list[str]:
    """The call of clang-tidy."""
    checks = KINDS[kind]
    if kind == "analyzer":
        text = (ROOT / ".clang-tidy").read_text(encoding="utf-8")
        checks = ",".join([checks, *OFF.findall(text)])
    words = [PROGRAM, "--quiet", f"--checks={checks}", str(source.path), "--"]
    return [*words, "clang++", *source.arguments, *NEWER, "-idirafter", fuzzer_headers()]


@functools.cache
def fuzzer_headers() -> str:
    """The folder of libFuzzer's headers, which come with the compiler of the builds."""
    words = ["clang-14", "-print-resource-dir"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return f"{done.stdout.strip()}/include"


def look(source: Source, kind: str, inputs: Inputs) -> list[str]:
    """What clang-tidy says of a source; a pass is recorded."""
    words = command(source, kind)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tidy-") as folder:
        log = Path(folder) / "trace"
        traced = traces.possible()
        done = subprocess.run(
            traces.argv(words, log) if traced else words,
            cwd=source.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        if done.returncode != 0:
            return done.stdout.strip().splitlines() or done.stderr.strip().splitlines()
        if traced:
            names = traces.inputs(log, ROOT, here=source.folder, probes=False)
            names.add(f"text:{' '.join(words).replace(str(ROOT), '.')}")
            record = Record(
                f"{kind}/{source.name}",
                inputs.digests(names),
                (Case(source.name, "PASS"),),
                round(time.monotonic() - begun, 2),
            )
            records.write(record)
    return []


def passed(source: Source, kind: str, inputs: Inputs) -> bool:
    """Whether nothing has changed since clang-tidy had nothing to say."""
    text = f"text:{' '.join(command(source, kind)).replace(str(ROOT), '.')}"
    return records.passed(f"{kind}/{source.name}", inputs, [text]) is not None


def main(argv: Sequence[str]) -> int:
    """0 if clang-tidy has nothing to say, 1 if it has, 2 if it could not be asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=sorted(KINDS), default="tidy")
    parser.add_argument("--part", type=parts.numbers, default=(1, 1), metavar="K/N")
    parser.add_argument("--fresh", action="store_true", help="look at sources that passed, too")
    parser.add_argument("sources", nargs="*", help="only these; default: all")
    options = parser.parse_args(argv)
    try:
        every = sources()
    except TidyError as error:
        print(f"tidy: {error}", file=sys.stderr)
        return 2
    unknown = set(options.sources) - {source.name for source in every}
    if unknown:
        print(f"tidy: {min(unknown)} is no source that a preset compiles", file=sys.stderr)
        return 2
    number, count = options.part
    chosen = [s for s in every[number - 1 :: count] if s.name in (options.sources or [s.name])]
    inputs = Inputs(ROOT)
    status = known = 0
    for source in chosen:
        if not options.fresh and passed(source, options.kind, inputs):
            known += 1
            continue
        found = look(source, options.kind, inputs)
        print("\n".join([f"{'FAIL' if found else 'ok':5}{source.name}", *found]), flush=True)
        status = status or int(bool(found))
    print(f"{len(chosen)} sources, {known} passed before")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
