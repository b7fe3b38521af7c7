# SPDX-License-Identifier: Apache-2.0
"""The program as a process: exit statuses, messages, and the agent's protocol on a pseudo-terminal."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import pytest

CONFORMANCE = pathlib.Path(__file__).parent.parent
TARGET = CONFORMANCE / "targets" / "refpmu.toml"
BINARY = str(CONFORMANCE.parent / "build" / "guest" / "conformance" / "pmuconf")
ID = "Counting.DisabledTimeIsNotCounted"
TIMEOUT_S = 60


def pmuconf(*words: str, program: str = BINARY) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=TIMEOUT_S)


def listed(*words: str) -> list[dict[str, Any]]:
    done = pmuconf("list", "--json", "--target", str(TARGET), *words)
    assert done.returncode == 0, done.stderr
    cases = json.loads(done.stdout)["cases"]
    assert isinstance(cases, list)
    return cases


def test_list_has_all_properties_of_every_case() -> None:
    case = {case["id"]: case for case in listed()}[ID]
    assert case["rules"] == ["CNT-002", "CNT-005"]
    assert case["needs"] == ["stimulus"]
    assert case["budget_s"] == 30
    assert case["file"] == "conformance/cases/counting/enable_disable_test.cpp"
    assert case["line"] > 0


def test_list_has_the_dimensions_that_the_target_claims() -> None:
    swept = {case["id"]: case for case in listed()}["Precise.CloseDrainsPendingRecords"]
    assert [one["name"] for one in swept["dimensions"]] == ["cpu", "member", "counter"]
    assert swept["dimensions"][2]["values"] == ["first", "last", "fixed"]
    assert swept["combinations"] == 12  # all pairs of 2, 4 and 3 values; the product has 24
    plain = {case["id"]: case for case in listed()}[
        "Counting.NeverScheduledEventReadsZeroWithZeroRunning"
    ]
    assert (plain["dimensions"], plain["combinations"]) == ([], 1)


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("cpu", "--at: 'cpu' is not DIMENSION=VALUE"),
        ("cpus=1", "--at: the case has no dimension 'cpus', only: cpu, member, counter"),
        ("cpu=7", "--at: cpu has no value '7', only: 0, 1"),
    ],
)
def test_invalid_combination_is_one_line_and_status_2(at: str, said: str) -> None:
    done = pmuconf("case", "Precise.CloseDrainsPendingRecords", "--target", str(TARGET), "--at", at)
    assert (done.returncode, done.stderr) == (2, f"pmuconf: {said}\n")


def test_list_honours_the_selection() -> None:
    assert [case["id"] for case in listed("--case", ID)] == [ID]
    assert ID in [case["id"] for case in listed("--rule", "CNT-002")]
    assert ID in [case["id"] for case in listed("--profile", "counting-1.0")]
    assert len(listed("--profile", "counting-1.0")) < len(listed())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--case", "Counting.DisabledTimeIsNotCountd"), f"nearest: {ID}"),
        (("--rule", "CNT-999"), "unknown rule 'CNT-999'; nearest: CNT-"),
        (("--profile", "nosuch"), "known: counting-1.0, driver-1.0, sampling-1.0"),
        (("--case", ID, "--rule", "BPF-001"), "no case is selected"),
    ],
)
def test_invalid_selection_is_one_line_and_status_2(words: tuple[str, ...], said: str) -> None:
    done = pmuconf("list", "--target", str(TARGET), *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unknown_target_names_the_known_ones() -> None:
    done = pmuconf("list", "--target", str(TARGET.parent / "nosuch.toml"))
    assert done.returncode == 2
    assert "refpmu.toml" in done.stderr


def test_a_malformed_target_names_file_line_and_key(tmp_path: pathlib.Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text(TARGET.read_text().replace("width = 48", "width = 480"))
    done = pmuconf("list", "--target", str(bad))
    assert done.returncode == 2
    assert f"{bad}:" in done.stderr and "counters.width" in done.stderr


def test_no_command_is_status_2() -> None:
    assert pmuconf().returncode == 2
    assert pmuconf("list").returncode == 2


def test_case_without_its_pmu_is_skipped_and_nothing_is_judged() -> None:
    if pathlib.Path("/sys/bus/event_source/devices/refpmu").exists():
        pytest.skip("this machine has a refpmu")
    done = pmuconf("case", ID, "--target", str(TARGET))
    assert done.returncode == 2
    assert done.stdout.startswith(f"SKIP  {ID}\nno such PMU: no PMU matches 'refpmu'")


def test_targets_and_profiles_are_built_in(tmp_path: pathlib.Path) -> None:
    alone = tmp_path / "pmuconf"
    alone.write_bytes(pathlib.Path(BINARY).read_bytes())
    alone.chmod(0o755)
    words = ("list", "--pmu", "refpmu", "--profile", "counting-1.0", "--case", ID)
    done = subprocess.run(
        [str(alone), *words], cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert (done.returncode, done.stdout.split()[0]) == (0, ID), done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("list", "--target", "nosuch"), "unknown target 'nosuch' (known: "),
        (("list", "--pmu", "nosuch"), "no built-in target is for PMU 'nosuch'"),
        (("list",), "no target: use --target"),
        (("probe", "nosuch"), "no PMU 'nosuch'"),
        (("run", "--pmu", "nosuch"), "no PMU 'nosuch'"),
    ],
)
def test_unknown_argument_is_one_line_and_status_2(words: tuple[str, ...], said: str) -> None:
    done = pmuconf(*words)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr or "not permitted here" in done.stderr


def test_run_without_the_pmu_reports_it_and_judges_nothing(tmp_path: pathlib.Path) -> None:
    if pathlib.Path("/sys/bus/event_source/devices/refpmu").exists():
        pytest.skip("this machine has a refpmu")
    done = pmuconf("run", "--pmu", "refpmu", "--case", ID, "--out", str(tmp_path))
    assert done.returncode == 2
    assert "no such PMU (no PMU matches 'refpmu'" in done.stdout
    assert "\x1b" not in done.stdout
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["skip_reasons"]["no_such_pmu"] == 1 and results["totals"]["failed"] == 0


SOFTWARE = """
[target]
name = "soft"
match = "software"
kind = "software"
[counters]
general = 4
width = 64
[[event]]
name = "dummy"
code = 9
counters = "0-3"
accuracy = "exact"
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_unprivileged_user_gets_no_failures(tmp_path: pathlib.Path) -> None:
    folder = pathlib.Path("/sys/bus/event_source/devices/software")
    paranoid = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    if not folder.exists() or int(paranoid.read_text()) < 1:
        pytest.skip("this machine has no software PMU, or forbids nothing")
    with tempfile.TemporaryDirectory() as name:  # only root can access tmp_path
        place = pathlib.Path(name)
        place.chmod(0o755)
        (place / "soft.toml").write_text(SOFTWARE)
        (place / "pmuconf").write_bytes(pathlib.Path(BINARY).read_bytes())
        (place / "pmuconf").chmod(0o755)
        done = subprocess.run(
            [place / "pmuconf", "run", "--target", place / "soft.toml", "--case", "Attr*"],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            user=65534,
            group=65534,
            extra_groups=[],
        )
    assert done.returncode == 2, done.stdout + done.stderr
    assert "FAIL" not in done.stdout and "BROKEN" not in done.stdout, done.stdout
    assert "NOT JUDGED" in done.stdout and "not permitted here (" in done.stdout


