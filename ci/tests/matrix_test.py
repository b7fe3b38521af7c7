# SPDX-License-Identifier: Apache-2.0
"""The data of the matrix is complete, one job cannot stop the others, and each error is one line."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from ci import matrix, matrix_file, timed_commands
from pmubase.errors import UserError
from vm import suite
from vm.packages import STATUS_NO_PACKAGE

CORES = 2
LIMIT_MIN = 90
MODELLED_LIMIT_MIN = 70
"""For the jobs of drivers on modelled devices."""
ENTRY = '[[jobs]]\nkernels = ["6.12"]\ntargets = ["software"]\nminutes = 1\n'
GOOD = {"passed": 7, "failed": 0, "skipped": 1, "waived": 0, "broken": 0, "lost": 0, "cases": 8}


def read(tmp_path: Path, text: str) -> tuple[matrix_file.Job, ...]:
    path = tmp_path / "matrix.toml"
    path.write_text(text, encoding="utf-8")
    return matrix_file.read(path)


def test_each_job_has_a_folder_of_its_own() -> None:
    jobs = matrix_file.read()
    assert len({matrix.folder(job) for job in jobs}) == len(jobs)


def test_every_target_and_every_kernel_has_a_job() -> None:
    jobs = [job.place for job in matrix_file.read()]
    assert {place.target for place in jobs} == {place.target for place in matrix_file.all_places()}
    # The kernels with coverage have the same options as the debug kernels, so they are not judged again.
    judged = {p.kernel for p in matrix_file.all_places() if not p.kernel.endswith("-kcov")}
    assert {place.kernel for place in jobs} == judged


def test_jobs_take_at_most_90_minutes_and_modelled_ones_70_on_two_cores() -> None:
    limits = {False: LIMIT_MIN, True: MODELLED_LIMIT_MIN}
    for modelled, limit in limits.items():
        jobs = [job for job in matrix_file.read() if is_modelled(job) == modelled]
        assert sum(job.minutes for job in jobs) / CORES <= limit


def is_modelled(job: matrix_file.Job) -> bool:
    return suite.find_target(job.place.target).machine.device is not None


def test_entry_defines_a_job(tmp_path: Path) -> None:
    (job,) = read(tmp_path, ENTRY)
    assert job.name == "6.12/amd64/tcg/software"
    assert job.repro_command() == "make run PMUCONF_ACCEL=tcg KERNEL=6.12 TARGET=software"
    more = ENTRY.replace("minutes", 'arch = "arm64"\nprofile = "software-1.0"\nminutes')
    two = read(tmp_path, ENTRY + more)[1]
    assert two.name == "6.12/arm64/tcg/software/software-1.0"
    assert two.repro_command().endswith(" TARGET=software ARCH=arm64 PROFILE=software-1.0")
    words = " ".join(two.command(tmp_path))
    assert "--arch arm64 --target software --profile software-1.0 --verdict all --out" in words


def test_make_check_runs_each_driver_type_and_the_reference_on_every_stock_kernel() -> None:
    checked = {(job.place.kernel, job.place.target) for job in matrix_file.read() if job.check}
    assert {("6.12", "refpmu"), ("6.1", "refpmu"), ("6.12", "software")} <= checked
    assert sorted(checked) == sorted(matrix_file.checked())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ENTRY + "colour = 3\n", "jobs: unknown key 'colour'; known: kernels, "),
        ("colour = 3\n" + ENTRY, "toml: unknown key 'colour'; known: jobs"),
        (
            ENTRY.replace("6.12", "6.13"),
            "jobs.kernels[1]: '6.13' is not one of 6.1, ",
        ),
        (
            ENTRY.replace("soft", "hard"),
            "jobs 1: targets: no target 'hardware' can run on 6.12",
        ),
        (
            ENTRY.replace("software", "intel"),
            "targets: no target 'intel' can run on 6.12",
        ),
        (ENTRY + 'arch = "vax"\n', "jobs.arch: 'vax' is not one of amd64, arm64"),
        (ENTRY + 'accel = "x"\n', "jobs.accel: 'x' is not one of kvm, tcg, "),
        (ENTRY + 'profile = "x"\n', "jobs.profile: 'x' is not one of counting-"),
        (ENTRY.replace("= 1", "= 0"), "jobs.minutes: 0 is not a number above 0"),
        (ENTRY.replace("= 1", "= inf"), "jobs.minutes: inf is not a number above 0"),
        (
            ENTRY.replace("minutes = 1\n", ""),
            "jobs: no key 'minutes'",
        ),
        (
            ENTRY.replace('["6.12"]', '"6.12"'),
            "jobs.kernels: '6.12' is not a list",
        ),
        (
            ENTRY.replace('["6.12"]', "[6.12]"),
            "jobs.kernels[1]: 6.12 is not one of 6.1, ",
        ),
        (ENTRY.replace('["6.12"]', "[]"), "jobs.kernels: has fewer than 1 entries"),
        (
            ENTRY + ENTRY,
            "jobs 2: targets: the job 6.12/amd64/tcg/software occurs twice",
        ),
        (
            ENTRY.replace("software", "soft*") + "check = true\n",
            "jobs 1: targets: jobs with `check` name their targets without globs",
        ),
        ("", "toml: no key 'jobs'"),
        ("jobs = [", "Invalid value (at end of document)"),
    ],
)
def test_invalid_data_is_a_one_line_error_that_names_file_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'matrix.toml'}:")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--jobs", "6.13*"], "matrix: JOBS='6.13*' matches no job; "),
        (["--jobs", "6.12/* x"], "matrix: JOBS='x' matches no job; "),
        (["--parallel", "0"], "argument --parallel: invalid"),
    ],
)
def test_invalid_argument_is_a_one_line_error(words: list[str], said: str) -> None:
    done = subprocess.run(
        [matrix_file.PYTHON, "-m", "ci.matrix", *words],
        cwd=matrix_file.ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert said in done.stderr.splitlines()[-1]


def test_globs_select_jobs() -> None:
    jobs = matrix_file.read()
    chosen = matrix.select(jobs, ["6.12-rt/*", "*/tracepoint"])
    assert {job.name for job in chosen} == {
        job.name for job in jobs if "6.12-rt/" in job.name or "/tracepoint" in job.name
    }
    assert matrix.select(jobs, []) == list(jobs)


def job(name: str) -> matrix_file.Job:
    return matrix_file.Job(matrix_file.Place("6.12", "amd64", "tcg", name, ""), 1.0, False)


def conformant(name: str, **changed: object) -> str:
    """A shell script that replaces a run and writes these results."""
    results = {
        "verdict": "CONFORMANT",
        "reason": "9 MUST rules passed, judged by the suite alone",
        "target": name,
        "profile": "",
        "kernel": "6.12",
        "release": "6.12.0",
        "arch": "x86_64",
        "rules": [],
        "totals": GOOD,
        "cases": [{"id": "A.Good", "result": "PASS", "message": ""}],
    }
    return f"cat >$0/results.json <<'E'\n{json.dumps({**results, **changed})}\nE\n"


@pytest.fixture(name="stand_ins")
def fixture_stand_ins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """Shell scripts that replace the runs of the targets. $0 is the folder of the run."""
    scripts: dict[str, str] = {}

    def command(self: matrix_file.Job, out: Path) -> tuple[str, ...]:
        return ("sh", "-c", scripts[self.place.target], str(out))

    monkeypatch.setattr(matrix, "OUT", tmp_path)
    monkeypatch.setattr(matrix_file.Job, "command", command)
    monkeypatch.setattr(matrix, "prepare", lambda *_: {})
    return scripts


def run_all(scripts: dict[str, str], parallel: int = 1) -> dict[str, matrix.Outcome]:
    jobs = [job(name) for name in scripts]
    outcomes = matrix.run_all(jobs, parallel)
    return {outcome.job.place.target: outcome for outcome in outcomes}


def test_failed_job_reports_its_cause_and_does_not_stop_others(
    stand_ins: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    failed = [{"id": "A.Bad", "result": "FAIL", "message": "1 is not 2\nmore"}]
    stand_ins.update(
        {
            "failing": conformant(
                "failing", verdict="NOT_CONFORMANT", reason="a rule fails", cases=failed
            )
            + "exit 1",
            "refused": "echo pmuvm: no such thing; exit 2",
            "silent": "true",
            "crashing": "kill -9 $$",
            "broken": conformant("broken", totals={**GOOD, "broken": 1}),
            "lost": conformant("lost", totals={**GOOD, "lost": 2}),
            "other": conformant("else"),
            "half": conformant("half", profile="x"),
            "wrong": conformant("wrong") + "exit 1",
            "partial": conformant("partial", verdict="PARTIAL"),
            "garbage": "echo '{' >$0/results.json",
            "good": conformant("good"),
        }
    )
    found = run_all(stand_ins)
    assert {name for name, outcome in found.items() if not outcome.why} == {"good"}
    assert found["failing"].why == "a rule fails: A.Bad FAIL: 1 is not 2"
    assert found["refused"].why == "status 2: pmuvm: no such thing"
    assert found["broken"].why == "1 broken, 0 lost"
    assert found["lost"].why == "0 broken, 2 lost"
    assert found["other"].why == "the results belong to else"
    assert found["crashing"].why == "status -9: no output"
    assert found["wrong"].why == "its status is 1"
    assert found["partial"].verdict == "PARTIAL"
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(stand_ins)
    again = "make run PMUCONF_ACCEL=tcg KERNEL=6.12 TARGET=refused"
    assert (
        f"[2/12] 6.12/amd64/tcg/refused: NO_RESULT: status 2: pmuvm: no such thing; repro: {again}"
        in lines
    )
    assert "[12/12] 6.12/amd64/tcg/good: conformant, 8 cases, 0 s" in lines


def test_many_failures_are_reported_in_one_line(stand_ins: dict[str, str]) -> None:
    bad = [{"id": f"A.Bad{i}", "result": "FAIL", "message": "no"} for i in range(9)]
    stand_ins["many"] = conformant("many", verdict="NOT_CONFORMANT", reason="r", cases=bad)
    why = run_all(stand_ins)["many"].why
    assert why == "r: A.Bad0 FAIL: no; A.Bad1 FAIL: no; A.Bad2 FAIL: no; and 6 more"


def test_hanging_job_is_ended_at_its_deadline(
    stand_ins: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix_file, "BUSY", 0)
    monkeypatch.setattr(matrix_file, "START_MIN", 0)
    stand_ins.update({"hanging": "tail -f /dev/null", "good": conformant("good")})
    found = run_all(stand_ins)
    assert found["hanging"].verdict == "HANGS" and found["good"].why == ""


def test_results_are_written_when_a_job_ends(stand_ins: dict[str, str], tmp_path: Path) -> None:
    stand_ins["first"] = conformant("first")
    stand_ins["second"] = f"cp {tmp_path}/results.json {tmp_path}/seen; false"
    run_all(stand_ins)
    seen = json.loads((tmp_path / "seen").read_text(encoding="utf-8"))
    assert [(case["result"], case["verdict"]) for case in seen["cases"]] == [
        ("PASS", "CONFORMANT"),
        ("FAIL", "NOT_RUN"),
    ]
    last = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert last["totals"] == {"cases": 2, "passed": 1, "failed": 1, "skipped": 0}
    page = (tmp_path / "matrix.md").read_text(encoding="utf-8")
    assert "| 6.12/amd64/tcg/first | CONFORMANT | 7 | 0 | 1 | 0 |" in page
    assert "repro: `make run PMUCONF_ACCEL=tcg KERNEL=6.12 TARGET=second`" in page


def test_result_of_an_earlier_run_is_not_used(stand_ins: dict[str, str], tmp_path: Path) -> None:
    stand_ins["one"] = conformant("one")
    assert run_all(stand_ins)["one"].why == ""
    stand_ins["one"] = "echo gone; exit 2"
    assert run_all(stand_ins)["one"].why == "status 2: gone"
    assert not (matrix.folder(job("one")) / "results.json").exists()


def test_jobs_run_concurrently(stand_ins: dict[str, str], tmp_path: Path) -> None:
    # Each script waits until the other one has started, so they hang if run one after the other.
    for name, other in (("one", "two"), ("two", "one")):
        os.mkfifo(tmp_path / name)
        write = f"echo >{tmp_path}/{other} & "
        stand_ins[name] = f"{write} read x <{tmp_path}/{name}\n{conformant(name)}"
    assert all(not outcome.why for outcome in run_all(stand_ins, parallel=2).values())


def test_failed_preparation_affects_only_its_jobs(
    stand_ins: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_ins["good"] = conformant("good")
    good = job("good")
    bad = matrix_file.Job(matrix_file.Place("x", "amd64", "tcg", "t", ""), 1.0, False)
    errors = {("x", "amd64"): matrix.Unprepared("no such kernel")}
    monkeypatch.setattr(matrix, "prepare", lambda *_: errors)
    found = matrix.run_all([good, bad], 1)
    assert [(outcome.verdict, outcome.why, outcome.result) for outcome in found] == [
        ("CONFORMANT", "", "PASS"),
        ("NO_RESULT", "no such kernel", "FAIL"),
    ]
    errors[("x", "amd64")] = matrix.Unprepared("no package", gone=True)
    [skipped] = matrix.run_all([bad], 1)
    assert (skipped.verdict, skipped.why, skipped.result) == (matrix.SKIPPED, "no package", "SKIP")


def test_suite_and_kernels_are_prepared_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ran = []

    def command(_self: timed_commands.Commands, words: tuple[str, ...], log: Path, _: float) -> int:
        ran.append(" ".join(words))
        log.write_text("a line\nbad luck\n", encoding="utf-8")
        return {"6.1": 1, "6.2": STATUS_NO_PACKAGE}.get(words[-3:][0], 0)

    monkeypatch.setattr(matrix, "OUT", tmp_path)
    monkeypatch.setattr(timed_commands.Commands, "run", command)
    places = [
        matrix_file.Place(kernel, on, "tcg", target, "")
        for kernel, on in (("6.12", "amd64"), ("6.1", "amd64"), ("6.2", "amd64"), ("6.12", "arm64"))
        for target in ("one", "two")
    ]
    broken = matrix.prepare(
        [matrix_file.Job(place, 1.0, False) for place in places], timed_commands.Commands()
    )
    why = f"bad luck ({tmp_path / 'prepare.log'})"
    assert broken == {
        ("6.1", "amd64"): matrix.Unprepared(why),
        ("6.2", "amd64"): matrix.Unprepared(why, gone=True),
    }
    fetch = f"{matrix_file.PYTHON} -m vm fetch"
    assert ran == [
        "ci/build guest",
        "env ARCH=arm64 ci/install-deps",
        "ci/build guest-arm64",
        f"{fetch} --kernel 6.1 --arch amd64",
        f"{fetch} --kernel 6.12 --arch amd64",
        f"{fetch} --kernel 6.12 --arch arm64",
        f"{fetch} --kernel 6.2 --arch amd64",
    ]


def test_interrupt_leaves_no_job_running(
    stand_ins: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_number: int, _total: int, _outcome: matrix.Outcome) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(matrix, "print_outcome", interrupted)
    stand_ins.update({"good": conformant("good"), "hanging": "tail -f /dev/null"})
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_all(stand_ins, parallel=2)
    # The budget of a job is several minutes, so it does not end this run.
    assert time.monotonic() - begin < 60


def test_status_and_table_are_those_of_the_jobs(
    stand_ins: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stand_ins.update({"good": conformant("good"), "bad": "exit 2"})
    good = job("good")
    monkeypatch.setattr(matrix_file, "read", lambda: (good, job("bad")))
    assert matrix.main(["--jobs", "*/good", "--parallel", "1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 of 2 jobs, 1 at the same time: about 1 min\n")
    assert "1 of 1 jobs have the expected result" in out
    assert matrix.main(["--parallel", "1"]) == 1
    assert "1 of 2 jobs have the expected result" in capsys.readouterr().out
    assert matrix.main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{good.name}  1 min  {good.repro_command()}"
