# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/examples run as they are. Their variables select few cases of the target software."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import junitparser
import lava_common.schemas as lava_schemas
import pytest
import yaml

from results import document
from results.tests import runs, serial_board, signals

EXAMPLES = runs.ROOT / "docs" / "examples"
CASE = "Sysfs.[AEN]*"
OPTIONS = f"--target software --case {CASE}"
STEP_S = 300
LAVA_SHELL = ("bash", "-e", "-x", "-c")
"""LAVA's dispatcher writes the steps of a test into one script with these options."""
GITHUB_SHELL = ("sh", "-e", "-c")
"""The shell of a step in a container."""
GITLAB_SHELL = ("bash", "-e", "-o", "pipefail", "-c")


def example(name: str) -> Any:
    """The content of an example in YAML."""
    return yaml.safe_load((EXAMPLES / name).read_text("utf-8"))


def run(
    shell: tuple[str, ...], script: str, folder: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Runs a step of an example in `folder`."""
    return subprocess.run(
        [*shell, script],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=STEP_S,
    )


def selected() -> list[str]:
    """The cases that the tests select."""
    done = run(GITHUB_SHELL, f"{runs.PMUCONF} list {OPTIONS}", Path("/"))
    return [line.split()[0] for line in done.stdout.splitlines()]


def exit_status() -> int:
    """The exit status of the suite with the selected cases. Without permissions, for example, it is 2."""
    return run(GITHUB_SHELL, f"{runs.PMUCONF} run {OPTIONS}", Path("/")).returncode


def scratch(folder: Path) -> Path:
    """A checkout without build products, made of links to the files of this one."""
    checkout = folder / "checkout"
    checkout.mkdir()
    names = ("ci", "conformance", "driver", "faults", "results", "pmubase", "vm", "docs", "kunit")
    for name in (*names, "tools"):
        (checkout / name).symlink_to(runs.ROOT / name)
    return checkout


def test_lava_accepts_the_job() -> None:
    lava_schemas.validate(example("lava-job.yaml"), strict=True)


def test_lava_refuses_a_job_with_an_unknown_key() -> None:
    job = example("lava-job.yaml")
    job["actions"][2]["test"]["definitions"][0]["repository"]["run"]["stepps"] = []
    with pytest.raises(Exception, match="extra keys not allowed"):
        lava_schemas.validate(job, strict=True)


def lava_console(tmp_path: Path, options: str) -> str:
    """The console of the steps of the job."""
    (test,) = [action["test"] for action in example("lava-job.yaml")["actions"] if "test" in action]
    (definition,) = test["definitions"]
    script = "\n".join([*definition["repository"]["run"]["steps"], "echo end of the steps"])
    done = run(LAVA_SHELL, script, tmp_path, PMUCONF=str(runs.PMUCONF), PMUCONF_OPTIONS=options)
    assert done.returncode == 0 and done.stdout.endswith("end of the steps\n"), done.stderr
    return done.stdout


def test_lava_job_prints_a_signal_for_each_case_and_the_verdict(tmp_path: Path) -> None:
    found = signals.cases(lava_console(tmp_path, OPTIONS))
    names = selected()
    assert len(names) > 3
    assert list(found) == [*(("software", name) for name in names), ("software", "verdict")]
    assert found[("software", "verdict")] == ("pass", "fail", "unknown")[exit_status()]


def test_lava_job_on_a_board_without_the_pmu_has_an_unknown_verdict(tmp_path: Path) -> None:
    assert signals.verdict(lava_console(tmp_path, "--pmu nosuch")) == "unknown"


def labgrid(tmp_path: Path, options: str) -> subprocess.CompletedProcess[str]:
    """Runs labgrid's example with labgrid's plugin of pytest, on a board that is a shell of this machine."""
    settings = yaml.safe_load(
        (EXAMPLES / "labgrid.yaml").read_text("utf-8").replace("!template ", "")
    )
    prompt = settings["targets"]["main"]["drivers"]["ShellDriver"]["prompt"]
    words: list[str | Path] = ["-m", "pytest", "-c", os.devnull, "--rootdir", tmp_path, "-q", "-rs"]
    words += ["-p", "no:cacheprovider", "--lg-env", EXAMPLES / "labgrid.yaml"]
    with serial_board.board(tmp_path, prompt) as port:
        return subprocess.run(
            [sys.executable, "-B", *words, EXAMPLES / "test_labgrid.py"],
            cwd=tmp_path,
            env=os.environ
            | {"LG_CONSOLE": port, "PMUCONF": str(runs.PMUCONF), "PMUCONF_OPTIONS": options},
            capture_output=True,
            text=True,
            check=False,
            timeout=STEP_S,
        )


def test_labgrid_judges_the_board(tmp_path: Path) -> None:
    done = labgrid(tmp_path, OPTIONS)
    answer = "2 passed" if exit_status() == 0 else "1 failed, 1 passed"
    assert answer in done.stdout, done.stdout


def test_labgrid_fails_for_a_board_without_the_pmu(tmp_path: Path) -> None:
    done = labgrid(tmp_path, "--pmu nosuch")
    assert done.returncode == 1 and "pmuconf: no PMU 'nosuch'" in done.stdout, done.stdout


@pytest.mark.guest
def test_github_workflow_tests_a_driver_in_a_guest(tmp_path: Path) -> None:
    (job,) = example("github-workflow.yml")["jobs"].values()
    checkout = scratch(tmp_path)
    summary = tmp_path / "summary.md"
    variables = {
        "PMUCONF_TARGET": "software",
        "PMUCONF_CASE": CASE,
        "PMUCONF_BINARY": str(runs.PMUCONF),
        "GITHUB_STEP_SUMMARY": str(summary),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    assert job["env"].keys() <= variables.keys()
    for step in job["steps"]:
        assert step.keys() & {"run", "uses"}
        if "run" in step:
            done = run(GITHUB_SHELL, step["run"], checkout, **variables)
            assert done.returncode == 0, f"{step['name']}: {done.stdout}{done.stderr}"
    kept = checkout / job["steps"][-1]["with"]["path"]
    results = document.read(kept)
    assert [case["id"] for case in results.data["cases"]] == selected()
    assert summary.read_text("utf-8").startswith(f"# {results.data['verdict']}: ")
    tests = json.loads((kept / "kcidb.json").read_text("utf-8"))["tests"]
    assert len(tests) == len(results.data["cases"]) + 1


def test_gitlab_pipeline_hands_in_the_results_of_a_board(tmp_path: Path) -> None:
    pipeline = example("gitlab-ci.yml")
    job = pipeline["conformance"]
    assert pipeline["variables"].keys() == {"PMUCONF", "PMUCONF_OPTIONS"}
    variables = {"PMUCONF": str(runs.PMUCONF), "PMUCONF_OPTIONS": OPTIONS}
    done = run(GITLAB_SHELL, "\n".join(job["script"]), tmp_path, **variables)
    assert done.returncode == exit_status(), done.stdout + done.stderr
    (paths,) = job["artifacts"]["paths"]
    results = document.read(tmp_path / paths)
    junit = junitparser.JUnitXml.fromfile(str(tmp_path / job["artifacts"]["reports"]["junit"]))
    assert junit.tests == len(results.data["cases"]) == len(selected())


def test_gitlab_job_that_cannot_judge_has_a_warning(tmp_path: Path) -> None:
    job = example("gitlab-ci.yml")["conformance"]
    variables = {"PMUCONF": str(runs.PMUCONF), "PMUCONF_OPTIONS": "--pmu nosuch"}
    done = run(GITLAB_SHELL, "\n".join(job["script"]), tmp_path, **variables)
    assert done.returncode == job["allow_failure"]["exit_codes"]