def write_stream(path: pathlib.Path, result: str, end: bool = True) -> pathlib.Path:
    run: dict[str, Any] = {
        "t": "run",
        "target": "refpmu",
        "kernel": "6.12",
        "release": "6.12.1",
        "arch": "x86_64",
    }
    run |= {"profile": "", "selected": [ID], "partial": True}
    line = {"t": "result", "id": ID, "result": result, "duration_s": 0.1, "message": "seen 7"}
    lines: list[dict[str, Any]] = [run, line | {"rules": ["CNT-002"]}]
    lines += [{"t": "end"}] if end else []
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(
    ("result", "end", "status", "verdict"),
    [
        ("PASS", True, 0, "PARTIAL"),
        ("FAIL", True, 1, "NOT_CONFORMANT"),
        ("BROKEN", True, 2, "NOT_JUDGED"),
        ("PASS", False, 2, "NOT_JUDGED"),
    ],
)
def test_report_judges_a_stream(
    tmp_path: pathlib.Path, result: str, end: bool, status: int, verdict: str
) -> None:
    stream = write_stream(tmp_path / "stream.jsonl", result, end)
    out = tmp_path / "report"
    done = pmuconf("report", "--stream", str(stream), "--target", str(TARGET), "--out", str(out))
    assert done.returncode == status, done.stdout + done.stderr
    results = json.loads((out / "results.json").read_text())
    assert results["verdict"] == verdict
    assert results["cases"][0]["rules"] == ["CNT-002", "CNT-005"]
    assert (out / "results.ktap").read_text().startswith("KTAP version 1\n1..1\n")
    assert "<testsuite " in (out / "junit.xml").read_text()
    assert verdict.replace("_", " ") in done.stdout


