# SPDX-License-Identifier: Apache-2.0
"""What make check and make nightly are made of: each stage once, and the debug kernels at night."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import check
import pytest
import totals
from pmuvm import kernel


def test_stages_have_names_and_reports_of_their_own() -> None:
    for stages in (check.stages(), check.nightly_stages(8)):
        assert len({stage.name for stage in stages}) == len(stages)
        assert len({stage.report for stage in stages}) == len(stages)


def test_at_night_kunit_and_every_target_run_on_every_debug_kernel() -> None:
    commands = [command for stage in check.nightly_stages(8) for command in stage.commands]
    suites = [command for command in commands if "pmuvm" in command]
    debug = [command for command in commands if "--debug" in command]
    for name in kernel.debug_known():
        ran = {command[command.index("--target") + 1] for command in suites if name in command}
        assert ran == set(check.targets())
        assert any(name.removesuffix(check.DEBUG) in command for command in debug)
    assert any(set(kernel.debug_known()) < set(command) for command in commands)


def test_at_night_there_is_an_hour_of_each_kind_of_fuzzing_and_each_kernel_is_asked() -> None:
    stages = {stage.name: stage for stage in check.nightly_stages(8)}
    fuzz, guests = stages["fuzz"].commands[-1], stages["fuzz-vm"].commands[-1]
    assert fuzz[-2:] == guests[-2:] == ("--time", "3600")
    assert "6.12-kcov" in guests
    for name in check.KERNELS:
        asked = stages[f"oracle-{name}"]
        assert name in asked.commands[-1]
        assert asked.commands[-1][-1] == "100000"
        assert asked.report.parent.name == f"oracle-{name}"


def test_a_stage_on_a_debug_kernel_says_how_to_repeat_it() -> None:
    assert (
        check.conformance_stage("6.1-debug", "x").repeat == "make run KERNEL=6.1 DEBUG=1 TARGET=x"
    )
    assert check.kunit_stage("6.12-debug").repeat == "make kunit KERNEL=6.12 DEBUG=1"
    assert check.kunit_stage("6.12").repeat == "make kunit KERNEL=6.12"


def stage(folder: Path, name: str, beside: bool, first: str = "true") -> check.Stage:
    """It does `first`, then it has passed."""
    report = folder / f"{name}.json"
    totals = '{"totals": {"cases": 1, "passed": 1, "skipped": 0}}'
    words = f"{first} && echo '{totals}' >{report}"
    return check.Stage(name, (("bash", "-c", words),), report, 60, "", beside)


def test_suites_run_beside_each_other_and_are_told_of_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "OUT", tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    os.mkfifo(tmp_path / "meet")
    # Who opens a pipe waits for the other end.
    told = check.run_stages(
        [
            stage(tmp_path, "a", True, f": >{tmp_path}/meet"),
            stage(tmp_path, "b", True, f": <{tmp_path}/meet"),
        ]
    )
    assert [(each.name, found.passed, found.failed) for each, found, _ in told if found] == [
        ("a", 1, 0),
        ("b", 1, 0),
    ]


def test_a_stage_that_has_the_machine_to_itself_waits_for_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "OUT", tmp_path)
    stages = [stage(tmp_path, "a", True), stage(tmp_path, "b", False)]
    begun = [
        (each.name, found.passed, (tmp_path / "b.json").exists())
        for each, found, _ in check.run_stages(stages)
        if found
    ]
    assert begun == [("a", 1, False), ("b", 1, True)]


def test_when_time_is_short_a_share_is_left_and_the_rest_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "OUT", tmp_path)
    share = dataclasses.replace(stage(tmp_path, "a", True), share=True)
    old = tmp_path / "a.json"
    old.write_text("{}", encoding="utf-8")
    stages = [share, stage(tmp_path, "b", False)]
    told = [(each.name, found) for each, found, _ in check.run_stages(stages, -1)]
    assert told == [("a", None), ("b", totals.Totals(1, 0, 0))]
    assert not old.exists()
    assert [each for _, each, _ in check.run_stages([share])] == [totals.Totals(1, 0, 0)]


def test_only_what_other_days_have_too_is_a_share() -> None:
    shares = {each.name for each in check.stages() if each.share}
    cells = {each.name for each in check.cell_stages(share=True)}
    assert shares == {"mutants"} | cells
    assert cells and not cells & {each.name for each in check.cell_stages(share=False)}


def test_whoever_ends_the_run_ends_its_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "OUT", tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    forever = stage(tmp_path, "b", True, f"echo $$ >{tmp_path}/pid && exec tail -f /dev/null")
    last = stage(tmp_path, "c", False)
    stages = check.run_stages([stage(tmp_path, "a", True, f": <{tmp_path}/pid"), forever, last])
    os.mkfifo(tmp_path / "pid")
    assert next(stages)[0].name == "a"
    with pytest.raises(KeyboardInterrupt):
        stages.throw(KeyboardInterrupt())
    # Not at the end of its budget: it was ended, and nothing began after it.
    assert "over its budget" not in (tmp_path / "b.log").read_text(encoding="utf-8")
    assert not (tmp_path / "b.json").exists()
    assert not (tmp_path / "c.log").exists()


def test_every_suite_of_make_check_runs_beside_others() -> None:
    assert [each.name for each in check.stages() if each.beside] == [
        each.name for each in check.stages() if "pmuvm" in each.commands[-1]
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nightly", "--rounds", "0"], "argument --rounds: invalid"),
        (
            ["--nightly", "--stages", "unit"],
            "check: unknown stage 'unit'; known: lint, pytest-nightly, lines, kunit-6.12-debug,",
        ),
        (["--minutes", "0"], "argument --minutes: invalid"),
        (["--stages", "soak"], "check: unknown stage 'soak'; known: lint,"),
    ],
)
def test_a_bad_word_is_one_clear_line(words: list[str], said: str) -> None:
    done = subprocess.run(
        [check.PYTHON, str(check.ROOT / "ci" / "check.py"), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert said in (done.stdout + done.stderr).splitlines()[-1]
