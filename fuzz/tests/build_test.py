# SPDX-License-Identifier: Apache-2.0
"""A fuzzing service builds the harnesses with its own variables, and gets all files that belong to them."""

# untraced: CMakeLists.txt CMakePresets.json cmake conformance/CMakeLists.txt conformance/arch conformance/bpf
# untraced: conformance/harness conformance/perf conformance/report conformance/rules conformance/stimulus
# untraced: conformance/system conformance/target conformance/targets conformance/text conformance/uapi driver fuzz
# untraced: kunit oracle pmubase tools vm
# LeakSanitizer does not work under a tracer.
from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from fuzz import corpora, pack, run
from pmubase import store

SCRIPT = run.ROOT / "fuzz" / "build.sh"
LIMIT_S = 1200


def build(variables: dict[str, str], *subjects: str) -> subprocess.CompletedProcess[str]:
    """Builds as the service does, with the ccache of ci/build."""
    known = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    ccache = {
        "CCACHE_DIR": str(store.cache() / "ccache"),
        "CCACHE_BASEDIR": str(run.ROOT),
        "CCACHE_NOHASHDIR": "1",
    }
    return subprocess.run(
        [str(SCRIPT), *subjects],
        env=known | ccache | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_S,
    )


@pytest.mark.timeout(LIMIT_S)
def test_service_builds_with_its_compiler_flags_and_engine(tmp_path: Path) -> None:
    out = tmp_path / "out"
    flags = "-g -O1 -fsanitize=address,fuzzer-no-link"
    done = build(
        {
            "CC": "clang",
            "CXX": "clang++",
            "CFLAGS": flags,
            "CXXFLAGS": flags,
            "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
            "WORK": str(tmp_path / "work"),
            "OUT": str(out),
        },
        "config",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    names = {"config_fuzzer", "config_fuzzer_seed_corpus.zip", "config_fuzzer.options"}
    assert {path.name for path in out.iterdir()} == names
    seeds = tmp_path / "seeds"
    with zipfile.ZipFile(out / "config_fuzzer_seed_corpus.zip") as archive:
        archive.extractall(seeds)
    assert {p.name: p.read_bytes() for p in seeds.iterdir()} == corpora.inputs("config")
    replayed = run.execute([str(out / "config_fuzzer"), "-runs=0", str(seeds)], LIMIT_S)
    assert replayed.reproducer is None
    assert replayed.edges > 0 and replayed.corpus > 0


def test_without_output_folder_nothing_is_built(tmp_path: Path) -> None:
    done = build({"WORK": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == "fuzz/build.sh: OUT is not set: it must name the output folder of the harnesses\n"
    )
    assert not any(tmp_path.iterdir())


def test_text_harness_has_a_dictionary(tmp_path: Path) -> None:
    built, out = tmp_path / "built", tmp_path / "out"
    for folder in (built, out):
        folder.mkdir()
    (built / "ktap_fuzzer").write_bytes(b"program")
    pack.pack("ktap", built, out)
    words = (run.ROOT / "fuzz" / "dict" / "ktap.dict").read_bytes()
    assert (out / "ktap_fuzzer.dict").read_bytes() == words
    bounds = (out / "ktap_fuzzer.options").read_text().splitlines()
    assert bounds[0] == "[libfuzzer]"
    sizes = [len(data) for data in corpora.inputs("ktap").values()]
    assert f"max_len = {2 * max(sizes)}" in bounds


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "pack: no harness nothing (known: branch, "),
        (["ktap"], "/ktap_fuzzer: No such file or directory"),
    ],
)
def test_missing_harness_is_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert pack.main([str(tmp_path / "built"), str(tmp_path / "out"), *words]) == 2
    errors = capsys.readouterr().err
    assert said in errors and errors.count("\n") == 1