def test_report_that_cannot_write_is_an_error(tmp_path: pathlib.Path) -> None:
    stream = write_stream(tmp_path / "stream.jsonl", "PASS")
    done = pmuconf(
        "report", "--stream", str(stream), "--target", str(TARGET), "--out", str(stream / "x")
    )
    assert done.returncode == 2
    assert str(stream) in done.stderr


class Agent:
    """The agent, connected through a pseudo-terminal."""

    def __init__(self) -> None:
        self.host, guest = pty.openpty()
        argv = [BINARY, "serve", "--target", str(TARGET), "--channel", os.ttyname(guest)]
        self.process = subprocess.Popen(argv)
        self.rest = b""
        self.hello = self.receive()
        os.close(guest)

    def send(self, line: str) -> None:
        os.write(self.host, line.encode() + b"\n")

    def receive(self) -> dict[str, Any]:
        until = time.monotonic() + TIMEOUT_S
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.host], [], [], max(0.0, until - time.monotonic()))
            assert ready, "the agent says nothing"
            self.rest += os.read(self.host, 65536)
        line, _, self.rest = self.rest.partition(b"\n")
        message = json.loads(line)
        assert isinstance(message, dict)
        return message

    def ask(self, line: str) -> dict[str, Any]:
        self.send(line)
        return self.receive()


@pytest.fixture(name="agent")
def fixture_agent() -> Iterator[Agent]:
    agent = Agent()
    yield agent
    agent.process.kill()
    agent.process.wait(TIMEOUT_S)
    os.close(agent.host)


def test_the_agent_says_hello_and_bye(agent: Agent) -> None:
    assert agent.hello["t"] == "hello" and agent.hello["protocol"] == 1
    assert agent.hello["kernel"] == os.uname().release
    assert agent.ask("bye") == {"t": "bye"}
    assert agent.process.wait(TIMEOUT_S) == 0


def test_the_agent_runs_programs(agent: Agent) -> None:
    assert agent.ask('exec 10 ["sh", "-c", "echo a; echo b >&2; exit 4"]') == {
        "t": "exec",
        "status": 4,
        "stdout": "a\n",
        "stderr": "b\n",
    }
    assert agent.ask('exec 0.5 ["sleep", "60"]')["status"] == 128 + 9
    assert agent.ask('exec 10 ["no-such-program"]')["status"] == 127


def test_the_agent_cuts_long_lines(agent: Agent) -> None:
    answer = agent.ask('exec 20 ["sh", "-c", "yes | tr y \\\\\\\\033 | head -c 200000"]')
    assert answer["t"] == "exec" and answer["stdout"].endswith("[cut]")


@pytest.mark.parametrize(
    "line",
    ["dance", "case", "case Counting.X", "case No.Such 5", "exec 5", "exec x [1]", "exec 5 [1]"],
)
def test_agent_refuses_unknown_commands(agent: Agent, line: str) -> None:
    assert agent.ask(line)["t"] == "error"
    assert agent.ask('exec 10 ["true"]')["status"] == 0


def test_agent_reports_why_a_module_does_not_load(agent: Agent) -> None:
    answer = agent.ask("load /nonexistent.ko a=1")
    assert answer["ok"] is False and "No such file" in answer["error"]
    answer = agent.ask("unload no_such_module")
    assert answer["ok"] is False and answer["error"]
