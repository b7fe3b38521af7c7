# SPDX-License-Identifier: Apache-2.0
"""Each harness detects its seeded faults, so a clean run is meaningful.

The corpus alone must detect each fault; make check tests one fault of each harness. Replaying the corpus is
deterministic. A search is not, whatever its seed, since libFuzzer uses addresses. make nightly also searches for each
fault, starting from zeros.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from fuzz import corpora
from fuzz.run import subjects

FUZZ = Path(__file__).resolve().parent.parent
DRIVER = FUZZ.parent / "driver"
ROOT = FUZZ.parent
PURE = ("include", "core", "model")
# No measured search needed a fifth of this number.
SEARCH = 1_000_000
LIMIT_S = 300
SEARCH_LIMIT_S = 1800
# The files of the suite that light harnesses need.
LIGHT = re.compile(r"(conformance/.*/(kernel_range|one_line|sysfs)|oracle/open_\w+)\.cpp")
FLAGS = ["-g", "-O1", "-DNDEBUG", "-fsanitize=undefined", "-fno-sanitize-recover=all"]


@dataclass(frozen=True)
class Fault:
    """A seeded fault: one replacement in one file of the driver or of the suite."""

    name: str
    subject: str
    file: str
    old: str
    new: str


def read_faults() -> list[Fault]:
    text = (FUZZ / "tests" / "seeded_faults.toml").read_text(encoding="utf-8")
    return [Fault(**fault) for fault in tomllib.loads(text)["fault"]]


def ccache_environment() -> dict[str, str]:
    """The environment in which ccache uses the cache of ci/build."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(base) / "pmuconf" / "ccache"
    return os.environ | {"CCACHE_DIR": str(folder), "CCACHE_NOHASHDIR": "1"}


def fault_params(are_heavy: bool, one_in_check: bool = False) -> list[ParameterSet]:
    """The faults of heavy or light harnesses. With `one_in_check`, all but one of each harness run only in make
    nightly."""
    found: dict[str, list[Fault]] = defaultdict(list)
    for fault in read_faults():
        if heavy(fault.subject) == are_heavy:
            found[fault.subject].append(fault)
    return [
        pytest.param(
            fault,
            id=f"{subject}-{fault.name}",
            marks=pytest.mark.nightly if one_in_check and fault is not of_subject[-1] else [],
        )
        for subject, of_subject in found.items()
        for fault in of_subject
    ]


def run(
    command: list[str], folder: Path, limit_s: int = LIMIT_S
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=ccache_environment(),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit_s,
        check=False,
    )


def check_run(command: list[str], folder: Path) -> None:
    done = run(command, folder)
    assert done.returncode == 0, done.stderr


def includes() -> list[str]:
    folders = (DRIVER, DRIVER / "model", ROOT, ROOT / "conformance", DRIVER / "include")
    return [f"-I{folder}" for folder in folders]


def heavy(subject: str) -> bool:
    """Whether the harness needs a parser of TOML or JSON, which takes minutes to compile on a slow machine."""
    return subject in {"ktap", "target_toml"}


