# SPDX-License-Identifier: Apache-2.0
"""Checks of probe and of the hotplug callbacks: the order of steps, the owner, the interrupt."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Fact
from ..kernel_tree import never_module
from ..view import BREACH, CANNOT_TELL, SUSPECT, View, check

Found = Iterator[tuple[str, Fact, str]]
UNLOADABLE = re.compile(r"^\s*(?:module_exit|module_(?!init|param)\w*driver)\s*\(", re.M)
STARTS = re.compile(r"^\s*(?:\w*initcall\w*|builtin_\w+|module_init)\s*\(", re.M)
REQUEST = r"(?:devm_)?request_(?:threaded_|any_context_)?irq|pci_request_irq"
FLAGS_AT = {
    "devm_request_threaded_irq": 4,
    "request_threaded_irq": 3,
    "devm_request_irq": 3,
    "request_irq": 2,
}
CONSTANT = re.compile(
    r"(?:devm_kasprintf\([^,]*,|kasprintf\()?(?:[A-Z_]+,)?(?:\"[^%,]*\"|[A-Z][A-Z0-9_]*)\)?\Z"
)
"""A name that no number makes different."""
DRIVER = re.compile(r"\w+_driver\Z")
"""A struct that binds to devices."""


def split_arguments(text: str) -> list[str]:
    """The arguments of a call."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append("")
        else:
            found[-1] += letter
    return [word.strip() for word in found]


@check("module-owner")
def module_owner(view: View) -> Found:
    """A module that can be unloaded is the owner of its PMU."""
    if view.pmu.value("module") or never_module(view.program.root):
        return
    text = "\n".join(text for path, text in view.program.texts.items() if path.suffix == ".c")
    if UNLOADABLE.search(text):
        verdict = BREACH if view.is_uncore else SUSPECT
        yield verdict, view.pmu.place, "the module can be unloaded, and .module of its struct pmu is not set"
    elif view.is_uncore and not STARTS.search(text) and "MODULE_LICENSE" not in text:
        message = "the PMU of a part of a driver has no .module, which matters if the driver can be unloaded"
        yield SUSPECT, view.pmu.place, message


@check("parent")
def parent(view: View) -> Found:
    """The PMU of a device names the device as its parent."""
    if view.pmu.value("parent") or not view.is_uncore:
        return
    if any(
        fact.kind == "set"
        and fact.words[0].endswith("dev.parent")
        and fact.file == view.pmu.place.file
        for fact in view.program.facts
    ):
        return
    devices = [
        fact
        for fact in view.program.facts
        if fact.kind == "member" and DRIVER.match(fact.words[0]) and fact.words[2] == "probe"
    ]
    if devices and view.program.knows_parent:
        yield BREACH, view.pmu.place, "the driver has a device, and .parent of its struct pmu is not set"
    elif view.program.knows_parent and (
        _bound_elsewhere(view)
        or re.search(
            r"struct (?:pci_dev|drm_\w+|[a-z]\w*_(?:device|iommu)) \*", view.program.source
        )
    ):
        yield SUSPECT, view.pmu.place, ".parent of the struct pmu is not set"


@check("cpuhp-order")
def cpuhp_order(view: View) -> Found:
    """The instance is in the hotplug state before the PMU is registered."""
    registers = re.compile(r"perf_pmu_register\Z")
    adds = re.compile(r"cpuhp_state_add_instance\w*\Z|cpuhp_setup_state\w*\Z")
    seen: set[Fact] = set()
    for root in view.program.roots():
        first = None
        instance = False
        for step in view.program.walk(root):
            if step.fact.kind != "call":
                continue
            name = step.fact.words[0]
            if name == "cpus_read_lock":
                break  # No CPU goes offline between the two steps.
            if adds.match(name) and "multi" not in name and "cpuslocked" not in name:
                if first is not None and not instance and first not in seen:
                    seen.add(first)
                    verdict = BREACH if view.is_uncore else SUSPECT
                    yield verdict, first, f"the PMU is registered before {name}() (line {step.fact.line})"
                instance = True
            elif registers.match(name) and first is None and not instance:
                first = step.fact
            elif registers.match(name) and step.depth == 0 and step.fact not in seen:
                seen.add(step.fact)
                if leaving := _leaves(view.program.functions[root], step.fact):
                    verdict = BREACH if view.is_uncore else SUSPECT
                    yield verdict, leaving, "the registration fails, and the hotplug state keeps the callbacks"


def _leaves(facts: list[Fact], call: Fact) -> Fact | None:
    """The return of the error of a call by a statement that undoes nothing."""
    if any(f.kind == "call" and f.words[0].startswith("devm_add_action") for f in facts):
        return None  # The device core undoes it.
    test = next((f for f in facts if f.kind == "if" and call.line <= f.line <= call.line + 2), None)
    if test is None:
        return None
    inside = [f for f in facts if test.start <= f.line <= test.end]
    if any(
        f.kind == "goto" or f.kind == "call" and re.search(r"cpuhp|remove|free|exit", f.words[0])
        for f in inside
    ):
        return None
    return next((f for f in inside if f.kind == "return" and f.words[0] != "0"), None)


