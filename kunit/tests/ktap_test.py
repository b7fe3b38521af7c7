# SPDX-License-Identifier: GPL-2.0-only
"""The reader of KTAP: recorded logs, and truncated, forged or contradictory logs."""

import random
import re
from pathlib import Path

import pytest

from kunit.pmukunit import ktap
from kunit.pmukunit.ktap import Outcome

LOGS = Path(__file__).parent / "logs"

PASSED = (LOGS / "passed.log").read_bytes()
FAILED = (LOGS / "failed.log").read_bytes()
OOPS = (LOGS / "oops.log").read_bytes()

SMALL = b"""\
KTAP version 1
1..1
    KTAP version 1
    # Subtest: one
    1..2
    ok 1 first
    ok 2 second
# one: pass:2 fail:0 skip:0 total:2
ok 1 one
"""


def test_recorded_pass_is_complete() -> None:
    run = ktap.parse(PASSED)
    assert run.problems == ()
    assert run.suites == ("refpmu_state",)
    assert [case.name for case in run.cases][1] == "state_flags_equal_those_of_perf"
    assert {case.outcome for case in run.cases} == {Outcome.PASSED}
    assert run.cases[0].parameters == 26
    assert ktap.kernel_reports(PASSED) == ()


def test_recorded_failure_has_the_case_and_its_message() -> None:
    run = ktap.parse(FAILED)
    assert run.problems == ()
    failed = [case for case in run.cases if case.outcome is Outcome.FAILED]
    assert [case.name for case in failed] == ["assignment_equals_the_expected_one"]
    assert "EXPECTATION FAILED at" in failed[0].message
    assert "(parameter two prefer fixed 0: the first gets it)" in failed[0].message


def test_recorded_oops_is_reported_and_the_run_is_incomplete() -> None:
    assert any("NULL pointer dereference" in line for line in ktap.kernel_reports(OOPS))
    assert any("the log ends in it" in problem for problem in ktap.parse(OOPS).problems)


REPORT = b"[    5.1][   T77] BUG: KASAN: slab-use-after-free in refpmu_read+0x1/0x2\n    ok 2"


def test_report_fails_only_the_case_that_ran() -> None:
    run = ktap.parse(SMALL.replace(b"    ok 2", REPORT.replace(b"5.1", b"5.100000")))
    assert [case.outcome for case in run.cases] == [Outcome.PASSED, Outcome.FAILED]
    assert "KASAN: slab-use-after-free in refpmu_read" in run.cases[1].message
    assert run.problems == ()


def test_report_before_the_first_suite_belongs_to_no_case() -> None:
    run = ktap.parse(SMALL.replace(b"1..1", b"1..1\nWARNING: possible circular locking", 1))
    assert {case.outcome for case in run.cases} == {Outcome.PASSED}


@pytest.mark.parametrize("when", [b"[    1.000000]", b""])
def test_threads_with_output_in_a_case_are_recorded(when: bytes) -> None:
    stamped = b"    # first: verifies DRV-037\n    ok 1 first"
    stamped = b"".join(
        when + b"[%7s] " % who + line + b"\n"
        for who, line in zip((b"T93", b"T1"), stamped.split(b"\n"))
    )
    run = ktap.parse(SMALL.replace(b"    ok 1 first\n", stamped))
    assert [case.threads for case in run.cases] == [(93,), ()]


def test_truncated_log_is_incomplete() -> None:
    lines = PASSED[PASSED.index(b"KTAP version") :].splitlines(keepends=True)
    last = next(i for i, line in enumerate(lines) if line.startswith(b"ok 1 "))
    for count in range(last):
        assert ktap.parse(b"".join(lines[:count])).problems, f"cut after line {count}"
    assert ktap.parse(b"".join(lines[: last + 1])).problems == ()


def test_log_without_a_result_is_incomplete() -> None:
    lines = PASSED.splitlines(keepends=True)
    results = [i for i, line in enumerate(lines) if line.lstrip().startswith(b"ok ")]
    assert len(results) > 30
    for gone in results:
        assert ktap.parse(b"".join(lines[:gone] + lines[gone + 1 :])).problems, lines[gone]


@pytest.mark.parametrize(
    "old, new, said",
    [
        (b"KTAP version 1\n1..1\n", b"", "no KTAP"),
        (b"1..1\n", b"", "number of suites is unknown"),
        (b"1..1\n", b"1..2\n", "1 of 2 suites"),
        (b"1..1\n", b"1..0\n", "empty plan"),
        (b"1..2\n", b"1..3\n", "2 of 3 cases"),
        (b"    1..2\n", b"", "no plan"),
        (b"    1..2\n", b"    1..2\n    1..2\n", "plan of 2 stands where none may"),
        (b"ok 2 second", b"ok 3 second", "number 3 where 2 was due"),
        (b"ok 2 second", b"ok 2 first", "reported twice"),
        (b"ok 2 second", b"not ok 2 second", "contradicts its cases"),
        (b"\nok 1 one", b"\nnot ok 1 one", "contradicts its cases"),
        (b"\nok 1 one", b"\nok 1 two", "closed as two"),
        (b"    # Subtest: one\n", b"", "stands where none may"),
        (b"    ok 2", b"            ok 2", "stands where none may"),
        (b"    ok 2", b"   ok 2", "stands where none may"),
        (b"    ok 1 first\n", b"        not ok 1 row\n    ok 1 first\n", "parameters failed"),
        (b"ok 1 one\n", b"ok 1 one\nKTAP version 1\n", "second run"),
    ],
)
def test_contradiction_is_a_problem(old: bytes, new: bytes, said: str) -> None:
    assert ktap.parse(SMALL).problems == ()
    run = ktap.parse(SMALL.replace(old, new, 1))
    assert any(said in problem for problem in run.problems), run.problems