def suite_files() -> list[str]:
    """The files of the suite that harnesses need."""
    lines = (FUZZ / "suite.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def suite_object(source: Path, place: Path) -> Path:
    flags = ["ccache", "clang++-14", "-std=c++20", *FLAGS, "-fsanitize=fuzzer-no-link"]
    check_run([*flags, *includes(), "-c", str(source), "-o", str(place)], place.parent)
    return place


@pytest.fixture(name="suite", scope="module")
def fixture_suite(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A library of the unmodified suite, compiled on first use."""
    base = tmp_path_factory.mktemp("suite")

    def made(subject: str) -> Path:
        folder = base / ("heavy" if heavy(subject) else "light")
        library = folder / "suite.a"
        if not library.exists():
            folder.mkdir()
            files = [name for name in suite_files() if heavy(subject) or LIGHT.match(name)]
            places = [folder / f"{name.replace('/', '_')}.o" for name in files]
            with ThreadPoolExecutor(max_workers=2) as pool:
                list(pool.map(suite_object, [ROOT / name for name in files], places))
            check_run(["ar", "rc", str(library), *map(str, places)], folder)
        return library

    return made


@pytest.fixture(name="harnesses", scope="module")
def fixture_harnesses(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Objects of the harnesses, compiled on first use. They are the same for every fault."""
    folder = tmp_path_factory.mktemp("harnesses")

    def made(subject: str) -> Path:
        place = folder / f"{subject}.o"
        if not place.exists():
            source = FUZZ / f"{subject}_fuzzer.cpp"
            command = ["ccache", "clang++-14", "-std=c++20", *FLAGS, *includes()]
            command += ["-c", str(source)]
            check_run([*command, "-o", str(place)], folder)
        return place

    return made


def seed_fault(fault: Fault, broken: Path) -> None:
    text = broken.read_text(encoding="utf-8")
    assert (
        text.count(fault.old) == 1
    ), f"{fault.file} does not have exactly one place for {fault.name}"
    broken.write_text(text.replace(fault.old, fault.new), encoding="utf-8")


def linked(harness: Path, objects: Iterable[Path], folder: Path) -> Path:
    binary = folder / "harness"
    parts = [str(harness), *map(str, objects)]
    check_run(
        ["clang++-14", *FLAGS, "-fsanitize=fuzzer", *parts, "-o", str(binary)],
        folder,
    )
    return binary


def suite_with(fault: Fault, harness: Path, library: Path, folder: Path) -> Path:
    """Links the faulty file before the library, which has all other files."""
    broken = folder / Path(fault.file).name
    shutil.copy(ROOT / fault.file, broken)
    seed_fault(fault, broken)
    return linked(harness, [suite_object(broken, folder / "broken.o"), library], folder)


def driver_object(source: Path, place: Path, beside: Path) -> Path:
    """`beside`: the folder of the headers that the driver has next to the source."""
    own = [f"-I{beside}", f"-I{DRIVER / 'include'}", f"-I{DRIVER}"]
    flags = ["ccache", "clang-14", "-std=c11", *FLAGS, "-fsanitize=fuzzer-no-link"]
    check_run([*flags, *own, "-c", str(source), "-o", str(place)], place.parent)
    return place


@pytest.fixture(name="driver", scope="module")
def fixture_driver(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """A library of the unmodified driver, compiled on first use."""
    folder = tmp_path_factory.mktemp("driver")

    def made() -> Path:
        library = folder / "driver.a"
        if not library.exists():
            sources = [path for name in PURE for path in sorted((DRIVER / name).glob("*.c"))]
            places = [folder / f"{path.stem}.o" for path in sources]
            with ThreadPoolExecutor(max_workers=2) as pool:
                list(pool.map(driver_object, sources, places, [path.parent for path in sources]))
            check_run(["ar", "rc", str(library), *map(str, places)], folder)
        return library

    return made


def driver_with(fault: Fault, harness: Path, library: Path, folder: Path) -> Path:
    """Links the faulty file before the library, as for the suite."""
    broken = folder / Path(fault.file).name
    shutil.copy(DRIVER / fault.file, broken)
    seed_fault(fault, broken)
    made = driver_object(broken, folder / "broken.o", (DRIVER / fault.file).parent)
    return linked(harness, [made, library], folder)


@pytest.fixture(name="broken")
def fixture_broken(
    harnesses: Callable[[str], Path],
    suite: Callable[[str], Path],
    driver: Callable[[], Path],
    tmp_path: Path,
) -> Callable[[Fault], Path]:
    """Builds the harness of a fault's subject with the fault."""

    def made(fault: Fault) -> Path:
        harness = harnesses(fault.subject)
        if fault.file in suite_files():
            return suite_with(fault, harness, suite(fault.subject), tmp_path)
        return driver_with(fault, harness, driver(), tmp_path)

    return made


def assert_finds(binary: Path, words: list[str], limit_s: int = LIMIT_S) -> None:
    """Fails if a harness does not report its seeded fault."""
    done = run([str(binary), *words], binary.parent, limit_s)
    assert done.returncode != 0, "the fault survived"
    said = "property broken" in done.stderr or "runtime error" in done.stderr
    assert said, done.stderr[-500:]


def assert_corpus_finds(fault: Fault, binary: Path) -> None:
    inputs = corpora.inputs(fault.subject)
    corpus = corpora.fill(binary.parent / "corpus", inputs)
    assert_finds(binary, ["-runs=0", str(corpus)])
    # An input that is named after the fault detects it without the other inputs.
    if fault.name in inputs:
        assert_finds(binary, ["-runs=0", str(corpus / fault.name)])


# The first test of the suite compiles its files.
@pytest.mark.timeout(1800)
@pytest.mark.rule("STR-005")
@pytest.mark.rule("STR-006")
@pytest.mark.parametrize("fault", fault_params(are_heavy=False, one_in_check=True))
def test_corpus_detects_seeded_fault(fault: Fault, broken: Callable[[Fault], Path]) -> None:
    assert_corpus_finds(fault, broken(fault))


@pytest.mark.nightly
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", fault_params(are_heavy=True))
def test_corpus_detects_seeded_fault_in_large_harness(
    fault: Fault, broken: Callable[[Fault], Path]
) -> None:
    assert_corpus_finds(fault, broken(fault))


@pytest.mark.nightly
@pytest.mark.timeout(SEARCH_LIMIT_S + 2 * LIMIT_S)
@pytest.mark.parametrize("fault", fault_params(are_heavy=False))
def test_search_from_zeros_finds_seeded_fault(
    fault: Fault, broken: Callable[[Fault], Path]
) -> None:
    binary = broken(fault)
    found = binary.parent / "found"
    found.mkdir()
    # libFuzzer gives up if all inputs are shorter than a request, since they reach no code.
    (found / "zeros").write_bytes(bytes(64))
    words = ["-seed=1", "-reload=0", f"-runs={SEARCH}", str(found)]
    dictionary = FUZZ / "dict" / f"{fault.subject}.dict"
    if dictionary.exists():
        words.append(f"-dict={dictionary}")
    assert_finds(binary, words, SEARCH_LIMIT_S)


def test_each_harness_has_two_seeded_faults() -> None:
    count = Counter(fault.subject for fault in read_faults())
    few = [subject for subject in subjects(FUZZ) if count[subject] < 2]
    assert not few
