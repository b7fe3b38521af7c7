# SPDX-License-Identifier: Apache-2.0
"""Packs built harnesses for continuous fuzzing services.

The files of each subject are SUBJECT_fuzzer, SUBJECT_fuzzer_seed_corpus.zip, SUBJECT_fuzzer.options and, if it reads
text, SUBJECT_fuzzer.dict. `fuzz/build.sh` builds and packs.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from fuzz import run

ROOT = Path(__file__).resolve().parent.parent

DATED = (1980, 1, 1, 0, 0, 0)
"""A fixed date, so that the same inputs give the same archive."""


def options(corpus: Path) -> str:
    """The text of the .options file, with the maximum length of an input."""
    bounds = {
        "max_len": run.longest(corpus),
        "timeout": run.INPUT_LIMIT_S,
        "rss_limit_mb": run.MEMORY_LIMIT_MB,
    }
    return "[libfuzzer]\n" + "".join(f"{key} = {value}\n" for key, value in bounds.items())


def pack(subject: str, built: Path, out: Path, fuzz: Path = ROOT / "fuzz") -> None:
    """Packs the files of one subject into a folder."""
    harness = f"{subject}_fuzzer"
    shutil.copy2(built / harness, out / harness)
    corpus = fuzz / "corpus" / subject
    with zipfile.ZipFile(out / f"{harness}_seed_corpus.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for seed in sorted(corpus.iterdir()):
            archive.writestr(zipfile.ZipInfo(seed.name, DATED), seed.read_bytes())
    (out / f"{harness}.options").write_text(options(corpus), encoding="utf-8")
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
    except OSError as error:
        print(f"pack: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
