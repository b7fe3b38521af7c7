# SPDX-License-Identifier: Apache-2.0
"""Each harness detects its mutants, so a clean run is meaningful.

The corpus alone must detect each mutant; make check tries one mutant of each light harness, and make nightly tries all
of them (`ci/mutants.py`). Replaying the corpus is deterministic. A search is not, whatever its seed, since libFuzzer
uses addresses. make nightly also searches for each mutant, starting from zeros.
"""

# untraced: CMakeLists.txt CMakePresets.json cmake conformance driver fuzz kunit oracle pmubase tools vm ci faults
# LeakSanitizer does not work under a tracer.
from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from ci.mutation import host, on_host
from ci.mutation.on_host import Host
from faults import mutant_file
from faults.mutant_file import Mutant
from fuzz.run import subjects

FUZZ = Path(__file__).resolve().parent.parent
ROOT = FUZZ.parent
# No measured search needed a fifth of this number.
SEARCH = 1_000_000
SEARCH_LIMIT_S = 1800


def mutants_of_harnesses() -> dict[str, list[Mutant]]:
    """The mutants of each harness."""
    found: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in mutant_file.collect(*mutant_file.folders(ROOT))[0]:
        if mutant.harness:
            found[mutant.harness].append(mutant)
    return found


def params(of_each: slice) -> list[ParameterSet]:
    """Some mutants of each light harness."""
    return [
        pytest.param(mutant, id=f"{harness}-{mutant.path.stem}")
        for harness, mutants in mutants_of_harnesses().items()
        if harness not in host.HEAVY
        for mutant in mutants[of_each]
    ]


@pytest.fixture(name="programs", scope="module")
def fixture_programs(tmp_path_factory: pytest.TempPathFactory) -> Host:
    """Harnesses, compiled on first use."""
    return Host(ROOT, tmp_path_factory.mktemp("harnesses") / "tree")


# The first test of the suite compiles its files.
@pytest.mark.timeout(1800)
@pytest.mark.rule("STR-005")
@pytest.mark.rule("STR-006")
@pytest.mark.parametrize("mutant", params(slice(-1, None)))
def test_corpus_detects_mutant(mutant: Mutant, programs: Host) -> None:
    done = programs.fuzz(mutant)
    assert (done.result, done.detail) == ("KILLED", "")


@pytest.mark.nightly
@pytest.mark.timeout(SEARCH_LIMIT_S + 600)
@pytest.mark.parametrize("mutant", params(slice(None)))
def test_search_from_zeros_finds_mutant(mutant: Mutant, programs: Host, tmp_path: Path) -> None:
    # libFuzzer gives up if all inputs are shorter than a request, since they reach no code.
    (tmp_path / "zeros").write_bytes(bytes(64))
    words = ["-seed=1", "-reload=0", f"-runs={SEARCH}", str(tmp_path)]
    dictionary = FUZZ / "dict" / f"{mutant.harness}.dict"
    if dictionary.exists():
        words.append(f"-dict={dictionary}")
    with programs.program(mutant, mutant.harness) as program:
        done = subprocess.run(
            [str(program), *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SEARCH_LIMIT_S,
            check=False,
        )
    assert done.returncode != 0, "the mutant survived"
    assert on_host.FOUND.search(done.stderr), done.stderr[-500:]


def test_each_harness_has_two_mutants() -> None:
    of_harness = mutants_of_harnesses()
    assert not [name for name in subjects(FUZZ) if len(of_harness[name]) < 2]
