# SPDX-License-Identifier: GPL-2.0-only
"""Strict reader of KTAP from a guest's console: missing or contradictory lines are problems."""

import re
from dataclasses import dataclass, field
from enum import Enum

MAX_LINE = 4096
MAX_MESSAGE_LINES = 40
# The first process runs the suites. Each case has its own thread.
RUNNER = 1

# Time and thread of a line, if the kernel prints them.
_STAMP = re.compile(r"^(?:<\d+>)?(?=\[)(?:\[ *\d+\.\d{6}\])?(?:\[ *([TC]\d+)\])? ?")
_VERSION = re.compile(r"K?TAP version \d+")
_PLAN = re.compile(r"1\.\.(\d{1,6})")
_SUBTEST = re.compile(r"# Subtest: (\S{1,200})")
_RESULT = re.compile(r"(not )?ok (\d{1,6})(?: -)? (\S.*?)(?: # SKIP ?(.*))?")
_TALLY = re.compile(r"# (?!Totals:)(\S{1,200}): pass:(\d+) fail:(\d+) skip:(\d+) total:(\d{1,6})")
# Output of VERIFIES() in verifies.h: a rule that the case verifies.
_VERIFIES = re.compile(r"# (\S{1,200}): verifies ([A-Z][A-Z0-9]*-[0-9]{3})")
# Lines of KUnit about the run itself, which do not explain a failure.
_CHATTER = re.compile(r"# (?:module: |Totals: |Subtest:)")


class Outcome(Enum):
    PASSED = "PASS"
    FAILED = "FAIL"
    SKIPPED = "SKIP"


@dataclass(frozen=True)
class Case:
    """One case of a suite; @parameters counts the rows of a parameterized case.

    @rules: ids of the rules that it verifies, each once. @reports: errors that the kernel reported
    while it ran; a case with one has failed. @threads: threads that printed a line in it, except
    the one that runs all cases; none if the kernel does not print threads.
    """

    suite: str
    name: str
    outcome: Outcome
    message: str
    parameters: int
    rules: tuple[str, ...]
    reports: tuple[str, ...] = ()
    threads: tuple[int, ...] = ()


@dataclass(frozen=True)
class Run:
    """Contents of a console. @problems is empty only for a complete and consistent run."""

    cases: tuple[Case, ...]
    suites: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass
class _Block:
    """A list of results that is being read: suites, cases of a suite, or rows of a case."""

    name: str
    plan: int | None = None
    tally: int | None = None
    results: int = 0
    failed: int = 0
    skipped: int = 0


