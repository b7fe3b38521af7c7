# SPDX-License-Identifier: Apache-2.0
"""Each harness finds the bugs that are planted for it, so a clean run means something."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parent.parent
DRIVER = FUZZ.parent / "driver"
PURE = ("include", "core", "model")
RUNS = 20_000
LIMIT_S = 120
FLAGS = ["-g", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]


@dataclass(frozen=True)
class Bug:
    """One replacement in one file of the driver."""

    name: str
    subject: str
    file: str
    old: str
    new: str


def bugs() -> list[Bug]:
    text = (FUZZ / "tests" / "planted.toml").read_text(encoding="utf-8")
    return [Bug(**bug) for bug in tomllib.loads(text)["bug"]]


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LIMIT_S,
        check=False,
    )


def compiled(command: list[str], folder: Path) -> None:
    done = run(command, folder)
    assert done.returncode == 0, done.stderr


@pytest.fixture(name="harnesses", scope="module")
def fixture_harnesses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Objects of the harnesses, compiled when first asked for: they are the same for every bug."""
    folder = tmp_path_factory.mktemp("harnesses")
    objects: dict[str, Path] = {}
    for subject in {bug.subject for bug in bugs()}:
        objects[subject] = folder / f"{subject}.o"
        source = FUZZ / f"{subject}_fuzzer.cpp"
        includes = [f"-I{DRIVER / 'include'}", f"-I{DRIVER}", f"-I{DRIVER / 'model'}"]
        command = ["clang++-14", "-std=c++20", *FLAGS, "-fsanitize=fuzzer-no-link", *includes]
        compiled([*command, "-c", str(source), "-o", str(objects[subject])], folder)
    return objects


def harness_with(bug: Bug, harness: Path, folder: Path) -> Path:
    for name in PURE:
        shutil.copytree(DRIVER / name, folder / name)
    broken = folder / bug.file
    text = broken.read_text(encoding="utf-8")
    assert text.count(bug.old) == 1, f"{bug.file} has not one place to plant {bug.name}"
    broken.write_text(text.replace(bug.old, bug.new), encoding="utf-8")
    sources = [str(path) for path in sorted(folder.glob("*/*.c"))]
    includes = [f"-I{folder / 'include'}", f"-I{folder}"]
    compiled(
        ["clang-14", "-std=c11", *FLAGS, "-fsanitize=fuzzer-no-link", *includes, "-c", *sources],
        folder,
    )
    binary = folder / "harness"
    objects = [str(path) for path in sorted(folder.glob("*.o"))]
    compiled(
        ["clang++-14", *FLAGS, "-fsanitize=fuzzer", str(harness), *objects, "-o", str(binary)],
        folder,
    )
    return binary


@pytest.mark.rule("STR-005")
@pytest.mark.rule("STR-006")
@pytest.mark.parametrize("bug", bugs(), ids=lambda bug: f"{bug.subject}-{bug.name}")
def test_a_planted_bug_is_found(bug: Bug, harnesses: dict[str, Path], tmp_path: Path) -> None:
    binary = harness_with(bug, harnesses[bug.subject], tmp_path)
    found = tmp_path / "found"
    found.mkdir()
    corpus = str(FUZZ / "corpus" / bug.subject)
    done = run([str(binary), "-seed=1", "-reload=0", f"-runs={RUNS}", str(found), corpus], tmp_path)
    assert done.returncode != 0, "the bug survived"
    assert "property broken" in done.stderr or "runtime error" in done.stderr, done.stderr[-500:]
