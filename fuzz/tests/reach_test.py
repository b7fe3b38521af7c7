# SPDX-License-Identifier: Apache-2.0
"""The corpus of `config` reaches each branch of core/config in both directions."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from fuzz import corpora

FUZZ = Path(__file__).resolve().parent.parent
DRIVER = FUZZ.parent / "driver"
FOLDERS = (DRIVER, DRIVER / "include", DRIVER / "model", FUZZ.parent)
COUNTED = ["-fprofile-instr-generate", "-fcoverage-mapping"]
LIMIT_S = 300
# A generic hardware event that the device lacks. Each of these may use any general counter, and each device has at
# least one. The harness checks that with the smallest device.
NEVER = {("attr->type == TYPE_HARDWARE", True)}


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"LLVM_PROFILE_FILE": str(folder / "raw")},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def never_taken(exported: str, source: list[str]) -> set[tuple[str, bool]]:
    """Conditions as written in the source, with the value that they never had."""
    never = set()
    for line, first, _, last, yes, no, *_ in json.loads(exported)["data"][0]["files"][0][
        "branches"
    ]:
        text = source[line - 1][first - 1 : last - 1]
        never |= {(text, answer) for answer, count in ((True, yes), (False, no)) if not count}
    return never


def test_the_corpus_of_config_reaches_every_branch_of_core_config(tmp_path: Path) -> None:
    config = DRIVER / "core" / "config.c"
    includes = [f"-I{folder}" for folder in FOLDERS]
    sources = [str(path) for path in sorted(DRIVER.glob("core/*.c"))]
    run(["clang", "-std=c11", "-O1", *COUNTED, *includes, "-c", *sources], tmp_path)
    fuzzer = [str(FUZZ / "config_fuzzer.cpp"), *map(str, sorted(tmp_path.glob("*.o")))]
    flags = ["-std=c++20", "-O1", *includes, "-fprofile-instr-generate", "-fsanitize=fuzzer"]
    run(["clang++", *flags, *fuzzer, "-o", "harness"], tmp_path)
    corpus = corpora.fill(tmp_path / "corpus", corpora.inputs("config"))
    run(["./harness", "-runs=0", str(corpus)], tmp_path)
    run(["llvm-profdata", "merge", "raw", "-o", "merged"], tmp_path)
    command = ["llvm-cov", "export", "harness", "-instr-profile=merged", str(config)]
    never = never_taken(run(command, tmp_path), config.read_text("utf-8").splitlines())
    assert never == NEVER
