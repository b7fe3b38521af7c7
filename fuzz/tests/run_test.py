# SPDX-License-Identifier: Apache-2.0
"""The fuzz runner distinguishes a finding, a clean run, and a run that could not be judged."""

from __future__ import annotations

import functools
import json
import stat
from pathlib import Path

import pytest
from fuzz import corpora, run

CLEAN = "#12 REDUCE cov: 40 ft: 90 corp: 7/99b\\nstat::number_of_executed_units: 1234\\n"


@pytest.fixture(name="corpus")
def fixture_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "seed").write_bytes(b"x")
    return folder


def program(folder: Path, body: str) -> Path:
    path = folder / "harness"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def judged(binary: Path, corpus: Path) -> run.Outcome:
    return run.judge("subject", binary, binary, corpus, corpus.parent / "findings", 1)


def test_a_clean_harness_passes_replay_and_fuzzing(corpus: Path) -> None:
    outcome = judged(program(corpus.parent, f"printf '{CLEAN}' >&2"), corpus)
    assert (outcome.passed, outcome.cases, outcome.executions) == (2, 2, 2468)
    assert (outcome.edges, outcome.corpus, outcome.error) == (40, 7, "")
    assert run.status([outcome]) == 0
    assert outcome.executions_per_cpu_s == 0 == run.ratio(outcome)


def test_speed_is_relative_to_the_empty_harness() -> None:
    replayed = run.Phase(100, 0, 0, 9.0, 0.5, None, "")
    fuzzed = run.Phase(2_100, 0, 0, 9.0, 2.5, None, "")
    assert run.executions_per_cpu_s(replayed, fuzzed) == 1_000
    assert run.executions_per_cpu_s(fuzzed, fuzzed) == 0
    outcome = run.Outcome("subject", 0, 0, 1_000, 4_000, 0, 0, 0, (), (), "", 2, 2)
    assert run.ratio(outcome) == 0.25
    assert "  0.250" in run.table([outcome])


def test_hanging_harness_is_killed_and_not_judged(corpus: Path) -> None:
    binary = program(corpus.parent, "while :; do :; done")
    with pytest.raises(run.NotJudged, match="no end after 1 s: "):
        run.execute([str(binary)], 1.0)


def test_inputs_grow_to_twice_the_longest_of_the_corpus(corpus: Path) -> None:
    assert f"-max_len={run.LEAST_LENGTH}" in run.flags_for(corpus)
    (corpus / "long").write_bytes(b"x" * 700)
    assert "-max_len=1400" in run.flags_for(corpus)


def test_finding_names_its_reproducer_and_repro_command(corpus: Path) -> None:
    body = "printf 'Test unit written to /tmp/crash-1\\n' >&2; exit 77"
    outcome = judged(program(corpus.parent, body), corpus)
    assert outcome.findings == ("/tmp/crash-1",)
    assert outcome.repeat == (f"{corpus.parent}/harness /tmp/crash-1",)
    assert outcome.executions == 0
    assert run.status([outcome]) == 1


# The fake harness writes a smaller input on request, and otherwise ends with a finding.
SMALLER = """
for word; do
  case $word in
    -exact_artifact_path=*) printf x >"${word#*=}"; exit 0;;
  esac
done
printf 'longer' >FOLDER/crash-1
printf 'Test unit written to FOLDER/crash-1\\n' >&2; exit 77
"""


def test_finding_has_the_smallest_input(corpus: Path) -> None:
    outcome = judged(program(corpus.parent, SMALLER.replace("FOLDER", str(corpus.parent))), corpus)
    assert outcome.findings == (f"{corpus.parent}/crash-1",)
    assert outcome.repeat == (f"{corpus.parent}/harness {corpus.parent}/crash-1.small",)
    assert Path(f"{corpus.parent}/crash-1").read_text("utf-8") == "longer"


# The fake harness keeps the input named `good`, as libFuzzer's -merge=1 keeps inputs that reach more code.
MERGES = """
made= kept=
for word; do made=$kept kept=$word; done
case $* in -merge=1*) cp "$kept/good" "$made/";; *) exit 3;; esac
"""


def test_merge_keeps_inputs_that_reach_more_but_no_seeds(corpus: Path) -> None:
    kept = run.cache_folder("subject")
    kept.mkdir(parents=True)
    for name in ("good", "same"):
        (kept / name).write_text(name, encoding="utf-8")
    assert run.merge("subject", program(corpus.parent, MERGES), corpus) == (2, 1)
    assert {path.name for path in kept.iterdir()} == {"good"}
    assert [path.name for path in corpus.iterdir()] == ["seed"]


def test_failed_merge_leaves_the_kept_inputs(corpus: Path) -> None:
    kept = run.cache_folder("subject")
    kept.mkdir(parents=True)
    (kept / "one").write_text("one", encoding="utf-8")
    with pytest.raises(run.NotJudged, match="status 1 without"):
        run.merge("subject", program(corpus.parent, "exit 1"), corpus)
    assert [path.name for path in kept.iterdir()] == ["one"]
    assert [path.name for path in kept.parent.iterdir()] == ["subject"]


