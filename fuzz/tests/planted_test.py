# SPDX-License-Identifier: Apache-2.0
"""Each harness finds the bugs that are planted for it, so a clean run means something."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parent.parent
DRIVER = FUZZ.parent / "driver"
SUITE = FUZZ.parent / "conformance"
MODEL = tuple(
    f"lib/{name}.cpp"
    for name in ("kernel_range", "open_driver", "open_model", "open_random", "open_violation")
)
"""What the subject `oracle` is made of; the other subjects are the driver's."""
PURE = ("include", "core", "model")
RUNS = 20_000
LIMIT_S = 120
FLAGS = ["-g", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"]


@dataclass(frozen=True)
class Bug:
    """One replacement in one file of the driver, or of the suite for the subject `oracle`."""

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


def includes_of_the_model() -> list[str]:
    return [f"-I{SUITE}", f"-I{SUITE / 'include'}", f"-I{DRIVER / 'include'}"]


def model_object(source: Path, place: Path, folder: Path) -> Path:
    flags = ["clang++-14", "-std=c++20", *FLAGS, "-fsanitize=fuzzer-no-link"]
    compiled([*flags, *includes_of_the_model(), "-c", str(source), "-o", str(place)], folder)
    return place


@pytest.fixture(name="model", scope="module")
def fixture_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], dict[str, Path]]:
    """Objects of the errno model as it is, compiled when first asked for."""
    folder = tmp_path_factory.mktemp("model")
    objects: dict[str, Path] = {}

    def made() -> dict[str, Path]:
        for name in MODEL:
            if name not in objects:
                place = folder / f"{Path(name).stem}.o"
                objects[name] = model_object(SUITE / name, place, folder)
        return objects

    return made


@pytest.fixture(name="harnesses", scope="module")
def fixture_harnesses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Objects of the harnesses, compiled when first asked for: they are the same for every bug."""
    folder = tmp_path_factory.mktemp("harnesses")
    objects: dict[str, Path] = {}
    for subject in {bug.subject for bug in bugs()}:
        objects[subject] = folder / f"{subject}.o"
        source = FUZZ / f"{subject}_fuzzer.cpp"
        includes = [f"-I{DRIVER}", f"-I{DRIVER / 'model'}", *includes_of_the_model()]
        command = ["clang++-14", "-std=c++20", *FLAGS, "-fsanitize=fuzzer-no-link", *includes]
        compiled([*command, "-c", str(source), "-o", str(objects[subject])], folder)
    return objects


def replaced(bug: Bug, broken: Path) -> None:
    text = broken.read_text(encoding="utf-8")
    assert text.count(bug.old) == 1, f"{bug.file} has not one place to plant {bug.name}"
    broken.write_text(text.replace(bug.old, bug.new), encoding="utf-8")


def linked(harness: Path, objects: Iterable[Path], folder: Path) -> Path:
    binary = folder / "harness"
    parts = [str(harness), *map(str, objects)]
    compiled(
        ["clang++-14", *FLAGS, "-fsanitize=fuzzer", *parts, "-o", str(binary)],
        folder,
    )
    return binary


def model_with(bug: Bug, harness: Path, objects: dict[str, Path], folder: Path) -> Path:
    broken = folder / Path(bug.file).name
    shutil.copy(SUITE / bug.file, broken)
    replaced(bug, broken)
    made = model_object(broken, folder / "broken.o", folder)
    return linked(harness, (objects | {bug.file: made}).values(), folder)


def harness_with(bug: Bug, harness: Path, folder: Path) -> Path:
    for name in PURE:
        shutil.copytree(DRIVER / name, folder / name)
    replaced(bug, folder / bug.file)
    sources = [str(path) for path in sorted(folder.glob("*/*.c"))]
    includes = [f"-I{folder / 'include'}", f"-I{folder}"]
    compiled(
        ["clang-14", "-std=c11", *FLAGS, "-fsanitize=fuzzer-no-link", *includes, "-c", *sources],
        folder,
    )
    return linked(harness, sorted(folder.glob("*.o")), folder)


@pytest.mark.rule("STR-005")
@pytest.mark.rule("STR-006")
@pytest.mark.parametrize("bug", bugs(), ids=lambda bug: f"{bug.subject}-{bug.name}")
def test_a_planted_bug_is_found(
    bug: Bug,
    harnesses: dict[str, Path],
    model: Callable[[], dict[str, Path]],
    tmp_path: Path,
) -> None:
    harness = harnesses[bug.subject]
    if bug.subject == "oracle":
        binary = model_with(bug, harness, model(), tmp_path)
    else:
        binary = harness_with(bug, harness, tmp_path)
    found = tmp_path / "found"
    found.mkdir()
    corpus = str(FUZZ / "corpus" / bug.subject)
    done = run([str(binary), "-seed=1", "-reload=0", f"-runs={RUNS}", str(found), corpus], tmp_path)
    assert done.returncode != 0, "the bug survived"
    assert "property broken" in done.stderr or "runtime error" in done.stderr, done.stderr[-500:]
