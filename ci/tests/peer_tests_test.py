# SPDX-License-Identifier: Apache-2.0
"""The runner of perf_event_tests reads results, compares them with the expected ones, and needs no copy of the suite."""

from __future__ import annotations

import dataclasses
import pathlib
import subprocess

import pytest

from ci import peer_tests
from ci.peer import build, expected, run, source
from ci.peer.expected import Expectation
from ci.peer.run import Result
from vm import guest, suite
from vm.errors import PmuvmError
from vm.machine_options import MachineOptions

SCRIPT = """
echo "  + tests/alpha/good"
$TESTS_DIR/alpha/good
\t$TESTS_DIR/alpha/bad
$TESTS_DIR/alpha/good
"""
GOOD = 'int puts(const char *); int main(void) { return puts("Testing...   PASSED") < 0; }\n'
MAKEFILE = "all: good bad\n%: %.c\n\t$(CC) $(LDFLAGS) -o $@ $<\n"


def done(stdout: str = "", stderr: str = "", status: int = 0) -> guest.Done:
    return guest.Done(status, stdout, stderr)


@pytest.mark.parametrize(
    ("end", "result"),
    [
        (done("Testing one...      PASSED\n"), "PASSED"),
        (done("Testing one...      FAILED\n", status=1), "FAILED"),
        (done("Testing one...      KNOWN KERNEL BUG\n", status=1), "KNOWN KERNEL BUG"),
        (done("Testing...   FAILED (KERNEL TOO OLD)\n", status=1), "FAILED (KERNEL TOO OLD)"),
        (done("part   FAILED\nTesting one...   PASSED\nbye\n"), "PASSED"),
        (done("is it PASSED?\n"), "NO RESULT"),
        (done("Testing...   PASSED\n", status=139), "CRASH"),
        (done("Testing...   PASSED\n", f"\n{run.KILLED}", 137), "TIMEOUT"),
    ],
)
def test_verdict_is_the_last_result_of_a_test_that_ended(end: guest.Done, result: str) -> None:
    assert run.verdict(end) == result


def test_script_names_each_test_once_in_its_order() -> None:
    assert source.tests(SCRIPT) == ["alpha/good", "alpha/bad"]


def test_script_without_tests_is_an_error() -> None:
    with pytest.raises(PmuvmError, match="run_tests.sh names no test"):
        source.tests("echo nothing")


def checkout(folder: pathlib.Path) -> pathlib.Path:
    """A small suite of the same layout, in which one of two tests does not compile."""
    alpha = folder / "tests" / "alpha"
    alpha.mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "include").mkdir()
    (folder / "lib" / "Makefile").write_text("all:\n")
    (folder / "Makefile.globals.inc").write_text("")
    (folder / "run_tests.sh").write_text(SCRIPT)
    (alpha / "Makefile").write_text(MAKEFILE)
    (alpha / "good.c").write_text(GOOD)
    (alpha / "bad.c").write_text("int main(void) { return missing; }\n")
    return folder


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_build_is_static_and_reports_a_test_that_does_not_compile(tmp_path: pathlib.Path) -> None:
    given = checkout(tmp_path / "given")
    built = build.build(given)
    assert built.tests == ("alpha/good", "alpha/bad")
    assert list(built.programs) == ["alpha/good"]
    assert list(built.failed) == ["alpha/bad"]
    assert "missing" in built.failed["alpha/bad"]
    kind = subprocess.run(["ldd", built.programs["alpha/good"]], capture_output=True, text=True)
    assert "not a dynamic executable" in kind.stderr


def test_build_depends_on_the_content_of_the_sources_only(tmp_path: pathlib.Path) -> None:
    one = build.build(checkout(tmp_path / "one"))
    other = build.build(checkout(tmp_path / "other"))
    assert one.digest == other.digest
    (tmp_path / "other" / "tests" / "alpha" / "good.c").write_text(GOOD + "\n")
    assert build.build(tmp_path / "other").digest != one.digest


def test_source_is_copied_without_objects_of_an_earlier_build(tmp_path: pathlib.Path) -> None:
    given = checkout(tmp_path / "given")
    (given / "tests" / "alpha" / "good.o").write_bytes(b"old")
    copy = tmp_path / "copy"
    copy.mkdir()
    source.copy_to(given, copy)
    assert (copy / "tests" / "alpha" / "good.c").is_file()
    assert not (copy / "tests" / "alpha" / "good.o").exists()


