# SPDX-License-Identifier: Apache-2.0
"""Each test belongs to make check or make nightly, and ctest runs the chosen ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ci import check, matrix_file
from ci.remember.inputs import Inputs
from vm import kernel

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
enable_testing()
function(small name labels)
  add_test(NAME ${name} COMMAND sh -c "echo ${name} $PMUCONF_SINCE >>${CMAKE_SOURCE_DIR}/ran; ${ARGN}")
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" FIXTURES_REQUIRED built)
endfunction()
small(a/one "check;nightly" true)
small(a/two "check;nightly" "test ! -e ${CMAKE_SOURCE_DIR}/fail")
small(ab/three "check;nightly" true)
small(b/four nightly true)
add_test(NAME build/x COMMAND sh -c "echo build/x >>${CMAKE_SOURCE_DIR}/ran")
set_tests_properties(build/x PROPERTIES FIXTURES_SETUP built)
"""
DAY = {"a/one", "a/two", "ab/three"}


def declared(folder: Path) -> dict[str, set[str]]:
    """The labels of each test of the project."""
    configure = ["cmake", "-S", str(check.SOURCE), "-B", str(folder), "-DNIGHTLY=True"]
    subprocess.run(configure, check=True, capture_output=True)
    show = ["ctest", "--test-dir", str(folder), "--show-only=json-v1"]
    found = subprocess.run(show, check=True, capture_output=True, text=True).stdout
    tests = {}
    for test in json.loads(found)["tests"]:
        values = {each["name"]: each["value"] for each in test["properties"]}
        tests[test["name"]] = set(values.get("LABELS", ()))
    return tests


@pytest.fixture(name="tests", scope="module")
def fixture_tests(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    return declared(tmp_path_factory.mktemp("check"))


def test_each_test_file_and_job_belongs_to_a_test(tests: dict[str, set[str]]) -> None:
    for name in Inputs().files:
        if name.endswith("_test.py"):
            assert {f"pytest/{name}", f"pytest-nightly/{name}"} & tests.keys(), name
    for job in matrix_file.read():
        run = f"run/{job.place.target}-{job.place.kernel}"
        assert "check" in tests[run] if job.check else f"matrix/{job.name}" in tests
    assert all("nightly" in labels for labels in tests.values() if labels != {"build"})


@pytest.mark.parametrize(("marks", "group"), [("not nightly", ""), ("nightly", "-nightly")])
def test_each_python_test_belongs_to_a_test(
    tests: dict[str, set[str]], marks: str, group: str
) -> None:
    argv = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-m", marks]
    done = subprocess.run(
        argv, cwd=check.ROOT, capture_output=True, text=True, timeout=400, check=False
    )
    files = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    assert files and {f"pytest{group}/{name}" for name in files} - tests.keys() == set()


def test_nightly_runs_all_faults_and_every_target_on_the_debug_kernels(
    tests: dict[str, set[str]],
) -> None:
    for name in kernel.debug_known():
        assert f"kunit/{name}" in tests
        assert {f"run/{target}-{name}" for _, target in matrix_file.checked()} <= tests.keys()
    for name in ("6.12", "6.1", *kernel.debug_known()):
        assert {f"faults/driver-{name}-{part}of16" for part in range(1, 17)} <= tests.keys()


@pytest.fixture(name="source")
def fixture_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project instead of this one."""
    (tmp_path / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
    monkeypatch.setattr(check, "SOURCE", tmp_path)
    monkeypatch.setattr(check, "OUT", tmp_path / "out")
    monkeypatch.setattr(check, "record_results", lambda nightly: 0)
    return tmp_path


def ran(source: Path, *words: str, status: int = 0) -> dict[str, str]:
    """Runs ci.check. Returns the tests that ran, and the time since when a pass counts for each."""
    (source / "ran").write_text("", encoding="utf-8")
    assert check.main(words) == status
    lines = (source / "ran").read_text(encoding="utf-8").splitlines()
    return {line.partition(" ")[0]: line.partition(" ")[2] for line in lines}


def test_stages_select_groups_and_tests_with_their_builds(
    source: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ran(source).keys() == {*DAY, "build/x"}
    assert ran(source, "--nightly").keys() == {*DAY, "b/four", "build/x"}
    assert ran(source, "--stages", "a").keys() == {"a/one", "a/two", "build/x"}
    assert ran(source, "--stages", "a/o.*,ab").keys() == {"a/one", "ab/three", "build/x"}
    assert ran(source, "--stages", "b", status=2) == {}
    assert "no test ran that matches --stages 'b'" in capfd.readouterr().err


def test_shards_are_the_whole_run(source: Path) -> None:
    shards = [ran(source, "--nightly", "--shard", f"{k}/3").keys() - {"build/x"} for k in (1, 2, 3)]
    assert sum(map(len, shards)) == 4 and set().union(*shards) == {*DAY, "b/four"}


def test_failure_is_status_1_and_the_last_line_has_the_numbers(
    source: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "fail").touch()
    ran(source, status=1)
    assert capfd.readouterr().out.splitlines()[-1] == "3 passed, 1 failed"
    (source / "fail").unlink()
    monkeypatch.setattr(check, "record_results", lambda nightly: 1)
    ran(source, status=1)
    ran(source, "--stages", "a")
    (source / "CMakeLists.txt").write_text("project(", encoding="utf-8")
    ran(source, status=2)


def test_nightly_continues_until_all_tests_have_passed(source: Path) -> None:
    assert set(ran(source).values()) == {"0", ""}
    (source / "fail").touch()
    (first,) = set(ran(source, "--nightly", status=1).values()) - {""}
    (source / "fail").unlink()
    assert set(ran(source, "--nightly").values()) == {first, ""}
    (later,) = set(ran(source, "--nightly").values()) - {""}
    assert float(later) > float(first) > 0
    (fresh,) = set(ran(source, "--fresh").values()) - {""}
    assert float(fresh) > float(later)


def test_nightly_adds_the_runs_of_targets_to_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check, "OUT", tmp_path)
    monkeypatch.setattr("ci.verified_rules.main", lambda words: len(words))
    calls: list[list[str]] = []

    def command(words: list[str]) -> int:
        calls.append(words)
        return len(calls) - 1

    monkeypatch.setattr("vm.page.command", command)
    for name in ("matrix+6.12+software", "lint"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "results.json").touch()
    report = str(tmp_path / "matrix+6.12+software" / "results.json")
    assert check.record_results(nightly=False) == 2 and calls == []
    assert check.record_results(nightly=True) == 3 and calls == [["history", "add", report]]
    check.record_results(nightly=True)
    assert "the history lacks these runs" in capsys.readouterr().err
