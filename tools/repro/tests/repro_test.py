# SPDX-License-Identifier: Apache-2.0
"""`pmuconf repro` on a machine without a PMU: its C output compiles, and it names invalid input."""

from __future__ import annotations

import pathlib
import random
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
BINARY = str(ROOT / "build" / "guest" / "conformance" / "pmuconf")
TIMEOUT_S = 120
STEP_BYTES = 64
HEADER = "pmuconf program for refpmu\n"


def repro(*words: str | pathlib.Path) -> subprocess.CompletedProcess[str]:
    argv = [BINARY, "repro", *map(str, words)]
    return subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def chance(folder: pathlib.Path, seed: int, steps: int) -> pathlib.Path:
    path = folder / f"input-{seed}"
    path.write_bytes(random.Random(seed).randbytes(steps * STEP_BYTES))
    return path


@pytest.mark.parametrize("target", ["refpmu", "software"])
def test_printed_c_program_compiles_without_warnings(target: str, tmp_path: pathlib.Path) -> None:
    seen = set()
    for seed in range(6):
        done = repro("--print", "--target", target, chance(tmp_path, seed, 24))
        assert done.returncode == 0, done.stderr
        seen |= {
            line.split()[1].rstrip('",') for line in done.stdout.splitlines() if "\treport(" in line
        }
        source = tmp_path / f"program-{seed}.c"
        source.write_text(done.stdout)
        words = ["gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-c", "-o", "/dev/null", str(source)]
        made = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert (made.returncode, made.stderr) == (0, "")
    assert {"open", "ioctl", "map", "read", "close", "fork", "child", "pulse", "attach"} <= seen


def test_each_operation_that_no_input_has_is_printed_in_c(tmp_path: pathlib.Path) -> None:
    text = tmp_path / "text"
    text.write_text(
        f"{HEADER}advance value=3 which=1\ndup slot=1 other=2\nchild_pulse which=2 value=7\nsignals slot=1\n"
    )
    done = repro("--print", text)
    assert done.returncode == 0, done.stderr
    for call in ("advance(1, 12)", "duplicate(1, 2)", "child_pulse(466, 7)", "signals(1, 0)"):
        assert f", {call});" in done.stdout
    words = ["gcc", "-Wall", "-Wextra", "-Werror", "-c", "-o", "/dev/null", "-x", "c", "-"]
    made = subprocess.run(
        words, input=done.stdout, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert (made.returncode, made.stderr) == (0, "")


def test_text_of_an_input_is_the_same_program(tmp_path: pathlib.Path) -> None:
    given = chance(tmp_path, 1, 24)
    text = tmp_path / "text"
    text.write_text(repro("--text", given).stdout)
    assert text.read_text().startswith(HEADER)
    assert repro("--text", text).stdout == text.read_text()
    assert repro("--print", text).stdout == repro("--print", given).stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "file: cannot be read"),
        (f"{HEADER}spoon\n", "program, line 2: unknown operation 'spoon'"),
        ("pmuconf program for nosuch\n", "unknown target 'nosuch'"),
        (f"{HEADER}fork\n", "refpmu"),
    ],
)
def test_invalid_program_is_one_line_and_status_2(
    text: str | None, said: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "file"
    if text is not None:
        path.write_text(text)
    done = repro(path)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_cpus_stay_online_outside_of_a_guest(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "file"
    path.write_text("pmuconf program for software\ncpu\n")
    done = repro(path)
    assert done.returncode == 2
    assert done.stderr == (
        "pmuconf: the program takes a CPU offline, and this is not a guest: allow it with --cpus\n"
    )
