# SPDX-License-Identifier: Apache-2.0
"""pytest plugin: collects a target file as one item for each case, kernel and architecture, and runs them in guests."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from pmubase.errors import UserError

from . import arch, kernel, session, suite
from .channel import Message
from .runs import plan_from_snapshot

DEFAULT_KERNEL = "6.12"
GOOD = ("PASS", "WAIVED")


class CaseFailed(Exception):
    """A case did not pass."""


class Guests:
    """The sessions of one pytest process: one for each kernel. A case starts its guest when it needs it."""

    def __init__(self) -> None:
        self._sessions: dict[str, session.Session] = {}
        self.problems: list[str] = []

    def run(self, key: str, ready: session.Plan, case: suite.Case) -> Message:
        """Runs a case in the guest called `key`."""
        if key not in self._sessions:
            self._sessions[key] = session.Session(ready, None, self._note)
        return self._sessions[key].run(case)

    def finish(self) -> None:
        """Powers all guests off. Their complaints become problems."""
        for guests in self._sessions.values():
            with guests:
                guests.finish()
        self._sessions.clear()

    def _note(self, message: Message) -> None:
        if message["t"] == "unload" and not message["ok"]:
            self.problems.append(f"unload: {message.get('error', '')}")
        if message["t"] == "kmsg":
            self.problems += message["reports"]


GUESTS = pytest.StashKey[Guests]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pmuconf")
    group.addoption("--pmuconf-kernel", action="append", metavar="KERNEL")
    group.addoption("--pmuconf-arch", action="append", metavar="ARCH")
    group.addoption("--pmuconf-rule", default="", metavar="ID")
    group.addoption("--pmuconf-profile", default="", metavar="NAME")
    group.addoption("--pmuconf-boot", action="store_true", help="start no guest from a snapshot")
    group.addoption("--pmuconf-module", type=pathlib.Path, metavar="FILE.ko")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[GUESTS] = Guests()


def pytest_collect_file(file_path: pathlib.Path, parent: pytest.Collector) -> TargetFile | None:
    if file_path.suffix == ".toml" and file_path in _asked(parent.config):
        collected: TargetFile = TargetFile.from_parent(parent, path=file_path)
        return collected
    return None


def _asked(config: pytest.Config) -> set[pathlib.Path]:
    """Only files that the user named are targets: a folder may have other TOML files."""
    names = (argument.split("::")[0] for argument in config.args)
    return {(config.invocation_params.dir / name).resolve() for name in names}


class TargetFile(pytest.File):
    """A target. Its children are the kernels that it runs on. Opens no event."""

    def collect(self) -> Iterator[pytest.Collector]:
        option = self.config.getoption
        for name in option("--pmuconf-kernel") or [DEFAULT_KERNEL]:
            for machine in option("--pmuconf-arch") or [arch.AMD64.name]:
                yield KernelNode.from_parent(
                    self, name=f"{name}-{machine}", kernel_name=name, arch_name=machine
                )


class KernelNode(pytest.Collector):
    """A kernel under a target; its children are the cases."""

    def __init__(self, kernel_name: str, arch_name: str, **rest: Any) -> None:
        super().__init__(**rest)
        self._kernel = kernel_name
        self._arch = arch_name
        self._plan: session.Plan | None = None
        self._cases = 0

    def collect(self) -> Iterator[pytest.Item]:
        option = self.config.getoption
        selection = suite.Selection(
            rule=option("--pmuconf-rule"), profile=option("--pmuconf-profile")
        )
        try:
            self.target = suite.find_target(str(self.path))
            found = suite.cases(self.target, selection)
        except UserError as error:
            raise self.CollectError(str(error)) from error
        self._cases = len(found)
        for case in found:
            yield CaseItem.from_parent(self, name=case.id, case=case)

    def ready(self) -> session.Plan:
        """The plan of this node's guests. Builds it when the first case runs."""
        if self._plan is None:
            found = kernel.find(self._kernel, arch.find(self._arch))
            given = self.config.getoption("--pmuconf-module")
            chosen = sum(item.parent is self for item in self.session.items)
            partial = bool(self.config.getoption("--pmuconf-rule")) or chosen < self._cases
            boot = self.config.getoption("--pmuconf-boot") or not partial
            self._plan = plan_from_snapshot(self.target, found, given, boot=boot)
        return self._plan

    def repro_command(self, case: suite.Case) -> str:
        """The command that repeats a case."""
        return f"make run TARGET={self.target.name} KERNEL={self._kernel} CASE={case.id}"


class CaseItem(pytest.Item):
    """One case on one kernel."""

    def __init__(self, case: suite.Case, **rest: Any) -> None:
        super().__init__(**rest)
        self._case = case
        for rule in case.rules:
            self.user_properties.append(("rule", rule))

    def runtest(self) -> None:
        node = self.parent
        assert isinstance(node, KernelNode)
        result = self.config.stash[GUESTS].run(node.nodeid, node.ready(), self._case)
        if result["result"] == "SKIP":
            pytest.skip(result["message"] or "no reason given")
        if result["result"] not in GOOD:
            rules = ", ".join(result["rules"])
            raise CaseFailed(
                f"{result['result']} ({rules}): {result['message']}\n"
                f"repro: {node.repro_command(self._case)}"
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (CaseFailed, UserError)):
            details = getattr(excinfo.value, "details", "")
            return f"{details}\n{excinfo.value}".strip()
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[str, int, str]:
        return self._case.file or str(self.path), max(self._case.line - 1, 0), self.name


@pytest.hookimpl(tryfirst=True)  # type: ignore[misc]  # pytest 7.2 does not type it
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    guests = config.stash[GUESTS]
    guests.finish()
    if hasattr(config, "workeroutput"):
        config.workeroutput["pmuconf_problems"] = guests.problems
    elif guests.problems and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)  # type: ignore[misc]
def pytest_testnodedown(node: Any) -> None:
    output = getattr(node, "workeroutput", None) or {}
    node.config.stash[GUESTS].problems += output.get("pmuconf_problems", [])


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    problems = config.stash[GUESTS].problems
    if problems:
        terminalreporter.section("pmuconf: problems of the guests' kernels")
        for problem in problems:
            terminalreporter.line(problem)
