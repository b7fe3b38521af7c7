# SPDX-License-Identifier: Apache-2.0
"""The commands of make pass their variables to the programs."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from ci import commands
from ci.check import ROOT
from vm import arch
from vm.testing.stubs import write_script

LIMIT_S = 60


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs make as a user would, without the variables of an outer make."""
    ours = ("MAKE", "MFLAGS", "DEBUG", "KERNEL", "ARCH")
    env = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return subprocess.run(
        ["make", "-C", str(ROOT), "--no-print-directory", *words],
        env=env | {"LC_ALL": "C"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def program(name: str, **variables: str) -> str:
    """The last program of a command, as it is typed, if make has the variables on its command line."""
    flags = " ".join(f"{key}={value}" for key, value in variables.items())
    with mock.patch.object(os, "sched_getaffinity", lambda _: {0}):
        planned = commands.steps(name, {"MAKEFLAGS": f"s -- {flags}", **variables})
    return " ".join(planned[-1][1:])


@pytest.mark.parametrize("value", ["2", "yes", "1 1 0"])
@pytest.mark.parametrize("target", ["run", "kunit"])
def test_invalid_debug_is_a_one_line_error_and_runs_nothing(target: str, value: str) -> None:
    done = make(target, f"DEBUG={value}")
    assert done.returncode != 0
    assert done.stdout == ""
    line = done.stderr.splitlines()[0]
    assert line == f"make {target}: DEBUG='{value}': 1 for a debug kernel, or nothing"


@pytest.mark.parametrize("name", ["TARGETS", "JOBS"])
def test_unknown_variable_is_a_one_line_error_and_runs_nothing(name: str) -> None:
    done = make("run", f"{name}=software", "CASE=A b=c.*")
    assert done.returncode != 0
    assert done.stdout == ""
    line = done.stderr.splitlines()[0]
    assert line.startswith(f"make run: unknown variable {name}; known: ARCH, BOOT, CASE,")


def test_every_command_of_the_makefile_is_known_and_listed() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    (line,) = re.findall(r"^COMMANDS := (.*)$", text, re.M)
    assert line.split() == list(commands.COMMANDS)
    listed = re.findall(r"^  make (\S+)", make().stdout, re.M)
    assert listed == list(commands.COMMANDS)


def test_every_command_names_programs_that_exist() -> None:
    for name, command in commands.COMMANDS.items():
        for words in command.words:
            if words[1] == "-m":
                assert importlib.util.find_spec(words[2]), name


@pytest.mark.parametrize("value", ["", "0"])
def test_without_debug_the_stock_kernel_runs(value: str) -> None:
    assert "--kernel 6.1 " in program("run", KERNEL="6.1", DEBUG=value) + " "
    assert "--debug" not in program("kunit", DEBUG=value)


def test_debug_selects_the_debug_kernel_of_the_series() -> None:
    assert "--kernel 6.1-debug" in program("run", KERNEL="6.1", DEBUG="1")
    assert "--kernel 6.12-debug" in program("run", TARGET="all", DEBUG="1")
    assert "--debug --kernel 6.1" in program("kunit", KERNEL="6.1", DEBUG="1")


def test_all_targets_run_on_all_kernels_unless_one_is_named() -> None:
    assert program("run", TARGET="all") == "-m vm run --target all"
    assert program("run") == "-m vm run --target refpmu"
    assert program("run", TARGET="all", KERNEL="6.1") == "-m vm run --target all --kernel 6.1"


def test_two_guests_share_the_cases_on_a_machine_with_several_cores() -> None:
    with mock.patch.object(os, "sched_getaffinity", lambda _: {0, 1}):
        assert commands.steps("run", {})[-1][-2:] == ["--guests", "2"]
        assert commands.steps("run", {"GUESTS": "1"})[-1][4:] == [
            "--guests",
            "1",
            "--target",
            "refpmu",
        ]


def test_kernel_is_fetched_while_the_suite_is_built() -> None:
    fetch = [sys.executable, "-m", "vm", "fetch", "--kernel"]
    assert commands.meanwhile("run", {}) == [*fetch, "6.12"]
    assert commands.meanwhile("run", {"KERNEL": "6.1"}) == [*fetch, "6.1"]
    for other in ({"KERNEL": "./bzImage"}, {"DEBUG": "1"}, {"ARCH": "arm64"}):
        assert commands.meanwhile("run", other) == []
    assert commands.meanwhile("check", {}) == []


def test_program_beside_the_others_ends_with_them(tmp_path: Path) -> None:
    beside = ["sh", "-c", f"echo begun > {tmp_path}/pipe && exec sleep 60"]
    os.mkfifo(tmp_path / "pipe")
    wait = ["sh", "-c", f"read line < {tmp_path}/pipe && exit 3"]
    assert commands.prepare([["true"], wait, ["false"]], beside, dict(os.environ)) == 3
    assert commands.prepare([["true"], ["true"]], ["true"], dict(os.environ)) == 0


def test_packages_for_another_architecture_are_installed_only_on_request() -> None:
    assert commands.steps("run", {"ARCH": "arm64"})[:3] == [
        ["ci/install-deps", "run"],
        ["ci/build", "guest", "pmuconf"],
        ["ci/build", "guest-arm64", "pmuconf"],
    ]
    assert ["ci/build", "guest-arm64", "pmuconf"] not in commands.steps("run", {})
    assert commands.steps("run", {"LAYERS": "all"})[0] == ["ci/install-deps"]
    done = make("deps", "ARCH=vax")
    assert done.returncode != 0
    line = done.stderr.splitlines()[0]
    assert line == f"ci/install-deps: unknown ARCH 'vax'; known: {', '.join(arch.ARCHES)}"


@pytest.mark.parametrize("name", arch.ARCHES)
def test_packages_of_an_architecture_are_those_of_its_file(name: str, tmp_path: Path) -> None:
    # No package is installed, so the script would install all of them.
    write_script(tmp_path, "dpkg-query", "exit 1")
    write_script(tmp_path, "id", "echo 1")
    for program in ("bash", "dirname", "sed", "tr"):
        (tmp_path / program).symlink_to(f"/usr/bin/{program}")
    done = subprocess.run(
        [str(tmp_path / "bash"), str(ROOT / "ci" / "install-deps")],
        env={"PATH": str(tmp_path), "ARCH": name},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 2
    assert set(arch.ARCHES[name].host_packages) <= set(done.stderr.split())


def test_layers_variable_selects_layers() -> None:
    assert "--layers suite,kunit" in program("run", LAYERS="suite,kunit")
    assert "--layers" not in program("run")


@pytest.mark.parametrize("value", ["", "0"])
def test_flag_is_on_unless_empty_or_zero(value: str) -> None:
    assert program("run", BOOT="1") == "-m vm run --boot --target refpmu"
    assert "--boot" not in program("run", BOOT=value)


def test_jobs_of_the_environment_select_nothing() -> None:
    assert program("matrix", JOBS="6.1/*") == "-m ci.matrix --jobs 6.1/*"
    assert commands.arguments("matrix", {"JOBS": "4"}) == []
    assert commands.arguments("soak", {"N": "3"}) == ["-n", "3"]


@pytest.mark.parametrize("value", ["a b", "it's", "x=y", '"q"', "$HOME", "back\\slash"])
def test_value_of_a_variable_is_passed_as_it_is(value: str, tmp_path: Path) -> None:
    shown = tmp_path / "Makefile"
    script = "import os, sys; sys.path.insert(0, os.environ['HERE']); from ci import commands; "
    script += "print(sorted(commands.given(os.environ['MAKEFLAGS'])), os.environ['CASE'])"
    (tmp_path / "show.py").write_text(script, encoding="utf-8")
    shown.write_text(f"all:\n\t@{sys.executable} show.py\n", encoding="utf-8")
    done = subprocess.run(
        ["make", "-C", str(tmp_path), "--no-print-directory", f"CASE={value.replace('$', '$$')}"],
        env=dict(os.environ) | {"HERE": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert done.stdout == f"['CASE'] {value}\n"