def test_rules_belong_to_the_case_that_verifies_them_and_are_no_message() -> None:
    kept = (
        b"    # second: verifies DRV-001\n    # second: verifies DRC-044\n"
        b"        # Subtest: second\n        not ok 1 row\n    # second: verifies DRV-001\n"
        b"# second: pass:0 fail:1 skip:0 total:1\n"
    )
    log = SMALL.replace(b"    ok 2", kept + b"    not ok 2").replace(
        b"\nok 1 one", b"\nnot ok 1 one"
    )
    run = ktap.parse(log)
    assert [case.rules for case in run.cases] == [(), ("DRV-001", "DRC-044")]
    assert "keeps" not in run.cases[1].message


def test_rule_of_another_case_is_a_problem() -> None:
    run = ktap.parse(SMALL.replace(b"    ok 2", b"    # first: verifies DRV-001\n    ok 2"))
    assert run.problems == ("second: first keeps DRV-001 in it",)


def test_skipped_case_has_its_reason() -> None:
    run = ktap.parse(SMALL.replace(b"ok 2 second", b"ok 2 second # SKIP one CPU"))
    assert run.problems == ()
    assert (run.cases[1].outcome, run.cases[1].message) == (Outcome.SKIPPED, "one CPU")


@pytest.mark.parametrize(
    "prefix", [b"[    0.123456] ", b"<6>[   12.000001] ", b"[ 1.000000][ T1] "]
)
def test_time_stamps_are_no_part_of_a_line(prefix: bytes) -> None:
    stamped = b"".join(prefix + line for line in SMALL.splitlines(keepends=True))
    assert ktap.parse(stamped) == ktap.parse(SMALL)


@pytest.mark.parametrize(
    "noise",
    [
        b"",
        b"\0" * 100_000,
        b"\xff\xfe" * 5000,
        b"KTAP version 1\n" * 1000,
        b"    ok 1 \x1b[31mred\n" * 100,
        b"KTAP version 1\n1..99999999999999999999\n",
        b"KTAP version 1\n1..1\nok 1 empty\n",
        b"x" * 1_000_000,
    ],
)
def test_hostile_console_is_incomplete(noise: bytes) -> None:
    assert ktap.parse(noise).problems


def test_escape_sequences_do_not_reach_the_terminal() -> None:
    run = ktap.parse(SMALL.replace(b"first", b"fi\x1b[2Jrst"))
    assert "\x1b" not in run.cases[0].name


@pytest.mark.parametrize(
    "line",
    [
        b"WARNING: CPU: 0 PID: 9 at drivers/perf/refpmu/driver/core_pmu/counter.c:121 refpmu_do",
        b"BUG: sleeping function called from invalid context at mm/slab.h:1",
        b"WARNING: possible circular locking dependency detected",
        b"BUG: kernel NULL pointer dereference, address: 0000000000000000",
        b"UBSAN: array-index-out-of-bounds in drivers/perf/refpmu/driver/core_pmu/irq.c:1",
        b"Kernel panic - not syncing: Fatal exception",
        b"rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
        b"list_del corruption. prev->next should be 1, but was 2.",
    ],
)
def test_kernel_reports_are_detected(line: bytes) -> None:
    assert ktap.kernel_reports(b"[    1.000000] " + line + b"\r\n") == (line.decode(),)


def test_failed_expectation_is_no_kernel_report() -> None:
    assert ktap.kernel_reports(b"    # case: EXPECTATION FAILED at a.c:1 BUG: no\n") == ()


def changed(console: bytes, dice: random.Random) -> bytes:
    """Returns @console with random changes of bytes and lines."""
    lines = console.splitlines(keepends=True)
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(lines))
        match dice.randrange(5):
            case 0:
                del lines[at]
                lines = lines or [b"\n"]
            case 1:
                lines.insert(at, lines[dice.randrange(len(lines))])
            case 2:
                other = dice.randrange(len(lines))
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                cut = dice.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut] + dice.randbytes(dice.randint(0, 8)) + lines[at][cut:]
            case _:
                lines[at] = dice.randbytes(dice.randint(0, 64))
    return b"".join(lines)


@pytest.mark.parametrize("seed", range(4))
def test_random_console_is_parsed_and_is_complete_only_with_all_results(
    seed: int,
) -> None:
    dice = random.Random(seed)
    for _ in range(150):
        console = changed(dice.choice([SMALL, FAILED, PASSED]), dice)
        run = ktap.parse(console)
        assert run == ktap.parse(console)
        for text in (*run.problems, *run.suites, *(case.name for case in run.cases)):
            assert text.isprintable()
        for case in run.cases:
            assert case.message.count("\n") < ktap.MAX_MESSAGE_LINES
            assert case.outcome is Outcome.FAILED or not case.reports
        if not run.problems:
            assert {case.suite for case in run.cases} == set(run.suites) != set()
            first = re.search(rb"(?m)^(?:not )?ok ", console)
            assert first and ktap.parse(console[: first.start()]).problems