def test_git_directory_gives_the_pinned_commit(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = checkout(tmp_path / "given")

    def git(*words: str) -> str:
        names = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        argv = ["git", "-C", str(given), *names, *words]
        return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "--quiet")
    (given / "include" / "one.h").write_text("\n")
    git("add", ".")
    git("commit", "--quiet", "--message=one")
    monkeypatch.setattr(source, "COMMIT", git("rev-parse", "HEAD"))
    (given / "run_tests.sh").write_text("changed")
    copy = tmp_path / "copy"
    copy.mkdir()
    source.copy_to(given / ".git", copy)
    assert (copy / "run_tests.sh").read_text() == SCRIPT


def test_git_directory_without_the_commit_is_an_error(tmp_path: pathlib.Path) -> None:
    subprocess.run(["git", "init", "--quiet", "--bare", tmp_path / "empty"], check=True)
    with pytest.raises(PmuvmError, match=f"could not read commit {source.COMMIT}"):
        source.copy_to(tmp_path / "empty", tmp_path)


def test_folder_without_the_suite_is_one_line_and_status_2(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(PmuvmError, match="no run_tests.sh and no git directory"):
        source.copy_to(tmp_path, tmp_path)

    def no_target(_name: str) -> suite.Target:
        raise PmuvmError("unknown TARGET 'nothing'")

    monkeypatch.setattr(suite, "find_target", no_target)
    assert peer_tests.main(["--target", "nothing"]) == 2
    assert capsys.readouterr().err == "peer_tests: unknown TARGET 'nothing'\n"


def entries(tmp_path: pathlib.Path, text: str) -> list[Expectation]:
    file = tmp_path / "expected.toml"
    file.write_text(text)
    return expected.read(file)


ENTRY = '[[result]]\ntests = ["alpha/bad"]\nresult = "FAILED"\ncause = "Because."\n'


def test_expectation_covers_all_targets_unless_it_names_some(tmp_path: pathlib.Path) -> None:
    (every,) = entries(tmp_path, ENTRY)
    assert every.is_for("refpmu", "6.12") and every.is_for("intel", "6.1")
    (some,) = entries(tmp_path, ENTRY + 'targets = ["refpmu*"]\nkernels = ["6.1"]\n')
    assert some.is_for("refpmu_work", "6.1")
    assert not some.is_for("intel", "6.1") and not some.is_for("refpmu", "6.12")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("x = 1", "unknown key x; known: conditions, result"),
        (ENTRY + 'why = "x"\n', "result 1: unknown key why"),
        (ENTRY.replace('"Because."', '""'), "result 1: cause must be a string that is not empty"),
        ('[[result]]\ntests = ["a/b"]\ncause = "c"\n', "result 1: no result"),
        ('[[result]]\ntests = ["a/b"]\nresult = []\ncause = "c"\n', "result 1: no result"),
        ("[[result", "expected.toml: "),
    ],
)
def test_wrong_expectation_names_its_file_and_key(
    tmp_path: pathlib.Path, text: str, error: str
) -> None:
    with pytest.raises(PmuvmError) as raised:
        entries(tmp_path, text)
    assert str(tmp_path / "expected.toml") in str(raised.value)
    assert error in str(raised.value)


