# SPDX-License-Identifier: GPL-2.0-only
"""The verdict: when a run passes, fails, or is not judged."""

import json
from pathlib import Path

import pytest

from kunit.pmukunit import results
from kunit.pmukunit.guest import Boot
from kunit.pmukunit.ktap import Outcome
from vm import leaks

LOGS = Path(__file__).parent / "logs"
STATE = frozenset({"refpmu_state"})


def judged(console: bytes, expected: frozenset[str] = STATE, cut: str = "") -> results.Verdict:
    return results.judge("6.12", Boot(console, 1.0, cut), expected, whole=True)


@pytest.fixture(name="passed")
def passed_log() -> bytes:
    return (LOGS / "passed.log").read_bytes()


def test_complete_run_without_failures_passes(passed: bytes) -> None:
    assert judged(passed).status == results.PASSED


def test_suite_that_did_not_run_is_not_a_pass(passed: bytes) -> None:
    verdict = judged(passed, STATE | {"refpmu_gone"})
    assert verdict.status == results.NOT_JUDGED
    assert verdict.problems == ("suite refpmu_gone: did not run",)


def test_unexpected_suite_is_not_a_pass(passed: bytes) -> None:
    assert judged(passed, frozenset({"other"})).status == results.NOT_JUDGED


def test_warning_of_the_kernel_fails_the_run(passed: bytes) -> None:
    assert judged(b"WARNING: CPU: 0 PID: 1 at a.c:1\n" + passed).status == results.FAILED


LOST = """unreferenced object 0xffff88800abc0000 (size 96):
  comm "kunit_try_catch", pid {pid}, jiffies 4294750122
  hex dump (first 32 bytes):
    00 00 00 00  ....
  backtrace (crc 0):
    kmalloc_trace+0x2f/0x90
    {function}+0x5c/0x120
{done}
"""


def scanned(console: bytes, **said: object) -> results.Verdict:
    text = LOST.format(**{"pid": 7, "function": "rig_init", "done": leaks.DONE, **said})
    boot = Boot(console + text.encode(), 1.0, "")
    return results.judge("6.12-debug", boot, STATE, whole=True, scanned=True)


def test_memory_leak_fails_the_case_in_whose_function_it_was_allocated(passed: bytes) -> None:
    verdict = scanned(passed, function="state_flags_equal_those_of_perf")
    assert verdict.status == results.FAILED
    failed = [case for case in verdict.run.cases if case.outcome is Outcome.FAILED]
    assert [case.name for case in failed] == ["state_flags_equal_those_of_perf"]
    assert "kmemleak: 96 bytes leaked" in failed[0].message


def test_memory_leak_fails_the_case_whose_thread_allocated_it(passed: bytes) -> None:
    mark = b"\n[    9.000000][   T93]     # state_flags_equal_those_of_perf: verifies DRV-037\n    ok 2"
    verdict = scanned(passed.replace(b"\n    ok 2", mark), pid=93)
    failed = [case for case in verdict.run.cases if case.outcome is Outcome.FAILED]
    assert [case.name for case in failed] == ["state_flags_equal_those_of_perf"]


def test_memory_leak_of_no_case_fails_the_run(passed: bytes) -> None:
    verdict = scanned(passed)
    assert (verdict.status, verdict.count(Outcome.FAILED)) == (results.FAILED, 0)
    assert "rig_init" in verdict.reports[0]


def test_debug_run_without_a_scan_is_not_judged(passed: bytes) -> None:
    boot = Boot(passed, 1.0, "")
    verdict = results.judge("6.12-debug", boot, STATE, whole=True, scanned=True)
    assert verdict.status == results.NOT_JUDGED
    assert verdict.problems == ("nobody looked for lost memory at the end",)


def test_deadline_is_not_a_pass(passed: bytes) -> None:
    assert judged(passed, cut="the guest was not done after 300 s").status == results.NOT_JUDGED


def test_empty_console_is_not_judged() -> None:
    assert judged(b"").status == results.NOT_JUDGED


def test_run_with_only_skipped_cases_is_not_a_pass() -> None:
    console = (
        b"KTAP version 1\n1..1\n    # Subtest: a\n    1..1\n    ok 1 b # SKIP no\nok 1 a # SKIP\n"
    )
    assert judged(console, frozenset({"a"})).status == results.NOT_JUDGED


def test_failed_case_and_its_message_are_in_the_summary(tmp_path: Path) -> None:
    verdict = judged((LOGS / "failed.log").read_bytes(), frozenset({"refpmu_constraint"}))
    assert verdict.status == results.FAILED
    assert "FAIL refpmu_constraint.assignment_equals_the_expected_one" in results.summary(verdict)
    results.write(verdict, tmp_path / "results.json")
    document = json.loads((tmp_path / "results.json").read_text())
    assert document["verdict"] == "FAILED"
    assert document["totals"] == {"cases": 5, "passed": 4, "failed": 1, "skipped": 0, "suites": 1}
    assert "EXPECTATION FAILED" in document["cases"][0]["message"]


def test_results_file_states_the_subject(passed: bytes, tmp_path: Path) -> None:
    subject = results.Subject("6.12.1", "x86_64", driver="refpmu", selected="a.*")
    results.write(judged(passed), tmp_path / "results.json", subject)
    document = json.loads((tmp_path / "results.json").read_text())
    facts = {
        key: document[key] for key in ("layer", "release", "arch", "driver", "pmu", "selected")
    }
    assert facts == {
        "layer": "kunit",
        "release": "6.12.1",
        "arch": "x86_64",
        "driver": "refpmu",
        "pmu": "",
        "selected": "a.*",
    }


def test_release_is_that_of_the_boot_log() -> None:
    console = b"x\n[    0.000000] Linux version 6.12.117-x (root@host) (gcc) #1\n"
    assert results.release_of(console) == "6.12.117-x"
    assert results.release_of(b"KTAP version 1\n") == ""


def test_rules_are_in_the_results_file(passed: bytes, tmp_path: Path) -> None:
    mark = b"\n    # state_flags_equal_those_of_perf: verifies DRV-037\n    ok 2"
    results.write(judged(passed.replace(b"\n    ok 2", mark)), tmp_path / "results.json")
    document = json.loads((tmp_path / "results.json").read_text())
    assert [case["rules"] for case in document["cases"]][:2] == [[], ["DRV-037"]]


def test_expected_suites_are_the_files(tmp_path: Path) -> None:
    for name in ("refpmu_a_kunit.c", "refpmu_b_kunit.c", "rig.c"):
        (tmp_path / name).touch()
    assert results.expected_suites(tmp_path, "") == {"refpmu_a", "refpmu_b"}
    assert results.expected_suites(tmp_path, "*_a.some_case") == {"refpmu_a"}
    assert results.expected_suites(tmp_path, "none*") == frozenset()
