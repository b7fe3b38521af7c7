# SPDX-License-Identifier: Apache-2.0
"""How each kind of fault is built and judged. A strategy serves all faults of one kind with one observer."""

from __future__ import annotations

import contextlib
import queue
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ci.faults import bench, kernels, modules, trial
from ci.faults.bench import Bench
from ci.faults.catchers import Catchers
from ci.faults.host import Host
from ci.faults.kernels import Built, Workshop
from ci.faults.kunit import Kunit
from ci.faults.trial import Attempt, Goal, Planned, Ran, Trial
from faults import patch
from faults.fault import ANSWER, DEVICE, FUZZ, KERNEL, KUNIT, SUITE, TARGET, TEST, UNIT, Fault
from pmubase import store
from pmubase.errors import UserError
from vm import arch, driver, kernel, module, runs, session, suite
from vm.channel import Message

PARALLEL = 2
"""The number of trials at the same time."""
ANSWER_S = 15
"""Deadline of a case with a wrong answer. A case that hangs catches nothing, unless `results` has TIMEOUT."""
PYTEST_S = 1800
RunCase = Callable[[session.Session, suite.Case], str]


@dataclass(frozen=True)
class Request:
    """A run: what its strategies need to know."""

    planned: tuple[Planned, ...]
    goal: Goal
    own: bool
    """Whether only cases of the faults' rules run."""
    out: Path
    catchers: Catchers
    say: Callable[[str], None]
    stop: threading.Event
    """After this event, no further case runs."""


class Strategy:
    """Builds faults and lets one observer judge them. Several threads may call `judge` at the same time."""

    def __init__(self, request: Request) -> None:
        self.request = request

    def cases(self, planned: Planned) -> Sequence[suite.Case]:
        """The cases that may run, of all targets."""
        return ()

    def judge(self, planned: Planned) -> Trial:
        """The result. UserError if the fault does not build."""
        raise NotImplementedError

    def problems(self) -> list[str]:
        """The errors of the clean original, which prevent all judgements."""
        return []

    def notes(self) -> list[str]:
        """The cases that the clean original fails, where this decides nothing: they catch no fault."""
        return []

    def close(self) -> None:
        """Ends the guests."""


class OnHost(Strategy):
    """The unit tests of the driver and the fuzz harnesses."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self._host = Host(store.ROOT, request.out / "host")

    def judge(self, planned: Planned) -> Trial:
        return self._host.judge(planned, self.request.goal)

    def problems(self) -> list[str]:
        return self._host.problems()


class InKunit(Strategy):
    """The KUnit suites, in a kernel that has the driver with the fault."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        names = dict.fromkeys(one.kernel for one in request.planned)
        out, say = request.out, request.say
        self._of = {name: Kunit(name, modules.DRIVER, out, say) for name in names}

    def judge(self, planned: Planned) -> Trial:
        catcher = self.request.catchers.last(planned.fault, KUNIT)
        return self._of[planned.kernel].judge(planned, self.request.goal, catcher)

    def problems(self) -> list[str]:
        return [line for each in self._of.values() for line in each.problems()]