@check("irq-flags")
def irq_flags(view: View) -> Found:
    """The interrupt stays on its CPU and in hard interrupt context."""
    for call in view.program.calls(REQUEST):
        if call.file != view.program.root and call.file != view.pmu.place.file:
            continue
        arguments = split_arguments(call.words[1])
        place = FLAGS_AT.get(call.words[0])
        if place is None or len(arguments) <= place or not _is_counters(view, arguments):
            continue
        flags = arguments[place]
        name = re.match(r"[a-z_]\w*\Z", flags)
        if name:
            values = [
                f.words[-1]
                for f in view.program.functions[call.function]
                if f.kind == "set" and f.words[0] == flags
            ]
            if not values:
                yield CANNOT_TELL, call, f"the flags are {flags}"
                continue
            flags = "|".join(values)
        missing = [flag for flag in ("IRQF_NOBALANCING", "IRQF_NO_THREAD") if flag not in flags]
        if "IRQF_PERCPU" in flags:
            missing = []
        if missing:
            yield BREACH, call, f"the interrupt has no {' and no '.join(missing)}"


def _is_counters(view: View, arguments: list[str]) -> bool:
    """Whether a handler among the arguments reads the counters of the PMU."""
    names = [word.lstrip("&") for word in arguments if word.lstrip("&") in view.program.functions]
    if view.is_uncore and not view.samples:
        return True
    reached = view.program.reached(*names)
    counting = view.program.reached(
        *(view.pmu.value(n).lstrip("&") for n in ("read", "stop", "start", "del"))
    )
    if reached & counting:
        return True
    return any(
        f.kind == "call"
        and f.words[0] in ("perf_event_overflow", "local64_add", "perf_event_update_userpage")
        for name in reached
        for f in view.program.functions.get(name, ())
    )


@check("migrate-order")
def migrate_order(view: View) -> Found:
    """At offline the events move first, then the interrupt."""
    yield from _never_moved(view)
    for name, facts in view.program.functions.items():
        first = None
        for step in view.program.walk(name):
            if step.fact.kind != "call":
                continue
            if re.match(
                r"irq_(?:force|set)_affinity\w*\Z|irq_update_affinity_hint\Z", step.fact.words[0]
            ):
                first = first or step
            elif step.fact.words[0] == "perf_pmu_migrate_context":
                if first and (first.depth == 0 or step.depth == 0):
                    yield BREACH, first.at, "the interrupt moves to another CPU before the events do"
                break


def _never_moved(view: View) -> Found:
    """A callback of hotplug that chooses another CPU and leaves the events on the one that goes."""
    if not view.is_uncore or view.program.calls("perf_pmu_migrate_context"):
        return
    for call in view.program.calls(r"__cpuhp_setup\w*|cpuhp_setup_state\w*"):
        name = split_arguments(call.words[1])[-1]
        for step in view.program.walk(name):
            if step.fact.kind == "call" and re.match(r"cpumask_any\w*but\Z", step.fact.words[0]):
                message = "another CPU is chosen, and the events stay: perf_pmu_migrate_context() is not called"
                yield BREACH, step.at, message
                return


@check("unbind")
def unbind(view: View) -> Found:
    """A driver that cannot be unbound while events are open."""
    probes = [
        f
        for f in view.program.facts
        if f.kind == "member"
        and DRIVER.match(f.words[0])
        and f.words[2] == "probe"
        and f.file == view.program.root
    ]
    if not probes and not (view.is_uncore and _bound_elsewhere(view)):
        return
    texts = [view.program.source] if probes else _binders(view)
    if all("suppress_bind_attrs" in text for text in texts):
        return
    message = "suppress_bind_attrs is not set: root can unbind the device below open events"
    yield SUSPECT, probes[0] if probes else view.pmu.place, message


def _binders(view: View) -> list[str]:
    """The other files of the folder that bind a driver to devices, if they are of the same module."""
    if STARTS.search(view.program.texts[view.program.root]):
        return []  # The file starts itself.
    return [
        text
        for path, text in view.program.folder.items()
        if re.search(r"struct \w+_driver \w+ = \{[^}]*\.probe\b", text)
    ]


def _bound_elsewhere(view: View) -> bool:
    """Whether the PMU is registered by a part of a driver, whose other parts are bound to devices."""
    registers = view.program.calls("perf_pmu_register")
    own = any(
        f.kind == "member" and DRIVER.match(f.words[0]) and f.words[2] == "probe"
        for f in view.program.facts
    )
    return bool(registers) and not own and bool(_binders(view))


@check("name-index")
def name_index(view: View) -> Found:
    """The name of a PMU of a device is its own."""
    for call in view.program.calls("perf_pmu_register"):
        arguments = split_arguments(call.words[1])
        if len(arguments) < 2:
            continue
        name = arguments[1]
        if re.match(r"\w+\Z", name) and not CONSTANT.match(name):
            values = [
                f.words[-1]
                for f in view.program.functions.get(call.function, ())
                if f.kind == "set" and f.words[0] == name
            ]
            name = values[0] if len(set(values)) == 1 else name
        if re.search(r"pmu(?:\.|->)name\Z", name):
            name = view.pmu.value("name") or name
        constant = CONSTANT.match(name) or _is_of_model(view.program.texts[call.file], name)
        probed = _bound_elsewhere(view) or any(
            f.kind == "member"
            and DRIVER.match(f.words[0])
            and f.words[2] == "probe"
            and call.function in view.program.reached(f.words[-1])
            for f in view.program.facts
        )
        if constant and probed and view.is_uncore:
            yield SUSPECT, call, f"each device would register the name {name}; only the first one can"


def _is_of_model(text: str, name: str) -> bool:
    """Whether a name is that of a table of models, and not of an instance."""
    return bool(
        re.search(r"(?:->|\.)name\Z", name)
        and re.search(r"\.name\s*=\s*\"[^\"]*\"[^}]*\.\w*(?:attrs|cntrs)", text)
        and not re.search(r"asprintf|snprintf\(\w+->name", text)
    )
