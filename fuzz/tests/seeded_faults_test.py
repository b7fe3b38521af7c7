# SPDX-License-Identifier: Apache-2.0
"""Each harness detects its faults, so a clean run is meaningful.

The corpus alone must detect each fault; make check tries one fault of each light harness, and make nightly tries all of
them (`ci/faults`). Replaying the corpus is deterministic. A search is not, whatever its seed, since libFuzzer uses
addresses. make nightly also searches for each fault, starting from zeros.
"""

# untraced: CMakeLists.txt CMakePresets.json cmake conformance/CMakeLists.txt conformance/arch conformance/bpf
# untraced: conformance/harness conformance/perf conformance/report conformance/rules conformance/stimulus
# untraced: conformance/system conformance/target conformance/targets conformance/text conformance/uapi driver fuzz
# untraced: kunit oracle pmubase tools vm ci faults
# LeakSanitizer does not work under a tracer.
from __future__ import annotations

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from ci.faults import host
from ci.faults.host import Host
from ci.faults.trial import HOST, Goal, Planned
from faults import fault as fault_file
from faults.fault import FUZZ as BY_HARNESS
from faults.fault import Fault
from fuzz.run import subjects

FUZZ = Path(__file__).resolve().parent.parent
ROOT = FUZZ.parent
# No measured search needed a fifth of this number.
SEARCH = 1_000_000
SEARCH_LIMIT_S = 1800


def faults_of_harnesses() -> dict[str, list[Fault]]:
    """The faults of each harness."""
    found: dict[str, list[Fault]] = defaultdict(list)
    for fault in fault_file.read_all(ROOT):
        if fault.harness:
            found[fault.harness].append(fault)
    return found


def params(of_each: slice) -> list[ParameterSet]:
    """Some faults of each light harness."""
    return [
        pytest.param(fault, id=f"{harness}-{fault.name}")
        for harness, faults in faults_of_harnesses().items()
        if harness not in host.HEAVY
        for fault in faults[of_each]
    ]


@pytest.fixture(name="programs", scope="module")
def fixture_programs(tmp_path_factory: pytest.TempPathFactory) -> Host:
    """Harnesses, compiled on first use."""
    return Host(ROOT, tmp_path_factory.mktemp("harnesses") / "tree")


# The first test of the suite compiles its files.
@pytest.mark.timeout(1800)
@pytest.mark.rule("STR-005")
@pytest.mark.rule("STR-006")
@pytest.mark.parametrize("fault", params(slice(-1, None)))
def test_corpus_detects_fault(fault: Fault, programs: Host) -> None:
    done = programs.judge(Planned(fault, HOST, BY_HARNESS), Goal.CATCH)
    assert (done.result, done.detail) == ("caught", "")


@pytest.mark.nightly
@pytest.mark.timeout(SEARCH_LIMIT_S + 600)
@pytest.mark.parametrize("fault", params(slice(None)))
def test_search_from_zeros_finds_fault(fault: Fault, programs: Host, tmp_path: Path) -> None:
    # libFuzzer gives up if all inputs are shorter than a request, since they reach no code.
    (tmp_path / "zeros").write_bytes(bytes(64))
    words = ["-seed=1", "-reload=0", f"-runs={SEARCH}", str(tmp_path)]
    dictionary = FUZZ / "dict" / f"{fault.harness}.dict"
    if dictionary.exists():
        words.append(f"-dict={dictionary}")
    with programs.program(fault, fault.harness) as program:
        done = subprocess.run(
            [str(program), *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SEARCH_LIMIT_S,
            check=False,
        )
    assert done.returncode != 0, "the fault was missed"
    assert host.FOUND.search(done.stderr), done.stderr[-500:]


def test_each_harness_has_two_faults() -> None:
    of_harness = faults_of_harnesses()
    assert not [name for name in subjects(FUZZ) if len(of_harness[name]) < 2]