class InPytest(Strategy):
    """A test of pytest that applies the fault itself and expects that it is noticed."""

    def judge(self, planned: Planned) -> Trial:
        fault = planned.fault
        words = [sys.executable, "-m", "pytest", "-q", "-m", "nightly or not nightly", fault.test]
        words += ["-k", f"{fault.id} and {self._kernel()}"] if fault.breaks == TARGET else []
        try:
            done = subprocess.run(
                words,
                cwd=store.ROOT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PYTEST_S,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise UserError(f"{fault.test}: no end after {PYTEST_S} s") from error
        if done.returncode not in (0, 1):
            raise UserError(f"{fault.test}: {(done.stdout.splitlines() or ['no output'])[-1]}")
        ran = Ran(fault.test, "PASS" if done.returncode else "FAIL", (fault.test_rule,))
        return trial.decide(planned, [ran], [fault.test] if done.returncode == 0 else [])

    @staticmethod
    def _kernel() -> str:
        return kernel.known()[-1]


class InGuests(Strategy):
    """Cases of the suite: the common part of the strategies that run them."""

    run_case: RunCase = staticmethod(bench.run_case)

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self.benches: dict[tuple[str, str], Bench[Any]] = {}
        for one in request.planned:
            for target in self.targets(one):
                key = (one.kernel, target)
                if key not in self.benches:
                    self.benches[key] = self.open_bench(one.kernel, suite.find_target(target))

    def targets(self, planned: Planned) -> Sequence[str]:
        """The targets to try on the kernel."""
        return planned.fault.targets

    def open_bench(self, name: str, target: suite.Target) -> Bench[Any]:
        """The target on a kernel."""
        raise NotImplementedError

    def of(self, planned: Planned) -> list[Bench[Any]]:
        """The targets of a trial."""
        return [self.benches[planned.kernel, target] for target in self.targets(planned)]

    def cases(self, planned: Planned) -> Sequence[suite.Case]:
        return [case for each in self.of(planned) for case in each.cases]

    def by_cases(self, planned: Planned, built: object) -> Trial:
        """Runs the cases of the fault's rules on each target, then all other cases on each target, until the goal is
        reached."""
        fault, goal = planned.fault, self.request.goal
        attempt = Attempt(planned, goal)
        first = self.request.catchers.last(fault, SUITE)

        def run(guests: session.Session, case: suite.Case) -> str:
            if self.request.stop.is_set():
                raise UserError("interrupted")
            return self.run_case(guests, case)

        for own in (True,) if self.request.own else (True, False):
            for each in self.of(planned):
                if attempt.done and (goal is Goal.CATCH or not own):
                    break
                cases = trial.cases_to_try(fault, planned.rules, each.cases, first, own)
                if not cases:
                    continue
                log = self.request.out / fault.name
                log = log / f"console-{planned.kernel}-{each.target.name}.log"
                lost = each.attempt(built, attempt, cases, log, run)
                if lost and not attempt.ran and lost in fault.results:
                    return trial.decide(planned, (), (), f"{lost} at load", ("(load)",))
                if lost:
                    return trial.broken(planned, f"{lost} before a case ran")
        return attempt.trial()

    def close(self) -> None:
        for each in self.benches.values():
            each.close()

    def failed(self) -> list[str]:
        """The cases that the clean original fails."""
        return [
            f"{target} on {name}: {case} is {how}"
            for (name, target), each in self.benches.items()
            for case, how in each.clean.failed()
        ]


class WithModule(InGuests):
    """A module of the driver with the fault. One guest boots for each target and kernel; all others start from its
    state and receive their module."""

    def __init__(self, request: Request) -> None:
        self._shops: queue.Queue[int] = queue.Queue()
        for number in range(PARALLEL):
            self._shops.put(number)
        self._lock = threading.Lock()
        self._clean: dict[str, Path] = {}
        self._behind: dict[tuple[str, str], session.Plan | None] = {}
        self._stack = contextlib.ExitStack()
        super().__init__(request)

    def open_bench(self, name: str, target: suite.Target) -> Bench[Any]:
        found = kernel.find(name)
        log = self.request.out / f"clean-{target.name}-{name}.log"

        def open_guests(
            target: suite.Target, built: Path, log: Path, messages: list[Message]
        ) -> session.Session:
            behind = self._boot(found, target)
            if behind is None:
                return session.Session(runs.plan(target, found, built), log, messages.append)
            return session.Session(runs.pass_module(behind, built), log, messages.append)

        return Bench(target, lambda: self._original(found), open_guests, log, found.needs.debug)

    def judge(self, planned: Planned) -> Trial:
        found = kernel.find(planned.kernel)
        product = self.request.out / planned.fault.name / found.release / f"{module.NAME}.ko"
        return self.by_cases(planned, self._build(planned, found, product))

    def problems(self) -> list[str]:
        return self.failed()

    def close(self) -> None:
        super().close()
        self._stack.close()

    def _build(self, planned: Planned | None, found: kernel.Kernel, product: Path) -> Path:
        number = self._shops.get()
        try:
            shop = self.request.out / f"workshop-{number}-{found.release}"
            fault = planned.fault if planned else None
            return modules.build(fault, found, modules.DRIVER, shop, product)
        finally:
            self._shops.put(number)

    def _original(self, found: kernel.Kernel) -> Path:
        with self._lock:
            if found.name not in self._clean:
                product = self.request.out / "clean" / found.release / f"{module.NAME}.ko"
                self._clean[found.name] = self._build(None, found, product)
            return self._clean[found.name]

    def _boot(self, found: kernel.Kernel, target: suite.Target) -> session.Plan | None:
        with self._lock:
            key = (found.name, target.name)
            if key not in self._behind:
                folder = self._stack.enter_context(store.scratch(self.request.out))
                with bench.convert_to_unclean("no guest"):
                    self._behind[key] = runs.boot_without_module(target, found, folder)
            return self._behind[key]


class InKernel(InGuests):
    """A kernel with the fault. The next one is built while guests run."""

    run_case = staticmethod(bench.run_twice)

    def __init__(self, request: Request) -> None:
        self._lock = threading.Lock()
        self._shops: dict[str, Workshop] = {}
        self._clean: dict[str, Built] = {}
        super().__init__(request)

    def targets(self, planned: Planned) -> Sequence[str]:
        return kernels.targets_on(planned.fault.targets, kernels.place(planned.kernel)[1])

    def open_bench(self, name: str, target: suite.Target) -> Bench[Any]:
        def open_guests(
            target: suite.Target, built: Built, log: Path, messages: list[Message]
        ) -> session.Session:
            given = None if target.module is None else built.modules[target.module]
            return session.Session(runs.plan(target, built.kernel, given), log, messages.append)

        log = self.request.out / f"clean-{target.name}-{name}.log"
        return Bench(target, lambda: self._original(name), open_guests, log)

    def judge(self, planned: Planned) -> Trial:
        clean = self._original(planned.kernel)
        with self._lock:
            shop = self._shops[planned.kernel]
            built = shop.build(planned.fault, self._modules(planned.kernel), clean)
        try:
            return self.by_cases(planned, built)
        finally:
            kernels.remove_image(built)

    def notes(self) -> list[str]:
        return self.failed()

    def close(self) -> None:
        super().close()
        for built in self._clean.values():
            kernels.remove_image(built)

    def _modules(self, name: str) -> list[str]:
        """The modules that the targets on a kernel need, each once."""
        found = [each.target.module for (of, _), each in self.benches.items() if of == name]
        return list(dict.fromkeys(each for each in found if each is not None))

    def _original(self, name: str) -> Built:
        with self._lock:
            if name not in self._clean:
                self.request.say(f"building the kernel {name}")
                shop = self._shops.setdefault(name, Workshop(name, self.request.out))
                with bench.convert_to_unclean("the clean kernel"):
                    self._clean[name] = shop.build(None, self._modules(name))
            return self._clean[name]


class WithDriver(InGuests):
    """A driver of the kernel with the fault, built from its sources as a module of a stock kernel."""

    def open_bench(self, name: str, target: suite.Target) -> Bench[Any]:
        found = kernel.find(name, arch.find(target.arch or arch.AMD64.name))

        def open_guests(
            target: suite.Target, built: Fault | None, log: Path, messages: list[Message]
        ) -> session.Session:
            plan = runs.plan(target, found, None, drivers=self._modules(target, found, built))
            return session.Session(plan, log, messages.append)

        log = self.request.out / f"clean-{target.name}-{name}.log"
        return Bench(target, lambda: None, open_guests, log)

    def judge(self, planned: Planned) -> Trial:
        return self.by_cases(planned, planned.fault)

    def notes(self) -> list[str]:
        return self.failed()

    def _modules(
        self, target: suite.Target, found: kernel.Kernel, fault: Fault | None
    ) -> tuple[Path, ...]:
        """The modules of the target's drivers. With a fault, they are built from a changed copy of the sources."""
        if fault is None:
            return driver.modules(target.driver, found)
        if not target.driver:
            raise UserError(f"{fault.path}: the driver of the target {target.name} is no module")
        names = with_sources(target.driver, fault, found)
        with store.scratch(self.request.out) as copy:
            for name in names:
                if name.endswith(".c"):
                    folder = driver.tree_of(name, found) / Path(name).parent
                    shutil.copytree(folder, copy / Path(name).parent, dirs_exist_ok=True)
                    for header in folder.parent.glob("*.h"):
                        shutil.copy(header, (copy / name).parent.parent)
            patch.apply(fault, copy)
            built = driver.modules(names, found, copy)
        if built == driver.modules(names, found):
            raise UserError(f"{fault.path}: changes no driver of the target {target.name}")
        return built


def with_sources(names: Sequence[str], fault: Fault, found: kernel.Kernel) -> list[str]:
    """Drivers as driver.modules() names them. A module of the kernel's package that the fault changes is replaced by its
    source."""
    sources = [file for file in fault.files if file.endswith(".c")]
    changed = {f"{driver.module_of(file, found)}.ko": file for file in sources}
    return [changed.get(name, name) for name in names]


class WithAnswer(InGuests):
    """A wrong answer of the kernel to a case. Each rule of the fault must be failed."""

    def __init__(self, request: Request) -> None:
        self._local = threading.local()
        self._stack = contextlib.ExitStack()
        self._lock = threading.Lock()
        super().__init__(request)

    def open_bench(self, name: str, target: suite.Target) -> Bench[Any]:
        found = kernel.find(name)

        def open_guests(
            target: suite.Target, built: None, log: Path, messages: list[Message]
        ) -> session.Session:
            return session.Session(runs.plan(target, found, built), log, messages.append)

        log = self.request.out / f"clean-answers-{target.name}-{name}.log"
        return Bench(target, lambda: None, open_guests, log)

    def judge(self, planned: Planned) -> Trial:
        fault = planned.fault
        (own,) = self.of(planned)
        cases = own.cases
        goal = Goal.ALL if self.request.goal is Goal.ALL else Goal.RULES
        if goal is Goal.RULES:
            first = self.request.catchers.last(fault, SUITE)
            cases = tuple(trial.cases_to_try(fault, planned.rules, cases, first, own=True))
        attempt = Attempt(planned, goal)
        guests = self._guests(planned.kernel, own.target)
        attempt.run(cases, lambda case: self._run(guests, planned, case), own.clean.passes)
        done = attempt.trial()
        left = [rule for rule in done.unfailed_rules if rule in planned.rules]
        if not left:
            return done
        ran = ", ".join(f"{test.name} {test.result}" for test in done.ran[: trial.DEATHS])
        return trial.missed(done, f"nothing failed {', '.join(left)} ({ran or 'no case ran'})")

    def notes(self) -> list[str]:
        return self.failed()

    def close(self) -> None:
        super().close()
        self._stack.close()

    def _guests(self, name: str, target: suite.Target) -> session.Session:
        """The guests of this thread."""
        known: dict[tuple[str, str], session.Session] = vars(self._local).setdefault("guests", {})
        if (name, target.name) not in known:
            number = threading.get_native_id()
            log = self.request.out / f"console-answers-{target.name}-{name}-{number}.log"
            plan = runs.plan(target, kernel.find(name), None)
            found = session.Session(plan, log, lambda message: None)
            with self._lock:
                self._stack.callback(found.power_off_now)
            known[name, target.name] = found
        return known[name, target.name]

    def _run(self, guests: session.Session, planned: Planned, case: suite.Case) -> str:
        if self.request.stop.is_set():
            raise UserError("interrupted")
        result = guests.run(case, lie=planned.fault.change, longest_s=ANSWER_S)
        if result["result"] == "BROKEN" and "lie" not in result:
            lines = str(result["message"]).splitlines()
            raise UserError(next((line for line in lines if "pmuconf: " in line), lines[0]))
        if result["result"] == "FAIL" and not result.get("lied", 0):
            return "BROKEN"  # The answer was never given, so the failure has another cause.
        return str(result["result"])


def strategy_of(planned: Planned) -> type[Strategy]:
    """The strategy of a trial."""
    if planned.observer == SUITE:
        known = {KERNEL: InKernel, ANSWER: WithAnswer, DEVICE: WithDriver}
        return known.get(planned.fault.breaks, WithModule)
    return {UNIT: OnHost, FUZZ: OnHost, KUNIT: InKunit, TEST: InPytest}[planned.observer]


@contextlib.contextmanager
def opened(request: Request) -> Iterator[dict[type[Strategy], Strategy]]:
    """The strategies of a request, each with its own trials."""
    found: dict[type[Strategy], Strategy] = {}
    with contextlib.ExitStack() as stack:
        for how in dict.fromkeys(map(strategy_of, request.planned)):
            own = tuple(one for one in request.planned if strategy_of(one) is how)
            found[how] = how(replace(request, planned=own))
            stack.callback(found[how].close)
        yield found
