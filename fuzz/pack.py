# SPDX-License-Identifier: Apache-2.0
"""Packs built harnesses for continuous fuzzing services.

The files of each subject are SUBJECT_fuzzer, SUBJECT_fuzzer_seed_corpus.zip, SUBJECT_fuzzer.options and, if it reads
text, SUBJECT_fuzzer.dict. `fuzz/build.sh` builds and packs.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from fuzz import corpora, run

ROOT = Path(__file__).resolve().parent.parent


def options(inputs: Mapping[str, bytes]) -> str:
    """The text of the .options file, with the maximum length of an input."""
    bounds = {
        "max_len": run.max_input_length(map(len, inputs.values())),
        "timeout": run.INPUT_LIMIT_S,
        "rss_limit_mb": run.MEMORY_LIMIT_MB,
    }
    return "[libfuzzer]\n" + "".join(f"{key} = {value}\n" for key, value in bounds.items())


def pack(subject: str, built: Path, out: Path, fuzz: Path = ROOT / "fuzz") -> None:
    """Packs the files of one subject into a folder."""
    harness = f"{subject}_fuzzer"
    shutil.copy2(built / harness, out / harness)
    inputs = corpora.inputs(subject, fuzz / "corpus")
    (out / f"{harness}_seed_corpus.zip").write_bytes(corpora.packed(inputs))
    (out / f"{harness}.options").write_text(options(inputs), encoding="utf-8")
    words = fuzz / "dict" / f"{subject}.dict"
    if words.is_file():
        shutil.copy(words, out / f"{harness}.dict")


def main(arguments: Sequence[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m fuzz.pack", description=__doc__.splitlines()[0]
    )
    parser.add_argument("built", type=Path, help="the folder of the harnesses")
    parser.add_argument("out", type=Path, help="folder for the harnesses and their files")
    parser.add_argument("subject", nargs="*", help="only these")
    chosen = parser.parse_args(arguments)
    known = run.subjects(ROOT / "fuzz")
    for subject in chosen.subject:
        if subject not in known:
            print(f"pack: no harness {subject} (known: {', '.join(known)})", file=sys.stderr)
            return 2
    try:
        chosen.out.mkdir(parents=True, exist_ok=True)
        for subject in chosen.subject or known:
            pack(subject, chosen.built, chosen.out)
    except corpora.CorpusError as error:
        print(f"pack: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"pack: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