@pytest.fixture(name="toy")
def fixture_toy(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The corpora folder of a harness `toy`, which replaces the project's corpora. The cache has two inputs."""
    folder = corpus.parent / "corpora"
    corpora.add("toy", [b"archived"], folder)
    corpora.fill(folder / "toy", {"named": b"named"})
    unpacked = functools.partial(corpora.unpacked, corpus=folder, out=corpus.parent / "out")
    monkeypatch.setattr(corpora, "unpacked", unpacked)
    monkeypatch.setattr(corpora, "add", functools.partial(corpora.add, corpus=folder))
    corpora.fill(run.cache_folder("toy"), {"good": b"good", "same": b"same"})
    (corpus.parent / "fuzz").mkdir()
    return folder


def merge_toy(folder: Path, body: str) -> int:
    program(folder / "fuzz", body).rename(folder / "fuzz" / "toy_fuzzer")
    return run.merge_all(["toy"], folder)


def test_merge_adds_the_kept_inputs_to_the_archive(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert merge_toy(toy.parent, MERGES) == 0
    archived = corpora.archived(corpora.archive_of("toy", toy))
    assert sorted(archived.values()) == [b"archived", b"good"]
    assert corpora.regression("toy", toy) == {"named": b"named"}
    assert capsys.readouterr().out.split(maxsplit=1) == [
        "toy",
        "2 inputs, 1 kept, 1 added to the archive\n",
    ]


def test_failed_merge_leaves_the_archive(toy: Path) -> None:
    before = corpora.archive_of("toy", toy).read_bytes()
    assert merge_toy(toy.parent, "exit 1") == 2
    assert corpora.archive_of("toy", toy).read_bytes() == before


def test_merge_without_an_archive_is_an_error(
    toy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpora.archive_of("toy", toy).unlink()
    assert merge_toy(toy.parent, MERGES) == 2
    (line,) = capsys.readouterr().out.splitlines()
    assert "not merged: " in line and "toy.zip: no such archive: " in line
    assert not corpora.archive_of("toy", toy).exists()


def test_runs_limits_the_number_of_inputs(corpus: Path) -> None:
    body = f"printf '%s ' \"$@\" >>{corpus.parent}/words; printf '{CLEAN}' >&2"
    binary = program(corpus.parent, body)
    run.judge("subject", binary, binary, corpus, corpus.parent / "findings", 1, runs=5_000)
    words = (corpus.parent / "words").read_text("utf-8").split()
    assert "-runs=5000" in words
    assert "-max_total_time=1" in words  # only of the empty one
    assert words.index("-runs=5000") < words.index("-max_total_time=1")


def test_finding_takes_precedence_over_not_judged_harness(corpus: Path) -> None:
    body = "printf 'Test unit written to /tmp/crash-1\\n' >&2; exit 77"
    found = judged(program(corpus.parent, body), corpus)
    missing = judged(corpus.parent / "nowhere", corpus)
    assert run.status([missing, found]) == 1


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("echo broken tool; exit 1", "status 1 without a reproducer (broken tool)"),
        ("kill -9 $$", "status -9 without a reproducer (no output)"),
    ],
)
def test_crash_without_reproducer_is_not_judged(corpus: Path, body: str, error: str) -> None:
    outcome = judged(program(corpus.parent, body), corpus)
    assert outcome.error == error
    assert run.status([outcome]) == 2


def test_missing_harness_is_not_judged(corpus: Path) -> None:
    outcome = judged(corpus.parent / "nowhere", corpus)
    assert "not built" in outcome.error
    assert run.status([outcome]) == 2


def test_an_empty_corpus_is_not_judged(corpus: Path) -> None:
    (corpus / "seed").unlink()
    outcome = judged(program(corpus.parent, f"printf '{CLEAN}' >&2"), corpus)
    assert "no corpus" in outcome.error
    assert run.status([outcome]) == 2


def test_run_without_harnesses_is_not_judged() -> None:
    assert run.status([]) == 2


def test_an_unknown_harness_is_refused_with_the_known_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run.main(["--harness", "nothing"]) == 2
    assert "unknown harness nothing (known: branch, " in capsys.readouterr().err


def test_zero_inputs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["--runs", "0"]) == 2
    assert capsys.readouterr().err == "fuzz: --runs must be at least 1\n"


def test_harness_that_was_not_judged_counts_as_failed(corpus: Path) -> None:
    results = corpus.parent / "results.json"
    clean = judged(program(corpus.parent, f"printf '{CLEAN}' >&2"), corpus)
    missing = judged(corpus.parent / "nowhere", corpus)
    run.report([clean, missing], results)
    totals = json.loads(results.read_text())["totals"]
    assert totals == {
        "executions": 2468,
        "findings": 0,
        "cases": 4,
        "passed": 2,
        "failed": 2,
        "skipped": 0,
    }


def test_each_harness_has_a_corpus_and_a_build_target() -> None:
    built = (run.ROOT / "fuzz" / "CMakeLists.txt").read_text()
    for subject in run.subjects(run.ROOT / "fuzz"):
        assert corpora.inputs(subject)
        assert subject in built
