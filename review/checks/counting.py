# SPDX-License-Identifier: Apache-2.0
"""Checks of add, read and stop: counts that are exact, and effects that are undone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Fact
from ..view import BREACH, SUSPECT, View, check

Found = Iterator[tuple[str, Fact, str]]
READ32 = re.compile(r"\w*readl(?:_relaxed)?\Z|ioread32\Z|\w*(?:read_csr|csr_read)\w*\Z")
"""A read of at most 32 bits. One of a CSR has them on 32 bit."""
STORED32 = re.compile(
    r"(?:regmap|pci_read_config_dword|pci_bus_read_config_dword|amd_smn)(?:_read)?\Z"
)
"""A read of 32 bits that is stored through its last argument."""
SPLIT = re.compile(r"(?:hi_lo|lo_hi)_readq(?:_relaxed)?\Z|ioread64_(?:hi_lo|lo_hi)\Z")
UNDO = re.compile(
    r"free|clear|put|release|undo|remove|unset|del\b|del_|cancel|unlock_counter", re.I
)
ASYNCHRONOUS = r"(?:devm_)?request_\w*irq|pci_request_irq|hrtimer_(?:init|setup)|timer_setup|irq_register|register_external_irq"
ERROR = re.compile(r"-E[A-Z]+\Z|(?:ret|rc|err|error|status)\Z")


@check("torn-read")
def torn_read(view: View) -> Found:
    """A counter of 64 bits that is read in two halves is read until the upper half is stable."""
    callbacks = [view.pmu.value(name).lstrip("&") for name in ("read", "stop")]
    for name in sorted(view.program.reached(*callbacks)):
        facts = view.program.functions.get(name, [])
        if not facts or _has_do(view, facts):
            continue
        split = [f for f in _once(facts, facts) if f.kind == "call" and SPLIT.match(f.words[0])]
        if split:
            yield SUSPECT, split[0], f"{split[0].words[0]}() reads a running counter in two halves"
            continue
        halves = _once(facts, _halves(facts))
        if len(halves) > 1:
            message = "a running counter is read in two halves, and the upper one is not read again"
            yield SUSPECT if _of_others(view, name) else BREACH, halves[0], message


def _of_others(view: View, name: str) -> bool:
    """Whether a function of another file is one of several behind a pointer, so it may be of other PMUs."""
    return view.program.functions[name][0].file != view.program.root and any(
        name in functions and len(functions) > 1 for functions in view.program.pointers.values()
    )


def _once(facts: list[Fact], some: list[Fact]) -> list[Fact]:
    """Those of some facts that are in no loop, which may read again, and below none, which may wait for a snapshot."""
    loops = [f for f in facts if f.kind == "loop"]
    return [f for f in some if not any(loop.line <= f.line for loop in loops)]


def _halves(facts: list[Fact]) -> list[Fact]:
    """The reads of 32 bits whose values a function joins to 64 bits."""
    joined = " ".join(
        "".join(f.words)
        for f in facts
        if f.kind in ("set", "return") and re.search(r"<<=?\(?32", "".join(f.words))
    )
    names = set(re.findall(r"\w+", joined))
    reads = [f for f in facts if f.kind == "call" and READ32.match(f.words[0])]
    kept = {
        f.line
        for f in facts
        if f.kind == "set"
        and (f.words[0] in names or f.words[1].strip() == "|=")
        and any(READ32.match(name) for name in re.findall(r"\w+", f.words[-1]))
    }
    found = [f for f in reads if f.line in kept or f.words[0] in names]
    return found + _stored_halves(facts, names)


def _stored_halves(facts: list[Fact], names: set[str]) -> list[Fact]:
    """The reads that store 32 bits in a variable, whose value becomes a part of a variable of `names`."""
    reads = [f for f in facts if f.kind == "call" and STORED32.match(f.words[0])]
    places = [re.search(r"\(u32\*\)&(\w+)(\+1)?\Z", read.words[1]) for read in reads]
    parts = {(place[1], place[2]) for place in places if place}
    # The halves of one variable, each at its place.
    found = [
        read
        for read, place in zip(reads, places)
        if place and {(place[1], None), (place[1], "+1")} <= parts
    ]
    for read in reads:
        variable = read.words[1].rsplit(",", 1)[-1].lstrip("&")
        again = [f for f in reads if f.line > read.line and f.words[1].endswith(f"&{variable}")]
        end = again[0].line if again else facts[-1].line + 1
        if variable in names or any(
            f.kind == "set"
            and read.line <= f.line < end
            and f.words[0].lstrip("*") in names
            and re.search(rf"\b{re.escape(variable)}\b", f.words[-1])
            for f in facts
        ):
            found.append(read)
    return found


def _has_do(view: View, facts: list[Fact]) -> bool:
    """Whether a function has a loop with its condition at the end. Coccinelle has no position of such a loop."""
    lines = view.program.texts[facts[0].file].splitlines()
    return any(
        re.search(r"\bdo\s*\{|\bdo$", line)
        for line in lines[max(facts[0].line - 4, 0) : facts[-1].line]
    )


@check("prev-count")
def prev_count(view: View) -> Found:
    """prev_count advances by an atomic exchange."""
    names = [view.pmu.value(name).lstrip("&") for name in ("read", "stop", "del")]
    for name in sorted(view.program.reached(*names)):
        facts = view.program.functions.get(name, [])
        calls = [f for f in facts if f.kind == "call"]
        adds = [
            f
            for f in calls
            if f.words[0] in ("local64_add", "local64_sub") and re.search(r"->count\b", f.words[1])
        ]
        replaced = [
            f
            for f in calls
            if f.words[0] == "local64_set" and f.words[1].startswith("&event->count,")
        ]
        if replaced and not any("xchg" in f.words[0] for f in facts):
            yield SUSPECT, replaced[0], "the count is set, and not advanced from prev_count"
            continue
        if adds and (whole := _added_whole(facts, adds)):
            yield BREACH, whole, "the value of the counter is added, and not its difference to prev_count"
            continue
        if not adds or any("xchg" in f.words[0] or "xchg" in "".join(f.words) for f in facts):
            continue
        # A value that is no part of the sum begins a new period.
        sums = " ".join(f.words[-1] for f in facts if f in adds or f.kind == "set")
        sets = [
            f
            for f in calls
            if f.words[0] == "local64_set"
            and "prev_count" in f.words[1]
            and re.search(rf"\b{re.escape(f.words[1].split(',')[-1])}\b", sums)
        ]
        sets += [
            step.at
            for step in view.program.walk(name)
            if step.depth == 1
            and step.fact.words[0] == "local64_set"
            and "prev_count" in step.fact.words[1]
            and step.at.line < adds[0].line
        ]
        reads = [f for f in calls if f.words[0] == "local64_read" and "prev_count" in f.words[1]]
        if _locked(view, name):
            continue
        if reads and not _moves(view, names):
            yield BREACH, adds[0], "prev_count is never moved, so each read adds the same events"
        elif reads and sets and not view.program.calls(ASYNCHRONOUS):
            yield SUSPECT, sets[0], "prev_count is read and written in two steps"
        elif reads and sets:
            yield BREACH, sets[
                0
            ], "prev_count is read and written in two steps, so a read in between counts twice"
        elif not reads:
            yield SUSPECT, adds[
                0
            ], "the count is added without prev_count, so a read in between counts twice"


def _added_whole(facts: list[Fact], adds: list[Fact]) -> Fact | None:
    """The statement that adds to the count what the exchange made the new prev_count."""
    for fact in facts:
        found = re.search(r"local64_(?:cmp)?xchg\(([^()]*)\)", "".join(fact.words))
        words = found[1] if found else fact.words[1] if _exchanges(fact) else ""
        if "prev_count" not in words:
            continue
        new = words.rsplit(",", 1)[-1]
        for add in adds:
            changed = any(
                f.kind == "set" and f.words[0] == new and f.line > fact.line for f in facts
            )
            if (
                re.fullmatch(r"[a-z]\w*", new)
                and add.words[1].startswith(f"{new},")
                and not changed
            ):
                return add
    return None


def _exchanges(fact: Fact) -> bool:
    return fact.kind == "call" and re.fullmatch(r"local64_(?:cmp)?xchg", fact.words[0]) is not None


def _moves(view: View, callbacks: list[str]) -> bool:
    """Whether anything that the callbacks reach writes prev_count."""
    return any(
        "prev_count" in word
        for name in view.program.reached(*callbacks)
        for fact in view.program.functions.get(name, ())
        if (fact.kind == "call" and re.search(r"xchg|local64_set", fact.words[0]))
        or (fact.kind in ("set", "if", "loop") and "xchg" in "".join(fact.words))
        for word in fact.words
    )


def _locked(view: View, name: str) -> bool:
    """Whether read takes a lock before it calls a function, or in it."""
    for step in view.program.callback(view.pmu, "read"):
        if step.fact.kind == "call" and re.search(
            r"spin_lock|^guard$|scoped_guard", step.fact.words[0]
        ):
            return True
        if (
            step.fact.function == name
            and step.fact.kind == "call"
            and step.fact.words[0] == "local64_add"
        ):
            return False
    return False


@check("add-undo")
def add_undo(view: View) -> Found:
    """An add that fails leaves nothing."""
    name = view.pmu.value("add").lstrip("&")
    facts = view.program.functions.get(name, [])
    begun = [f for f in facts if f.kind == "call" and f.words[0] == "perf_aux_output_begin"]
    if begun and not any(step.fact.words[0] == "perf_aux_output_end" for step in view.add):
        if any(f.kind in ("goto", "return") and f.line > begun[0].line for f in facts):
            yield SUSPECT, begun[0], "an error after this call leaves the AUX buffer in use"
    jumps = {fact.words[0] for fact in facts if fact.kind == "goto"}
    for label in jumps:
        yield from _effects_below(view, facts, label)
    if jumps:
        return  # The label undoes the effects.
    for leaving in facts:
        if leaving.kind != "return" or not ERROR.search(leaving.words[0]):
            continue
        test = _innermost(facts, leaving)
        if test is None:
            continue
        if _undone(facts, test, leaving):
            continue
        left = [
            effect
            for effect in facts
            if effect.line < test.line
            and _is_effect(view, effect)
            and not _excluded(facts, effect, leaving)
            and not _failed(facts, effect, test)
        ]
        # A register that is written before the counter is found may hold a value that nobody reads.
        kept = [effect for effect in left if effect.kind == "set"]
        if left:
            effect = (kept or left)[0]
            yield BREACH if kept else SUSPECT, leaving, (
                f"this error leaves the effect of line {effect.line} ({_short(effect)})"
            )


def _effects_below(view: View, facts: list[Fact], label: str) -> Found:
    """Users that are counted below a label that an add which fails jumps to."""
    lines = view.program.texts[facts[0].file].splitlines()[: facts[-1].line]
    below = [n for n, line in enumerate(lines, 1) if re.match(rf"\s*{label}\s*:", line)]
    for fact in facts:
        if fact.kind != "call" or not below or fact.line < below[-1] or below[-1] < facts[0].line:
            continue
        for callee in view.program.callees(fact):
            if "enable" in callee and any(
                s.fact.kind == "set" and s.fact.words[1] == "+=" for s in view.program.walk(callee)
            ):
                yield SUSPECT, fact, f"{callee}() counts a user, also if add fails"


def _undone(facts: list[Fact], test: Fact, leaving: Fact) -> bool:
    """Whether the statements before the error undo something."""
    return any(
        f.kind == "call"
        and UNDO.search(f.words[0])
        or f.kind == "set"
        and (f.words[-1] in ("NULL", "0") or f.words[1].strip() == "-=")
        for f in facts
        if test.start <= f.line <= leaving.line and f.line > test.line
    )


def _short(effect: Fact) -> str:
    return effect.words[0] + ("()" if effect.kind == "call" else " " + effect.words[1].strip())


def _innermost(facts: list[Fact], place: Fact) -> Fact | None:
    tests = [
        f
        for f in facts
        if f.kind in ("if", "else") and f.line <= place.line and f.start <= place.line <= f.end
    ]
    return max(tests, key=lambda found: (found.start, -found.end)) if tests else None


def _is_effect(view: View, fact: Fact) -> bool:
    """Whether a statement changes the state of the PMU."""
    if fact.kind == "set":
        if (
            re.search(r"\[[^\]]*\]$", fact.words[0])
            and "->" in fact.words[0]
            and fact.words[-1] == "event"
        ):
            return True
        if (
            re.fullmatch(r"(?!event\b|hwc?\b)\w+->[\w.]+", fact.words[0])
            and fact.words[-1] == "event"
        ):
            return True
        return fact.words[1].strip() == "+=" and "->" in fact.words[0]
    if fact.kind == "call":
        name = fact.words[0]
        if re.match(
            r"(?:__)?(?:test_and_)?set_bit\Z|(?:__raw_)?write[lq](?:_relaxed)?\Z|hrtimer_start\w*\Z|mtspr\Z",
            name,
        ):
            return True
        if re.search(r"\bget_|alloc|assign|reserve", name):
            return any(
                s.fact.kind == "call"
                and re.match(r"(?:__)?(?:test_and_)?set_bit\Z", s.fact.words[0])
                or s.fact.kind == "set"
                and re.search(r"\]$", s.fact.words[0])
                and s.fact.words[-1] == "event"
                for callee in view.program.callees(fact)
                for s in view.program.walk(callee)
            )
        return any(
            s.fact.kind == "call"
            and re.match(r"(?:__raw_)?write[lq](?:_relaxed)?\Z", s.fact.words[0])
            for callee in view.program.callees(fact)
            for s in view.program.walk(callee)
        ) and not re.search(r"disable|stop", name)
    return False


def _failed(facts: list[Fact], effect: Fact, test: Fact) -> bool:
    """Whether the test finds that the effect itself did not happen."""
    if effect.line == test.line:
        return True
    for fact in facts:
        if (
            fact.kind == "set"
            and fact.line == effect.line
            and fact.words[-1].startswith(effect.words[0])
        ):
            name = fact.words[0]
            later = [
                f
                for f in facts
                if f.kind == "set" and f.words[0] == name and effect.line < f.line < test.line
            ]
            return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", test.words[0])) and not later
    return False


def _excluded(facts: list[Fact], effect: Fact, leaving: Fact) -> bool:
    """Whether the effect is in a branch that the error does not follow: it returns, or is the other one."""
    for fact in facts:
        if fact.kind in ("if", "else") and fact.start <= effect.line <= fact.end < leaving.line:
            if any(
                f.kind in ("return", "goto") and effect.line <= f.line <= fact.end for f in facts
            ):
                return True
        if fact.kind == "else" and fact.start <= leaving.line <= fact.end:
            owner = next(
                (
                    f
                    for f in facts
                    if f.kind == "if" and f.words[0] == fact.words[0] and f.line < fact.start
                ),
                None,
            )
            if owner and owner.start <= effect.line <= owner.end:
                return True
    return False
