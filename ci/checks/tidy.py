# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on the C++ of the project. A source that passed before with the same inputs is not checked again.

There are two kinds of run. `analyzer` has the static analyzer, which takes four times as long as all other checks;
`tidy` has the others.
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

from ci.checks import programs
from ci import parts
from ci.remember import records, traces
from ci.remember.inputs import Inputs
from ci.remember.records import Record

ROOT = Path(__file__).resolve().parent.parent.parent

OLDEST = 22
"""Older versions also check system headers, which takes three times as long."""
KINDS = {"tidy": "-clang-analyzer-*", "analyzer": "-*,clang-analyzer-*"}
"""The change to the checks of .clang-tidy."""
NEWER = ("-Wno-deprecated-declarations", "-Wno-missing-designated-field-initializers")
"""Warnings of this version's compiler that the compilers of the builds do not have."""
OFF = re.compile(r"-clang-analyzer-[\w.]+")
PRESETS = ("tidy", "fuzz")
"""These presets must be configured first: their compile_commands.json has the sources and their compile commands."""
TIMEOUT_S = 600


@dataclass(frozen=True)
class Source:
    """A file that a preset compiles."""

    path: Path
    arguments: tuple[str, ...]
    """Arguments of the compiler, without files and outputs."""
    folder: Path

    @property
    def name(self) -> str:
        """The path in the project."""
        return str(self.path.relative_to(ROOT))


class TidyError(Exception):
    """The sources cannot be found. The message is one line."""


def sources(root: Path = ROOT) -> list[Source]:
    """All C++ files that the presets compile, except generated ones, in the same order on each machine."""
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
    """The arguments of a compile command that affect the meaning of the source."""
    kept: list[str] = []
    skip = False
    # A launcher such as ccache precedes the compiler.
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
    """The command line of clang-tidy."""
    checks = KINDS[kind]
    if kind == "analyzer":
        text = (ROOT / ".clang-tidy").read_text(encoding="utf-8")
        checks = ",".join([checks, *OFF.findall(text)])
    words = [
        programs.find("clang-tidy", OLDEST),
        "--quiet",
        f"--checks={checks}",
        str(source.path),
        "--",
    ]
    return [*words, "clang++", *source.arguments, *NEWER, "-idirafter", fuzzer_headers()]


@functools.cache
def fuzzer_headers() -> str:
    """The folder of libFuzzer's headers, which belong to the compiler of the builds."""
    words = ["clang", "-print-resource-dir"]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return f"{done.stdout.strip()}/include"


def run_clang_tidy(source: Source, kind: str, inputs: Inputs) -> list[str]:
    """Runs clang-tidy on a source and returns its output. Records a pass."""
    words = command(source, kind)
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="tidy-") as folder:
        log = Path(folder) / "trace"
        traced = traces.can_trace()
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
            names = traces.inputs(log, ROOT, here=source.folder)
            # A compiler searches for each header in many folders.
            names = {name for name in names if not name.startswith("exists:")}
            names.add(f"text:{' '.join(words).replace(str(ROOT), '.')}")
            record = Record(
                f"{kind}/{source.name}",
                inputs.digests(names),
                round(time.monotonic() - begun, 2),
            )
            records.write(record)
    return []


def passed(source: Source, kind: str, inputs: Inputs) -> bool:
    """Whether the source passed before with the same inputs."""
    text = f"text:{' '.join(command(source, kind)).replace(str(ROOT), '.')}"
    return records.passed(f"{kind}/{source.name}", inputs, [text]) is not None


def main(argv: Sequence[str]) -> int:
    """Returns 0 without findings or without a clang-tidy that fits, 1 with findings, 2 if it could not run."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.checks.tidy", description=__doc__)
    parser.add_argument("--kind", choices=sorted(KINDS), default="tidy")
    parser.add_argument("--part", type=parts.numbers, default=(1, 1), metavar="K/N")
    parser.add_argument("sources", nargs="*", help="check only these files; default: all")
    options = parser.parse_args(argv)
    try:
        programs.find("clang-tidy", OLDEST)
    except programs.NotFitting as reason:
        print(f"skipped: {reason}")
        return 0
    try:
        every = sources()
    except TidyError as error:
        print(f"tidy: {error}", file=sys.stderr)
        return 2
    unknown = set(options.sources) - {source.name for source in every}
    if unknown:
        print(f"tidy: {min(unknown)}: no preset compiles this source", file=sys.stderr)
        return 2
    number, count = options.part
    chosen = [s for s in every[number - 1 :: count] if s.name in (options.sources or [s.name])]
    inputs = Inputs(ROOT)
    status = known = 0
    for source in chosen:
        if passed(source, options.kind, inputs):
            known += 1
            continue
        found = run_clang_tidy(source, options.kind, inputs)
        print("\n".join([f"{'FAIL' if found else 'ok':5}{source.name}", *found]), flush=True)
        status = status or int(bool(found))
    print(f"{len(chosen)} sources, {known} passed before")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
