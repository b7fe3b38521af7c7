# SPDX-License-Identifier: Apache-2.0
"""A test that passed runs again only after a change of an input. A failed test always runs again."""

# untraced: ci pmubase
# It traces programs itself.
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ci.remember import __main__ as remember
from ci.remember import inputs, records, traces
from ci.remember.inputs import Inputs
from ci.remember.records import Record
from pmubase import store

NAME = "group/one"
Run = Callable[..., int]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own cache."""
    folder = tmp_path / "project"
    (folder / "folder").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "folder/c.txt"):
        (folder / name).write_text("x\n", encoding="utf-8")
    (folder / ".gitignore").write_text("build/\nran\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(records.SINCE, raising=False)
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    """Runs a script as a test. Returns how often it has run."""

    def run(script: str, *options: str, status: int = 0) -> int:
        words = [NAME, *options, "--command", "sh", "-c", f"echo x >>ran; {script}"]
        assert remember.main(words, project) == status
        return len((project / "ran").read_text(encoding="utf-8").split())

    return run


def write(path: Path, text: str = "y\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_pass_is_remembered_until_a_file_that_it_read_changes(
    project: Path, run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("cat a.txt") == 1
    write(project / "b.txt")
    assert run("cat a.txt") == 1
    assert "unchanged: passed before" in capfd.readouterr().out
    write(project / "a.txt")
    assert run("cat a.txt") == 2
    write(project / "a.txt", "x\n")
    assert run("cat a.txt") == 2, "a reverted change needs no other run"
    assert run("cat a.txt b.txt") == 3, "another command is another test"


@pytest.mark.parametrize(
    ("script", "changed", "again"),
    [
        ("test -e new.txt; true", "new.txt", True),
        ("test -e a.txt", "a.txt", False),
        ("ls folder", "folder/new.txt", True),
        ("ls folder", "folder/c.txt", False),
        ("ls folder", "build/new.txt", False),
        ("cd folder && cat c.txt", "folder/c.txt", True),
        ("sh -c 'cd folder; sh -c \"cat c.txt\"'", "folder/c.txt", True),
        ("echo x >own.txt; cat own.txt", "own.txt", False),
        ("git ls-files -co", "other.txt", True),
    ],
)
def test_a_change_counts_if_the_command_could_see_it(
    project: Path, run: Run, script: str, changed: str, again: bool
) -> None:
    run(script)
    run(script)
    write(project / changed)
    assert run(script) == (2 if again else 1)


def test_products_are_inputs_by_content(project: Path, run: Run) -> None:
    program = project / "build" / "asan" / "program"
    write(program, "exit 0\n")
    program.chmod(0o755)
    run("sh build/asan/program")
    program.touch()
    assert run("sh build/asan/program") == 1
    write(program, "exit 0 # changed\n")
    assert run("sh build/asan/program") == 2


def test_cases_that_a_guest_ran_are_inputs(project: Path, run: Run) -> None:
    for name in ("b", "c"):
        source = f"CONFORMANCE_CASE({name.upper()}, Wraps, .rules = {{}}) {{}}\n"
        write(project / f"conformance/cases/a/{name}_test.cpp", source)
        write(project / inputs.CASES / f"cases/a/{name}_test.cpp.o", "object")
    write(project / traces.SUITE, "")
    script = f"cat {traces.SUITE}; echo B.Wraps >>$PMUCONF_CASES_LOG"
    run(script)
    write(project / inputs.CASES / "cases/a/c_test.cpp.o", "changed")
    write(project / traces.SUITE, "changed")
    assert run(script) == 1
    write(project / inputs.CASES / "cases/a/b_test.cpp.o", "changed")
    assert run(script) == 2
    run(f"{script}; echo Other.Case >>$PMUCONF_CASES_LOG")
    assert "suite:cases" in records.read(NAME)[0].inputs


@pytest.mark.parametrize(("changed", "again"), [("folder/c.txt", True), ("a.txt", False)])
def test_untraced_command_reads_its_paths(
    project: Path, run: Run, changed: str, again: bool
) -> None:
    run("cat a.txt", "--untraced", "folder", "b.txt")
    write(project / changed)
    assert run("cat a.txt", "--untraced", "folder", "b.txt") == (2 if again else 1)
    assert run("cat a.txt", "--untraced", ".") == (3 if again else 2)
    write(project / "a.txt", "z\n")
    assert run("cat a.txt", "--untraced", ".") == (4 if again else 3)


def test_machine_without_strace_runs_again_after_any_change(
    project: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "can_trace", lambda: False)
    run("cat a.txt")
    assert run("cat a.txt") == 1
    write(project / "b.txt")
    assert run("cat a.txt") == 2


def test_a_failure_is_never_recorded(
    project: Path, run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    assert [run("exit 3", status=3) for _ in range(2)] == [1, 2]
    assert "repeat: ctest --test-dir build/check" in capfd.readouterr().out
    assert run("sleep 100", "--timeout", "0.5", status=124) == 3
    assert run("true", "--report", "build/none", status=1) == 4
    assert records.read(NAME) == []


def wait_until(condition: Callable[[], object]) -> bool:
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            return False
    return True


def state(pid: int) -> str:
    """The state of a process; Z if it has ended and init has not noticed. Empty without such a process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return ""


