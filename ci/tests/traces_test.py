# SPDX-License-Identifier: Apache-2.0
"""The inputs of a traced command are the files that it read, without those that it wrote."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ci.units import traces
from pmubase import store

PROGRAM = """
import os, pathlib, subprocess
pathlib.Path("read.txt").read_text()
pathlib.Path("own.txt").write_text("x")
pathlib.Path("own.txt").read_text()
os.path.exists("absent.txt")
os.listdir("folder")
subprocess.run(["cat", "inner.txt"], cwd="folder", check=True)
"""


def traced(folder: Path, *command: str) -> set[str]:
    assert traces.can_trace()
    log = folder.parent / "trace"
    subprocess.run(traces.argv(command, log), cwd=folder, check=True, capture_output=True)
    return traces.inputs(log, folder)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "folder").mkdir(parents=True)
    for name in ("read.txt", "folder/inner.txt", "unread.txt"):
        (folder / name).write_text("x", encoding="utf-8")
    return folder


def test_reads_of_a_command_and_of_its_children_are_inputs(project: Path) -> None:
    found = traced(project, "/usr/bin/python3", "-c", PROGRAM)
    ours = {name for name in found if name.startswith(("file:", "names:"))}
    assert "exists:absent.txt" in found
    listed = {
        "names:.",
        "names:folder",
    }  # Python searches for modules in the folder of the program.
    assert ours - listed == {"file:read.txt", "file:folder/inner.txt"}
    assert "names:folder" in ours


def test_programs_are_inputs_by_their_packages(project: Path) -> None:
    assert "package:coreutils" in traced(project, "cat", "read.txt")


def test_missing_header_is_no_input_of_a_compiler(project: Path) -> None:
    log = project.parent / "trace"
    subprocess.run(traces.argv(["sh", "-c", "cat a.h; cat read.txt"], log), cwd=project, check=True)
    assert "exists:a.h" not in traces.inputs(log, project, probes=False)
    assert {"exists:a.h", "file:read.txt"} <= traces.inputs(log, project)


def test_only_kernel_pointers_of_the_cache_are_inputs(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    kernels = store.cache() / "kernels"
    kernels.mkdir(parents=True)
    for name in ("6.12-amd64.json", "abcdef"):
        (kernels / name).write_text("x", encoding="ascii")
    found = traced(project, "cat", str(kernels / "6.12-amd64.json"), str(kernels / "abcdef"))
    assert {name for name in found if name.startswith("cache:")} == {
        "cache:kernels/6.12-amd64.json"
    }


def test_a_call_that_another_thread_interrupts_is_read_whole(tmp_path: Path) -> None:
    lines = (
        f'7 openat(AT_FDCWD, "{tmp_path}/a.txt", O_RDONLY <unfinished ...>\n'
        "8 clone(child_stack=NULL, flags=SIGCHLD) = 9\n"
        "7 <... openat resumed>) = 3\n"
        '9 openat(AT_FDCWD, "b.txt", O_RDONLY) = 4\n'
    )
    log = tmp_path / "log"
    log.write_text(lines, encoding="utf-8")
    assert traces.inputs(log, tmp_path) == {"file:a.txt", "file:b.txt"}


def test_a_machine_without_strace_traces_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    traces.can_trace.cache_clear()
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent / "nothing"))
    assert not traces.can_trace()
    traces.can_trace.cache_clear()


def test_reader_of_the_git_index_reads_all_names(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "add", "."], cwd=project, check=True)
    assert "names:/" in traced(project, "git", "ls-files")


def test_file_that_is_only_tested_is_an_input_by_its_existence(project: Path) -> None:
    found = traced(project, "test", "-f", "read.txt")
    assert "exists:read.txt" in found and "file:read.txt" not in found


def test_caches_of_tools_are_no_inputs(project: Path) -> None:
    (project / ".pytest_cache").mkdir()
    (project / ".pytest_cache" / "lastfailed").write_text("x", encoding="utf-8")
    found = traced(project, "cat", ".pytest_cache/lastfailed", "read.txt")
    assert {name for name in found if "pytest_cache" in name} == set()
