# SPDX-License-Identifier: Apache-2.0
"""The units of make check and make nightly are the same on every day, and each test is in one of them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from ci import check, lint, matrix_file
from ci.units import catalogue, nightly, unit
from ci.units.inputs import Inputs
from ci.units.readers import reads
from ci.units.schedule import Machine
from ci.units.unit import Unit
from fuzz import corpora
from vm import kernel

INPUTS = Inputs()


def names(units: list[Unit]) -> set[str]:
    return {unit.name for unit in units}


def test_units_have_unique_names_and_reports() -> None:
    units = nightly.nightly_units(INPUTS, 8)
    assert len(names(units)) == len(units)
    reports = [unit.report for unit in units if unit.report and not unit.lock]
    assert len(set(reports)) == len(reports)
    for unit in units:
        assert set(unit.needs) <= names(units), unit.name
        assert unit.build or unit.reads or unit.traced, unit.name


def test_nightly_includes_all_units_of_make_check() -> None:
    assert names(catalogue.check_units(INPUTS)) <= names(nightly.nightly_units(INPUTS, 8))


def test_each_test_file_lint_step_and_job_belongs_to_a_unit() -> None:
    night = names(nightly.nightly_units(INPUTS, 8))
    check_too = names(catalogue.check_units(INPUTS))
    for name in INPUTS.files:
        if name.endswith("_test.py"):
            assert {f"pytest/{name}", f"pytest-nightly/{name}"} & night, name
    for job in matrix_file.read():
        place = job.place
        run = f"run/{place.target}-{place.kernel}"
        assert run in check_too if job.check else f"matrix/{job.name}" in night
    assert {f"lint/{name}" for name in lint.step_names()} - night == {"lint/clang-tidy"}
    assert {
        "kunit/6.1",
        "kunit/6.12",
        "kunit/7.2",
        "unit/driver-1of3",
        "unit/driver-dev-1of3",
    } <= night


@pytest.mark.parametrize(("marks", "group"), [("not nightly", ""), ("nightly", "-nightly")])
def test_each_python_test_belongs_to_a_unit(marks: str, group: str) -> None:
    argv = [catalogue.PYTHON, "-m", "pytest", "-q", "--collect-only", "-m", marks]
    done = subprocess.run(
        argv, cwd=check.ROOT, capture_output=True, text=True, timeout=200, check=False
    )
    files = {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}
    units = names(catalogue.pytest_units(INPUTS, night=bool(group)))
    assert files and {f"pytest{group}/{name}" for name in files} - units == set()


def test_nightly_tries_each_fault_on_each_kernel_with_all_its_observers() -> None:
    night = nightly.nightly_units(INPUTS, 8)
    for name in ("6.12", "6.1", *kernel.debug_known()):
        own = [unit for unit in night if unit.name.startswith(f"faults/driver-{name}-")]
        own = [unit for unit in own if unit.name.partition(f"-{name}-")[2][0].isdigit()]
        count = len(own)
        words = [unit.commands[0] for unit in own]
        parts = {each[each.index("--part") + 1] for each in words}
        assert parts == {f"{part}/{count}" for part in range(1, count + 1)}
        assert count and all("--rules" in each and "--observer" not in each for each in words)


def test_nightly_runs_kunit_and_every_target_on_every_debug_kernel() -> None:
    night = names(nightly.nightly_units(INPUTS, 8))
    for name in kernel.debug_known():
        assert f"kunit/{name}" in night
        assert {f"run/{target}-{name}" for target in nightly.targets()} <= night


def test_no_nightly_unit_takes_an_hour() -> None:
    assert [u.name for u in nightly.nightly_units(INPUTS, 8) if u.default_s > 3600] == []


def command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [catalogue.PYTHON, "-m", "ci.check", *words],
        cwd=check.ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("words", [["--list"], ["--stages", "?"], ["--nightly", "--list"]])
def test_list_has_each_unit_with_its_duration(words: list[str]) -> None:
    done = command(*words)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert any(line.startswith("run/refpmu-6.12 ") and " s " in line for line in lines)
    assert lines[-1].endswith("core minutes")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--stages", "soup"], "check: unknown stage 'soup'; known: lint, "),
        (["--stages", ","], "check: --stages has no name"),
        (["--stages", "soak"], "check: unknown stage 'soak'; known: lint, "),
        (["--shard", "1/2"], "check: --shard needs --nightly"),
    ],
)
def test_unknown_stage_is_a_one_line_error(words: list[str], line: str) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert done.stdout.startswith(line) and len(done.stdout.splitlines()) == 1


def test_invalid_shard_error_names_the_option() -> None:
    done = command("--nightly", "--shard", "3/2")
    assert done.returncode == 2
    assert "--shard: invalid part K/N value: '3/2'" in done.stderr


def test_stages_select_groups_units_and_globs_with_their_builds() -> None:
    units = catalogue.check_units(INPUTS)
    chosen = names(check.select_units(units, "fuzz/period,run/software-*"))
    assert chosen == {
        *("fuzz/period", "build/fuzz", "run/software-6.12"),
        *("build/guest", "build/module-6.12", "build/kernel-6.12"),
    }
    assert {"lint/black", "tidy/1of4"} & names(check.select_units(units, "lint")) == {"lint/black"}


def test_no_unit_of_make_check_depends_on_the_day() -> None:
    for name in INPUTS.files:
        if name.startswith("ci/") and name.endswith(".py") and "/tests/" not in name:
            text = (check.ROOT / name).read_text(encoding="utf-8")
            assert "datetime" not in text, name


RUNS = {unit.name for unit in catalogue.check_units(INPUTS) if unit.group == "run"}
OF_THE_DRIVER = RUNS - {"run/software-6.12", "run/tracepoint-6.12"}
SAMPLE = {"faults/sample"}
FAULTS = SAMPLE | {"faults/answers-6.12"}
KUNIT = {"kunit/6.12"}


@pytest.mark.parametrize(
    ("changed", "readers"),
    [
        ("driver/core_pmu/irq.c", OF_THE_DRIVER | FAULTS | KUNIT),
        ("faults/driver/counters/C02-x.patch", FAULTS),
        ("faults/suite/oracle/I01-x.patch", FAULTS),
        ("kunit/rig.c", FAULTS | KUNIT),
        ("vm/initrd/init", RUNS | FAULTS),
        ("conformance/waivers/x86.toml", RUNS | {"unit/conformance"}),
        ("ci/units/records.py", RUNS | FAULTS),
        ("vm/kernels/6.12.toml", RUNS | FAULTS | KUNIT),
        ("conformance/targets/refpmu.toml", RUNS | FAULTS | {"unit/conformance"}),
        ("fuzz/corpus/period/named_input", {"fuzz/period"}),
        ("fuzz/corpus/period.zip", {"fuzz/period"}),
        ("fuzz/corpora.py", {f"fuzz/{each}" for each in corpora.subjects()} | FAULTS),
        ("package:qemu-system-x86", RUNS | FAULTS | KUNIT),
        ("source:6.12", FAULTS | KUNIT),
        ("suite:runner", RUNS | FAULTS),
        ("product:build/fuzz/fuzz/period_fuzzer", {"fuzz/period"}),
        ("docs/check.md", set()),
    ],
)
def test_change_runs_exactly_the_units_that_read_it(changed: str, readers: set[str]) -> None:
    groups = ("run", "mutants", "kunit", "fuzz", "unit")
    found = {
        unit.name
        for unit in catalogue.check_units(INPUTS)
        if unit.group in groups
        and any(name == changed or reads(name, changed) for name in unit.stated())
    }
    assert found == readers


@pytest.mark.parametrize("stop", [True, False])
def test_stop_ends_the_other_units_at_the_first_failure(
    stop: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for module in (check, unit):
        monkeypatch.setattr(module, "OUT", tmp_path)
    # Without --stop the other unit runs to its end.
    other = ("sh", "-c", f"read line <{tmp_path}/pipe" if stop else "true")
    os.mkfifo(tmp_path / "pipe")
    units = [
        Unit("a/fails", (("false",),), 60, "repeat", reads=("text:a",), memory_mb=1, default_s=1),
        Unit("a/other", (other,), 60, "repeat", reads=("text:b",), memory_mb=1),
    ]
    monkeypatch.setattr(Machine, "here", lambda: Machine(2, 1000))
    assert check.run(units, False, False, None, "test", stop) == 1
    document = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    found = {row["name"]: row["result"] for row in document["units"]}
    assert found == {"a/fails": "FAIL", "a/other": "NOT_RUN" if stop else "PASS"}
    assert (document["totals"]["cases"], document["totals"]["passed"]) == (2, 0 if stop else 1)
    text = "stopped at the first failure: 1 units did not run"
    assert (text in capsys.readouterr().out) == stop


def test_nightly_run_adds_the_results_of_targets_to_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("run/refpmu-6.12", "matrix/6.12/amd64/tcg/software", "lint/black", "run/none")
    units = [
        Unit(name, (), 1, "", tmp_path / str(i) / "results.json") for i, name in enumerate(names)
    ]
    for unit in units[:3]:
        assert unit.report is not None
        unit.report.parent.mkdir()
        unit.report.touch()
    calls: list[list[str]] = []
    status = 0

    def command(words: list[str]) -> int:
        calls.append(words)
        return status

    monkeypatch.setattr("vm.page.command", command)
    check.keep_history(units)
    assert calls == [["history", "add", str(units[0].report), str(units[1].report)]]
    status = 2
    check.keep_history(units)
    assert "the history lacks these runs" in capsys.readouterr().err
    check.keep_history(units[2:])
    assert len(calls) == 2