def test_interrupted_test_leaves_no_process_and_no_record(project: Path) -> None:
    os.mkfifo(project / "pipe")
    script = "echo $$ >pid; cat pipe"
    words = [sys.executable, "-B", "-c", "import sys; from pathlib import Path; from ci.remember"]
    words[-1] += ".__main__ import main; sys.exit(main(sys.argv[2:], Path(sys.argv[1])))"
    words += [str(project), NAME, "--command", "sh", "-c", script]
    with subprocess.Popen(words, cwd=store.ROOT) as test:
        assert wait_until(lambda: (project / "pid").is_file() and (project / "pid").read_text())
        test.send_signal(signal.SIGTERM)
        assert test.wait(60) == 130
    assert wait_until(lambda: state(int((project / "pid").read_text())) in ("", "Z"))
    assert records.read(NAME) == []


def test_input_that_is_written_while_the_test_runs_makes_no_record(run: Run) -> None:
    assert [run("cat a.txt; cp b.txt new; mv new a.txt") for _ in range(2)] == [1, 2]


def test_report_is_written_again(project: Path, run: Run) -> None:
    script = "mkdir -p build; echo result >build/r.xml"
    run(script, "--report", "build/r.xml")
    (project / "build" / "r.xml").unlink()
    assert run(script, "--report", "build/r.xml") == 1
    assert (project / "build" / "r.xml").read_text(encoding="utf-8") == "result\n"


def test_passes_before_a_time_do_not_count(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("cat a.txt")
    monkeypatch.setenv(records.SINCE, str(time.time()))
    assert [run("cat a.txt") for _ in range(2)] == [2, 2]


def test_unreadable_records_count_as_missing_and_their_number_is_bounded(run: Run) -> None:
    run("cat a.txt")
    for path in records.folder(NAME).glob("*.json"):
        path.write_text("{", encoding="utf-8")
    assert run("cat a.txt") == 2
    for number in range(records.KEPT + 5):
        records.write(Record(NAME, {"text:a": str(number)}, 1.0))
    assert len(list(records.folder(NAME).glob("*.json"))) == records.KEPT


def test_version_of_a_package_and_the_cache_are_inputs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pointer = store.cache() / "kernels" / "6.12-amd64.json"
    write(pointer)
    log = project.parent / "log"
    subprocess.run(traces.argv(["cat", str(pointer)], log), cwd=project, check=True)
    names = traces.inputs(log, project)
    assert {"package:coreutils", "cache:kernels/6.12-amd64.json"} <= names
    before = Inputs(project).digests(names)
    write(pointer, "changed")
    monkeypatch.setattr(inputs, "packages", lambda: {"coreutils": "99"})
    changed = Inputs(project).changed(before)
    assert {"package:coreutils", "cache:kernels/6.12-amd64.json"} <= {*changed}


def test_call_that_another_thread_interrupts_is_read_whole(tmp_path: Path) -> None:
    lines = (
        f'7 openat(AT_FDCWD, "{tmp_path}/a.txt", O_RDONLY <unfinished ...>\n'
        "8 clone(child_stack=NULL, flags=SIGCHLD) = 9\n"
        "7 <... openat resumed>) = 3\n"
        '9 openat(AT_FDCWD, "b.txt", O_RDONLY) = 4\n'
    )
    write(tmp_path / "log", lines)
    assert traces.inputs(tmp_path / "log", tmp_path) == {"file:a.txt", "file:b.txt"}