def test_conditions_of_a_target_are_defaults(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "conditions.toml"
    path.write_text('[conditions.some]\nparameters = "a=1 b"\ncpu = "max"\nwork = ["loads"]\n')
    found = expected.conditions("some", path)
    assert found.parameters == "a=1 b"
    assert found.machine == MachineOptions(cpu="max", work=("loads",))
    assert expected.conditions("other", path) == expected.Conditions()
    path.write_text("[conditions.some]\nicount = 1\n")
    with pytest.raises(PmuvmError, match="conditions.some: unknown key icount; known: cpu, param"):
        expected.conditions("some", path)


def test_cause_may_be_that_of_several_tests(tmp_path: pathlib.Path) -> None:
    found = entries(tmp_path, ENTRY.replace('["alpha/bad"]', '["alpha/bad", "alpha/good"]'))
    assert [one.test for one in found] == ["alpha/bad", "alpha/good"]
    assert {one.cause for one in found} == {"Because."}


def test_glob_of_the_command_line_must_match_a_test() -> None:
    tests = ["b/one", "a/one", "a/two"]
    assert peer_tests.select(tests, ["a/*", "*/one"]) == tests
    assert peer_tests.select(tests, ["a/t*"]) == ["a/two"]
    with pytest.raises(PmuvmError, match="--test c/[*]: perf_event_tests has no such test"):
        peer_tests.select(tests, ["a/*", "c/*"])


def test_test_with_two_expectations_or_an_unknown_name_is_an_error() -> None:
    one = Expectation("alpha/bad", ("FAILED",), "Because.")
    with pytest.raises(PmuvmError, match="two results of alpha/bad for refpmu on 6.12"):
        expected.select([one, one], ["alpha/bad"], "refpmu", "6.12")
    with pytest.raises(PmuvmError, match="has no test alpha/bad"):
        expected.select([one], ["alpha/good"], "refpmu", "6.12")


def result(test: str, word: str, reports: tuple[str, ...] = ()) -> Result:
    return Result(test, word, 1.0, "", 0, reports)


def test_results_that_differ_from_the_expected_ones_are_listed() -> None:
    known = {
        "a/one": Expectation("a/one", ("FAILED", "PASSED"), "The host decides."),
        "a/two": Expectation("a/two", ("SKIPPED",), "Because."),
    }
    results = [
        result("a/one", "PASSED"),
        result("a/two", "PASSED"),
        result("a/three", "PASSED"),
        result("a/four", "TIMEOUT", ("WARNING: x",)),
    ]
    assert peer_tests.different(results, known) == [
        "a/two: PASSED, expected SKIPPED",
        "a/four: TIMEOUT, expected PASSED",
        "a/four: report of the kernel: WARNING: x",
    ]
    assert peer_tests.totals(results) == {"PASSED": 3, "TIMEOUT": 1}
    assert peer_tests.summary(results, [])[0] == "4 tests in 4 s: 3 PASSED, 1 TIMEOUT"


def target(parameters: tuple[str, ...], module: str | None) -> suite.Target:
    return suite.Target(
        "t", pathlib.Path("t.toml"), module, parameters, 1.0, MachineOptions(), None, None, ""
    )


def test_reference_driver_is_the_pmu_cpu_unless_parameters_are_given() -> None:
    assert peer_tests.parameters(target((), "refpmu"), None) == ("cpu=1",)
    assert peer_tests.parameters(target(("work=1",), "refpmu"), None) == ("work=1", "cpu=1")
    assert peer_tests.parameters(target(("cpu=1",), "refpmu"), None) == ("cpu=1",)
    assert peer_tests.parameters(target((), None), None) == ()
    assert peer_tests.parameters(target((), "refpmu"), "lbr=0") == ("lbr=0",)


class FakeGuest:
    """A guest in which tests end as in `ends`, by the last word of the command."""

    booted = 0
    ends: dict[str, guest.Done | guest.GuestLost] = {}

    def __init__(self, *_: object) -> None:
        self.reports: list[str] = []

    def __enter__(self) -> FakeGuest:
        FakeGuest.booted += 1
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def boot(self) -> None:
        pass

    def exec(self, argv: list[str], _deadline_s: int = 0) -> guest.Done:
        name = argv[-1].rpartition("/")[2]
        if name == "noisy":
            self.reports.append("WARNING: noise")
        end = FakeGuest.ends.get(name, done("Testing...  PASSED\n"))
        if isinstance(end, guest.GuestLost):
            raise end
        return end

    def kmsg(self) -> dict[str, list[str]]:
        return {"reports": list(self.reports)}


def test_lost_guest_and_hanging_test_cost_one_guest_each(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeGuest.booted = 0
    FakeGuest.ends = {
        "dies": guest.GuestLost("CRASH", "Oops"),
        "hangs": done("", run.KILLED, 137),
        "segv": done("", "", 139),
    }
    monkeypatch.setattr(guest, "Guest", FakeGuest)
    names = [f"a/{name}" for name in ("fine", "dies", "noisy", "hangs", "segv", "unbuilt")]
    plan = run.Plan(dataclasses.MISSING, None, (), 1)  # type: ignore[arg-type]
    seen: list[Result] = []
    with run.Guests(plan) as guests:
        results = list(run.run_all(guests, names, {"a/unbuilt": "no header"}, seen.append))
    assert [one.result for one in results] == [
        *("PASSED", "GUEST CRASH", "PASSED", "TIMEOUT", "CRASH", "NOT BUILT"),
    ]
    assert [one.reports for one in results if one.reports] == [("WARNING: noise",)]
    assert (seen, FakeGuest.booted) == (results, 3)


def test_expectations_of_this_project_have_causes_that_are_sentences() -> None:
    for entry in expected.read():
        assert entry.cause.endswith("."), entry.test
        assert expected.PASSED != entry.results[0] or len(entry.results) > 1, entry.test