@dataclass
class _Reader:
    top: _Block | None = None
    suite: _Block | None = None
    parameters: _Block | None = None
    said: list[str] = field(default_factory=list)
    kept: dict[str, str] = field(default_factory=dict)  # rule id → the case that verifies it
    reports: dict[str, None] = field(default_factory=dict)
    threads: dict[int, None] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    suites: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def line(self, indent: int, text: str, thread: int = RUNNER) -> None:
        if self.top is None:
            if indent == 0 and _VERSION.fullmatch(text):
                self.top = _Block("the run")
            return
        if self.done():
            if indent == 0 and _VERSION.fullmatch(text):
                self.problems.append("a second run after the first")
            return
        if thread != RUNNER:
            self.threads[thread] = None
        if is_report(text):
            self.reports[text] = None
        result = _RESULT.fullmatch(text)
        plan = _PLAN.fullmatch(text)
        subtest = _SUBTEST.fullmatch(text)
        tally = _TALLY.fullmatch(text)
        keeps = _VERIFIES.fullmatch(text)
        if result:
            self._result(indent, result)
        elif plan:
            self._plan(indent, int(plan[1]))
        elif subtest:
            self._subtest(indent, subtest[1])
        elif tally:
            self._tally(indent, tally[1], int(tally[5]))
        elif keeps:
            self.kept[keeps[2]] = keeps[1]
        elif not _VERSION.fullmatch(text) and not _CHATTER.match(text):
            self.said.append(text)

    def done(self) -> bool:
        return self.top is not None and self.top.plan == self.top.results and self.suite is None

    def _subtest(self, indent: int, name: str) -> None:
        if indent == 1 and self.suite is None:
            self.suite = _Block(name)
            self._forget()
        elif indent == 2 and self.suite is not None and self.parameters is None:
            self.parameters = _Block(name)
        else:
            self.problems.append(f"subtest {name} begins where none may")

    def _plan(self, indent: int, count: int) -> None:
        block = (self.top, self.suite, self.parameters)[indent] if indent <= 2 else None
        if block is None or block.plan is not None or block.results:
            self.problems.append(f"a plan of {count} stands where none may")
        elif count == 0:
            self.problems.append(f"{block.name}: an empty plan")
        else:
            block.plan = count

    def _tally(self, indent: int, name: str, total: int) -> None:
        """KUnit prints no plan for parameters: only the tally after them has their number."""
        block = self.parameters if indent == 1 else self.suite if indent == 0 else None
        if block is None or block.tally is not None:
            self.problems.append(f"a tally of {name} stands where none may")
        else:
            block.tally = total
            if total != block.results:
                self.problems.append(f"{name}: {block.results} of {total} results reported")

    def _result(self, indent: int, match: re.Match[str]) -> None:
        failed, number, name = bool(match[1]), int(match[2]), match[3]
        skipped = match[4] is not None
        if indent == 2 and self.suite is not None:
            # 6.1 prints no header for parameters: their first result begins the block.
            block = self.parameters = self.parameters or _Block("")
        elif indent == 1 and self.suite is not None:
            block = self.suite
        elif indent == 0 and self.top is not None:
            block = self.top
        else:
            self.problems.append(f"result {name} stands where none may")
            return
        block.results += 1
        block.failed += failed
        block.skipped += skipped
        if number != block.results:
            self.problems.append(f"{name}: number {number} where {block.results} was due")
        if indent == 2 and failed:
            self.said.append(f"(parameter {name})")
        if indent == 1:
            self._close_case(name, failed, match[4])
        elif indent == 0:
            self._close_suite(name, failed)

    def _close_case(self, name: str, failed: bool, skip: str | None) -> None:
        assert self.suite is not None
        rows = self.parameters or _Block("")
        if rows.name not in ("", name):
            self.problems.append(f"{name}: closes the parameters of {rows.name}")
        if rows.plan is not None and rows.plan != rows.results:
            self.problems.append(f"{name}: {rows.results} of {rows.plan} parameters reported")
        if rows.results > 1 and rows.plan is None and rows.tally is None:
            self.problems.append(f"{name}: nothing says how many parameters there are")
        if rows.failed and not failed:
            self.problems.append(f"{name}: ok although {rows.failed} parameters failed")
        if any(case.suite == self.suite.name and case.name == name for case in self.cases):
            self.problems.append(f"{self.suite.name}.{name}: reported twice")
        for rule, keeper in self.kept.items():
            if keeper != name:
                self.problems.append(f"{name}: {keeper} keeps {rule} in it")
        outcome = Outcome.PASSED
        message = ""
        if failed or self.reports:
            outcome = Outcome.FAILED
            said = [*self.reports, *(line for line in self.said if line not in self.reports)]
            message = "\n".join(said[:MAX_MESSAGE_LINES]) or "failed and said nothing"
        elif skip is not None:
            outcome = Outcome.SKIPPED
            message = skip
        facts = (tuple(self.kept), tuple(self.reports), tuple(self.threads))
        self.cases.append(Case(self.suite.name, name, outcome, message, rows.results, *facts))
        self.parameters = None
        self._forget()

    def _forget(self) -> None:
        """Clears the lines that belong to the case that has ended."""
        self.said.clear()
        self.kept.clear()
        self.reports.clear()
        self.threads.clear()

    def _close_suite(self, name: str, failed: bool) -> None:
        suite, self.suite = self.suite, None
        if suite is None:
            self.problems.append(f"suite {name}: a result without cases")
            return
        if suite.name != name:
            self.problems.append(f"suite {suite.name}: closed as {name}")
        if suite.plan is None:
            self.problems.append(f"suite {suite.name}: no plan")
        elif suite.plan != suite.results:
            self.problems.append(f"suite {suite.name}: {suite.results} of {suite.plan} cases ran")
        if bool(suite.failed) != failed:
            self.problems.append(f"suite {suite.name}: its result contradicts its cases")
        if name in self.suites:
            self.problems.append(f"suite {name}: reported twice")
        self.suites.append(name)

    def finish(self) -> None:
        if self.top is None:
            self.problems.append("no KTAP on the console: the kernel did not come to its suites")
        elif self.suite is not None:
            ran = f"{self.suite.results} of {self.suite.plan or '?'} cases reported"
            self.problems.append(f"suite {self.suite.name}: the log ends in it, {ran}")
        elif self.top.plan is None:
            self.problems.append("no plan: the number of suites is unknown")
        elif self.top.plan != self.top.results:
            self.problems.append(f"{self.top.results} of {self.top.plan} suites reported")


def parse(console: bytes) -> Run:
    """Parses @console, the untrusted output of the guest."""
    reader = _Reader()
    for raw in console.split(b"\n"):
        text = raw[:MAX_LINE].decode("utf-8", errors="replace").rstrip("\r")
        stamp = _STAMP.match(text)
        who = stamp[1] if stamp else None
        text = text[stamp.end() :] if stamp else text
        body = "".join(char if char.isprintable() else "\ufffd" for char in text.lstrip(" "))
        spaces = len(text) - len(text.lstrip(" "))
        if body:
            # Values of a failed expectation have an indentation that KTAP does not use.
            thread = int(who[1:]) if who and who[0] == "T" else RUNNER
            reader.line(spaces // 4 if spaces % 4 == 0 else 99, body.rstrip(), thread)
    reader.finish()
    return Run(tuple(reader.cases), tuple(reader.suites), tuple(reader.problems))


_REPORTS = re.compile(
    r"(WARNING: |BUG: |BUG at |Oops|Kernel panic|general protection fault|UBSAN: |KASAN: "
    r"|INFO: (?:trying to register|rcu|task|possible)|inconsistent lock state|suspicious RCU"
    r"|possible (?:recursive|circular|irq)|Unable to handle|unhandled|list_(?:add|del) corruption"
    r"|kernel stack|double fault|divide error|invalid opcode"
    r"|leak detector disabled|turning off the locking correctness validator)"
)


def is_report(text: str) -> bool:
    """Returns whether the line @text, without its stamp, is a kernel error report."""
    return bool(_REPORTS.search(text)) and not text.startswith(("#", "ok ", "not ok "))


def kernel_reports(console: bytes) -> tuple[str, ...]:
    """Returns the lines of kernel error reports, each once."""
    found: dict[str, None] = {}
    for raw in console.split(b"\n"):
        text = raw[:MAX_LINE].decode("utf-8", errors="replace")
        text = _STAMP.sub("", text.rstrip("\r")).strip()
        if is_report(text):
            found.setdefault("".join(c if c.isprintable() else "\ufffd" for c in text))
    return tuple(found)
