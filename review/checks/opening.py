# SPDX-License-Identifier: Apache-2.0
"""Checks of event_init: whose event it is, and which ones the PMU refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Fact
from ..program import Step
from ..view import BREACH, CANNOT_TELL, SUSPECT, View, check
from .groups import finds_counter

Found = Iterator[tuple[str, Fact, str]]
TYPE = r"\battr(?:\.|->)type\b|[>.]type[!=]=|[!=]=[\w>.-]*[>.]type\b|\btype[!=]="
WRITES = re.compile(
    r"(?:__raw_)?(?:writel|writeq|writew|writeb|iowrite\d+|lo_hi_writeq|hi_lo_writeq)(?:_relaxed)?\Z|"
    r"wrmsr\w*\Z|regmap_(?:write|update|set|clear)\w*\Z|pci_write_config\w*\Z|pci_clear_and_set_config\w*\Z|"
    r"mtpmr\Z|write_sysreg\w*\Z|csr_(?:write|set|clear)\w*\Z|\w*(?:mmio|bus|reg)_write\w*\Z"
)
STARTS = re.compile(
    r"(?:on_each_cpu|smp_call_function)\w*\Z|\w*counters?_(?:start|enable|reset)\w*\Z"
)
"""A function that acts on the counters of other CPUs, or of the firmware."""
PRINTS = re.compile(
    r"(?:(?:dev|pci|netdev|drm|xe|gt)_(?:err|warn|info|notice|crit|alert|emerg)|"
    r"pr_(?:err|warn|info|notice|crit|alert|emerg|cont)|"
    r"printk|WARN|WARN_ON|acpi_handle_err|dev_printk)(?:_ratelimited)?\Z"
)
OWN_PRINTS = re.compile(r"[a-z]\w*_(?:err|warn|notice|crit|alert|emerg)(?:_ratelimited)?\Z")
"""A macro or a function of the driver, if it gets a text."""
NUMBER = re.compile(r"get_\w*event|event_?(?:id|type)|[A-Z_]EVENT")
"""An expression that takes the number of an event from its config."""
CHECKER = re.compile(r"(?:get|to|valid|check|map)\w*(?:event|config)\w*\(|EVENT\w*\(")
"""A function or a macro that checks it."""
INTERRUPTS = r"\w*request_\w*irq"
USES_CPU = re.compile(r"\bevent->cpu\b")


@check("type-first")
def type_first(view: View) -> Found:
    """event_init checks the type of the event before anything else."""
    if not view.init:
        yield CANNOT_TELL, view.pmu.place, "event_init is not in the sources"
        return
    guard = next(
        (
            s
            for s in view.init
            if s.fact.kind in ("if", "return", "set")
            and re.search(TYPE, "".join(s.fact.words))
            or s.fact.kind == "attr"
            and s.fact.words[0] == "type"
        ),
        None,
    )
    if guard is None:
        if view.mentions(view.init, r"attr\.type|attr->type"):
            return
        verdict = BREACH if view.is_uncore else SUSPECT
        yield verdict, view.init_start, "event_init does not check attr.type, so it takes events of other PMUs"
        return
    verdict = BREACH if view.is_uncore else SUSPECT
    own = guard.at
    if guard.depth == 0 and guard.fact.kind == "if":
        answers = _returned(view, guard.fact)
        if (
            answers
            and not any("ENOENT" in answer for answer in answers)
            and "!=" in guard.fact.words[0]
        ):
            yield verdict, guard.fact, f"a foreign type is answered by {answers[0]}, not by -ENOENT"
    for step in view.init:
        if step.fact == guard.fact:
            return
        if step.depth or step.fact >= own:
            continue
        if (
            step.fact.kind == "return"
            and "ENOENT" not in step.fact.words[0]
            and step.fact.words[0].startswith("-")
            and not _never(view, step.fact)
        ):
            yield verdict, step.fact, f"{step.fact.words[0]} is returned before the type is checked"
            return
        if step.fact.kind == "call" and (WRITES.match(step.fact.words[0]) or _prints(step.fact)):
            yield verdict, step.fact, f"{step.fact.words[0]}() is called before the type is checked"
            return


def _never(view: View, leaving: Fact) -> bool:
    """Whether a return needs that the container of the PMU is NULL, which it is never."""
    facts = view.program.functions[leaving.function]
    containers = {
        f"!{f.words[0]}"
        for f in facts
        if f.kind == "set" and re.match(r"(?:to_\w+|container_of)\(event->pmu\b", f.words[-1])
    }
    return any(
        f.kind == "if" and f.start <= leaving.line <= f.end and f.words[0] in containers
        for f in facts
    )


def _returned(view: View, fact: Fact) -> list[str]:
    """The values that the statement of an if returns."""
    return [
        other.words[0]
        for other in view.program.functions[fact.function]
        if other.kind == "return" and fact.start <= other.line <= fact.end
    ]


def _refuses(view: View, pattern: str) -> Step | None:
    return view.decides(view.init, pattern)


@check("refuse-sampling")
def refuse_sampling(view: View) -> Found:
    """A PMU that cannot sample refuses a sampling event."""
    if view.samples or not view.init or "NO_INTERRUPT" in view.capabilities:
        return
    if _refuses(view, r"is_sampling_event|sample_period|sample_freq|sample_type"):
        return
    yield BREACH if view.is_uncore else SUSPECT, view.init_start, "event_init accepts sampling events, and the PMU never writes a sample"


@check("no-interrupt")
def no_interrupt(view: View) -> Found:
    """A PMU that cannot sample refuses by hand: PERF_PMU_CAP_NO_INTERRUPT alone misses events of the kernel."""
    if view.samples or not view.init:
        return
    by_hand = _refuses(view, r"is_sampling_event|sample_period|sample_freq")
    if not view.is_uncore and (by_hand or "NO_INTERRUPT" in view.capabilities):
        return
    if by_hand:
        if "NO_INTERRUPT" not in view.capabilities and not _has_interrupt(view):
            yield SUSPECT, by_hand.at, "the PMU has no interrupt and no PERF_PMU_CAP_NO_INTERRUPT"
        return
    if "NO_INTERRUPT" in view.capabilities:
        yield SUSPECT, view.init_start, (
            "PERF_PMU_CAP_NO_INTERRUPT alone does not refuse sampling events of the kernel itself"
        )
        return
    yield BREACH if view.is_uncore else SUSPECT, view.init_start, "neither PERF_PMU_CAP_NO_INTERRUPT nor event_init refuses sampling"


def _has_interrupt(view: View) -> bool:
    """Whether a function that the file reaches requests an interrupt. Another file may have one for other PMUs."""
    own = {fact.function for fact in view.program.facts if fact.file == view.program.root}
    reached = view.program.reached(*own)
    return any(call.function in reached for call in view.program.calls(INTERRUPTS))


@check("refuse-task")
def refuse_task(view: View) -> Found:
    """A system-wide PMU refuses events of a task."""
    if not view.is_uncore or not view.init:
        return
    if _refuses(view, r"PERF_ATTACH_TASK|hw\.target"):
        return
    test = _refuses(view, r"\bcpu<0|\bcpu==-1|\bcpu<=-1|cpu>=nr_cpu")
    if test:
        message = "an event of a task on one CPU is left to the core, which refuses it since 6.12"
        yield SUSPECT, test.at, message
    else:
        yield SUSPECT, view.init_start, "event_init leaves events of a task to the core"


@check("cpu-negative")
def cpu_negative(view: View) -> Found:
    """A CPU of -1 is no index."""
    if not view.is_uncore or not view.init:
        return
    for step in view.init:
        fact = step.fact
        if fact.kind == "if" and re.search(
            r"cpu<0|PERF_ATTACH_TASK|cpu==-1|cpu>=0|cpu<=-1", fact.words[0]
        ):
            return
        if fact.kind == "set" and fact.words[0] == "event->cpu":
            return
        if (
            fact.kind == "call"
            and USES_CPU.search(fact.words[1])
            and not fact.words[0].startswith(("dev_", "pr_"))
        ):
            # Kernels since 6.12 refuse such an event of a PMU without a task context before event_init.
            yield SUSPECT, fact, f"{fact.words[0]}() gets event->cpu, which is -1 for an event of a task"
            return


@check("cpu-assign")
def cpu_assign(view: View) -> Found:
    """A system-wide PMU moves each event to its designated CPU."""
    if not view.is_uncore or not view.init or "scope" in view.pmu.members:
        return
    if any(s.fact.kind == "set" and re.search(r"->cpu$", s.fact.words[0]) for s in view.init):
        return
    if _refuses(view, r"event->cpu!="):
        return
    migrates = view.program.calls("perf_pmu_migrate_context")
    # Calls on two CPUs at once find the same free counter.
    if migrates and any(finds_counter(view, step) for step in view.add):
        yield BREACH, view.init_start, "event_init does not assign the designated CPU to event->cpu"
    else:
        yield SUSPECT, view.init_start, "event_init does not assign a CPU of cpumask to event->cpu"


@check("config-range")
def config_range(view: View) -> Found:
    """event_init checks the numbers of attr.config."""
    if not view.init:
        return
    for step in view.init:
        if re.search(r"\[event->attr\.config\]", "".join(step.fact.words)):
            if not _bounded(view, step.fact):
                yield BREACH, step.fact, "attr.config is an index, and nothing limits it"
                return
        if joined := re.search(
            r"attr\.config[12]?&&([A-Z][A-Z0-9_]+)\b(?!\()", "".join(step.fact.words)
        ):
            yield BREACH, step.fact, f"&& makes 0 or 1 of attr.config: & {joined[1]} is meant"
            return
        beyond = re.search(r"config>([A-Z]\w+)\)*(?:\Z|\|\|)", step.fact.words[0])
        if step.fact.kind == "if" and beyond and f"[{beyond[1]}]" in view.program.source:
            yield SUSPECT, step.fact, f"{beyond[1]} is the length of a table, and passes this test"
            return
    tainted = {"config", "config_base"}
    for step in view.init:
        fact = step.fact
        words = set(re.findall(r"\w+", " ".join(fact.words[2:]))) if fact.kind == "set" else set()
        if fact.kind == "set" and (words & tainted or NUMBER.search(fact.words[2])):
            if name := re.search(r"(\w+)$", fact.words[0]):
                tainted.add(name[1])
    for step in _outside(view, view.init, re.compile("group|filter")):
        fact = step.fact
        if fact.kind not in ("if", "return", "loop"):
            continue
        words = set(re.findall(r"\w+", " ".join(fact.words)))
        if fact.kind == "return" and not re.search(r"[<>&(]|==", fact.words[0]):
            continue
        if (
            "attr.disabled" in fact.words[0]
            or fact.kind == "if"
            and not _bounds(view, step, tainted)
        ):
            continue
        if words & (tainted - {"idx", "cpu"}) or (
            CHECKER.search("".join(fact.words))
            and not re.search(r"is_\w+_event\(|sibling|group", fact.words[0])
        ):
            return
    if view.switches(view.init, "config"):
        return
    failing = [
        step.fact
        for step in view.add
        if step.fact.kind == "return" and re.search(r"-EINVAL", step.fact.words[0])
    ]
    if failing and view.is_uncore:
        yield BREACH, view.init_start, (
            f"event_init accepts any config; add then refuses it (line {failing[0].line})"
        )
    else:
        yield SUSPECT, view.init_start, "event_init accepts any config"


def _bounded(view: View, index: Fact) -> bool:
    """Whether a test above an index, in the same case of a switch, limits config."""
    lines = view.program.texts[index.file].splitlines()
    return any(
        test.kind == "if"
        and test.line <= index.line
        and re.search(r"config(?:>=?|<=?)|array_index_nospec", test.words[0])
        and not any(
            re.match(r"\s*(?:case\b|default:)", line) for line in lines[test.line : index.line]
        )
        for test in view.program.functions[index.function]
    )


def _outside(view: View, steps: list[Step], names: re.Pattern[str]) -> Iterator[Step]:
    """The steps of a walk that are in no function with such a name, nor below one."""
    within: int | None = None
    for step in steps:
        if within is not None and step.depth > within:
            continue
        within = None
        yield step
        if step.fact.kind == "call" and any(map(names.search, view.program.callees(step.fact))):
            within = step.depth


def _bounds(view: View, step: Step, tainted: set[str]) -> bool:
    """Whether an if refuses something, and not only one value of the number in a special case."""
    fact = step.fact
    refuses = any(
        other.kind in ("return", "goto") and fact.line <= other.line <= fact.end
        for other in view.program.functions[fact.function]
    )
    parts = re.split(r"&&", fact.words[0])
    special = len(parts) > 1 and not any(
        set(re.findall(r"\w+", part)) & tainted
        and not re.fullmatch(r"\(*[\w>.-]+[!=]=\w+\)*", part)
        for part in parts
    )
    return refuses and not special


@check("no-exclude")
def no_exclude(view: View) -> Found:
    """A PMU that counts all modes refuses exclude bits."""
    if "NO_EXCLUDE" in view.capabilities or view.mentions(
        view.init, r"exclude_\w+|event_has_any_exclude_flag"
    ):
        return
    if any(
        view.mentions(view.program.callback(view.pmu, name), r"\bexclude_(?:user|kernel|hv)\b")
        for name in ("add", "start", "read")
    ):
        return  # The driver programs the bits.
    if view.capabilities and not re.search(r"PERF_PMU_CAP|^0$", view.capabilities):
        yield CANNOT_TELL, view.pmu.place, f"the capabilities are {view.capabilities}"
        return
    verdict = BREACH if view.is_uncore else SUSPECT
    yield verdict, view.pmu.members.get("capabilities", view.pmu.place), (
        "exclude_kernel and the other exclude bits are accepted and ignored: PERF_PMU_CAP_NO_EXCLUDE is missing"
    )


@check("init-hardware")
def init_hardware(view: View) -> Found:
    """event_init leaves the device alone."""
    for step in view.init:
        if step.fact.kind != "call":
            continue
        name = step.fact.words[0]
        if STARTS.match(name):
            yield SUSPECT, step.fact if step.depth == 0 else step.at, (
                f"event_init acts on counters by {name}() in {step.fact.function}(), line {step.fact.line}"
            )
            return
        if WRITES.match(name):
            yield BREACH if view.is_uncore else SUSPECT, step.fact if step.depth == 0 else step.at, (
                f"event_init writes to the device ({name}() in {step.fact.function}(), line {step.fact.line})"
            )
            return


@check("user-print")
def user_print(view: View) -> Found:
    """No call of a user prints to the kernel log."""
    seen = set()
    for callback in ("event_init", "add", "start", "stop", "del", "read"):
        for step in view.program.callback(view.pmu, callback):
            fact = step.fact
            if fact.kind != "call" or (fact.file, fact.line) in seen:
                continue
            if _prints(fact) and not (
                fact.words[0].startswith("WARN") and callback != "event_init"
            ):
                seen.add((fact.file, fact.line))
                sure = callback == "event_init" and not re.match(
                    r"WARN|.*_ratelimited", fact.words[0]
                )
                sure = sure and (step.depth < 2 or _is_about_event(view, fact))
                message = f"{callback} prints by {fact.words[0]}(): any user fills the log"
                yield BREACH if sure else SUSPECT, fact, message


def _prints(call: Fact) -> bool:
    """Whether a call prints to the kernel log."""
    if PRINTS.match(call.words[0]):
        return True
    return OWN_PRINTS.match(call.words[0]) is not None and '"' in call.words[1]


def _is_about_event(view: View, fact: Fact) -> bool:
    """Whether a message depends on the attr of the event, and not only on the device."""
    return any(
        other.kind == "if"
        and other.start <= fact.line <= other.end
        and re.search(r"event|filter|config|attr|group", other.words[0])
        for other in view.program.functions[fact.function]
    )
