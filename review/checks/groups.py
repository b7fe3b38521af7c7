# SPDX-License-Identifier: Apache-2.0
"""Checks of the validation of groups."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Fact
from ..program import Step
from ..view import BREACH, SUSPECT, View, check

Found = Iterator[tuple[str, Fact, str]]
OWN_PMU = re.compile(
    r"\bpmu[!=]=|->pmu[!=]=|is_software_event|is_\w+event\(|task_ctx_nr|->type[!=]="
)
LEADER = re.compile(r"\bleader\b|group_leader\b")
NEUTRAL = re.compile(
    r"is_software_event|for_each|to_|container_of|dev_|pr_|memset|WARN|READ_ONCE|likely|unlikely|"
    r"bitmap_zero|list_|sizeof"
)


class Group:
    """The validation of groups in event_init."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.loops = [
            s for s in view.init if s.fact.kind == "loop" and "sibling" in s.fact.words[0]
        ]
        """The loops over siblings."""

    def inside(self, loop: Step) -> list[Fact]:
        """The facts of the body of a loop."""
        fact = loop.fact
        return [
            other
            for other in self.view.program.functions[fact.function]
            if fact.line < other.line <= fact.end
        ]

    def counting(self, loop: Step) -> list[Fact]:
        """The facts of a loop that count a sibling: a counter that grows, or a function that gets the sibling."""
        name = loop.fact.words[1].split(",")[0]
        found = []
        for fact in self.inside(loop):
            if (
                fact.kind == "set"
                and fact.words[1].strip() in ("+=",)
                or (fact.kind == "set" and "++" in fact.words[0])
            ):
                found.append(fact)
            elif (
                fact.kind == "set"
                and re.search(r"\[.*\]$", fact.words[0])
                and fact.words[-1] == name
            ):
                found.append(fact)
            elif (
                fact.kind == "call"
                and re.search(rf"\b{name}\b", fact.words[1])
                and not NEUTRAL.match(fact.words[0])
                and self.view.program.callees(fact)
                and any(self._counts(callee) for callee in self.view.program.callees(fact))
            ):
                found.append(fact)
        return found

    def _counts(self, callee: str) -> bool:
        """Whether a function counts: it returns a number that is no error, or changes an argument."""
        for step in self.view.program.walk(callee):
            fact = step.fact
            if fact.kind == "set" and fact.words[1].strip() in ("+=", "|="):
                return True
            if fact.kind == "call" and re.match(
                r"(?:__)?(?:set_bit|test_and_set_bit)|bitmap_|find_\w*zero", fact.words[0]
            ):
                return True
            if fact.kind == "set" and re.search(r"\[|\*|->", fact.words[0]):
                return True
            if fact.kind == "return" and re.search(r"num|hweight|\?\d", fact.words[0]):
                return True
        return False

    def filters(self, facts: list[Fact]) -> bool:
        """Whether facts, or the functions that they call, compare the PMU of an event."""
        for fact in facts:
            if _compares(fact):
                return True
            if fact.kind == "call":
                for callee in self.view.program.callees(fact):
                    if any(_compares(step.fact) for step in self.view.program.walk(callee)):
                        return True
        return False


def _compares(fact: Fact) -> bool:
    """Whether a condition separates events of this PMU. One that lets software events pass does not."""
    if fact.kind not in ("if", "return") or not OWN_PMU.search(fact.words[0]):
        return False
    return not ("&&" in fact.words[0] and "!is_software_event" in fact.words[0])


@check("group-software")
def group_software(view: View) -> Found:
    """A software event of a group needs no counter."""
    group = Group(view)
    yield from _interpreted_leader(view, group)
    if not view.is_uncore:
        return
    for loop in group.loops:
        counted = group.counting(loop)
        if not counted:
            continue
        body = group.inside(loop)
        for fact in counted:
            if fact.kind == "call" and group.filters([fact]):
                continue
            if _skips_software(view, body, fact):
                continue
            yield BREACH, fact, "software siblings are counted against the counters of the PMU"
            break
    for fact, why in _software_leader(view, group):
        yield BREACH, fact, why
    for loop in group.loops:
        yield from _unchecked_leader(view.program.functions[loop.fact.function], loop.fact)


def _interpreted_leader(view: View, group: Group) -> Found:
    """A leader whose fields are read as those of an event of this PMU, although it may be a software event."""
    for name in sorted(view.program.reached(view.pmu.value("event_init").lstrip("&"))):
        facts = view.program.functions.get(name, [])
        leaders = {
            fact.words[0]
            for fact in facts
            if fact.kind == "set" and fact.words[-1].endswith("->group_leader")
        }
        leader = "|".join(map(re.escape, sorted({"event->group_leader", *leaders})))
        for fact in facts:
            if fact.kind != "call" or NEUTRAL.match(fact.words[0]):
                continue
            direct = re.search(rf"(?:^|,)(?:{leader})->(?:attr\.config|hw\b)", fact.words[1])
            passed = re.search(rf"(?:^|,)&?(?:{leader})(?:->hw)?(?:,|$)", fact.words[1])
            if not direct and not (passed and _reads_event(view, fact)):
                continue
            if group.filters([fact]) or _within_software_test(facts, fact):
                continue
            yield BREACH, fact, "the leader is read as an event of this PMU, but may be a software event"
            break


def _reads_event(view: View, call: Fact) -> bool:
    """Whether a function of the module reads the config of an event that it gets, or takes a counter for it."""
    return any(
        step.fact.kind == "attr"
        and step.fact.words[0].startswith("config")
        or re.search(r"\bhwc?\.|->hw\b|->event_base\b", "".join(step.fact.words))
        or step.fact.kind == "call"
        and re.match(r"get_\w+\Z", step.fact.words[0])
        and "event" in step.fact.words[1]
        for callee in view.program.callees(call)
        for step in view.program.walk(callee)
    )


def _skips_software(view: View, body: list[Fact], counted: Fact) -> bool:
    """Whether a sibling that is no event of this PMU does not reach the statement that counts."""
    for fact in body:
        if fact.kind == "if" and fact.line <= counted.line and OWN_PMU.search(fact.words[0]):
            if fact.start <= counted.line <= fact.end:
                return True
            returns = [
                other.words[0]
                for other in view.program.functions[fact.function]
                if other.kind == "return" and fact.start <= other.line <= fact.end
            ]
            software_too = (
                "is_software_event" in fact.words[0]
                and "&&" in fact.words[0]
                and "!is_software" in fact.words[0]
            )
            if not returns:
                return True
            if (
                returns
                and not software_too
                and "pmu" in fact.words[0]
                and "is_software_event" not in fact.words[0]
            ):
                return True
    return False


def _software_leader(view: View, group: Group) -> Iterator[tuple[Fact, str]]:
    """A leader that is counted although it may be a software event."""
    for loop in group.loops[:1] if group.loops else []:
        if not any(
            group.counting(other)
            for other in group.loops
            if other.fact.function == loop.fact.function
        ):
            continue
        function = loop.fact.function
        facts = view.program.functions[function]
        for fact in facts:
            if fact >= loop.fact:
                return
            if fact.kind != "call" or NEUTRAL.match(fact.words[0]):
                continue
            if not re.search(r"(?:^|,)(?:leader|event->group_leader)(?:,|$)", fact.words[1]):
                continue
            if not view.program.callees(fact) or not any(
                group._counts(c) for c in view.program.callees(fact)
            ):
                if not _assigned_number(facts, fact):
                    continue
            if group.filters([fact]) or _within_software_test(facts, fact):
                continue
            yield fact, "a software leader is counted against the counters of the PMU"
            return


def _assigned_number(facts: list[Fact], call: Fact) -> bool:
    return any(
        f.kind == "set" and f.line == call.line and f.words[1].strip() == "+=" for f in facts
    )


def _within_software_test(facts: list[Fact], place: Fact) -> bool:
    for fact in facts:
        if fact.kind != "if" or not OWN_PMU.search(fact.words[0]) or fact.line > place.line:
            continue
        if not re.search(r"leader|is_software_event", fact.words[0]):
            continue  # It tests the new event.
        if fact.line <= place.line <= fact.end:
            return True
        accepts_software = re.search(r"!is_software_event", fact.words[0]) and "&&" in fact.words[0]
        returns = [f for f in facts if f.kind == "return" and fact.start <= f.line <= fact.end]
        if returns and not accepts_software:
            return True
    for fact in facts:
        if (
            fact.kind == "else"
            and fact.start <= place.line <= fact.end
            and OWN_PMU.search(fact.words[0])
        ):
            return True
    return False


@check("group-leader")
def group_leader(view: View) -> Found:
    """The validation counts the leader once, each sibling, and the new event."""
    if not view.is_uncore:
        return
    group = Group(view)
    done = set()
    for loop in group.loops:
        function = loop.fact.function
        if function in done or not any(
            group.counting(other) for other in group.loops if other.fact.function == function
        ):
            continue
        done.add(function)
        facts = view.program.functions[function]
        leaders = _leader_counted(view, group, facts, loop.fact)
        starts_at_one = [
            f
            for f in facts
            if f.kind == "set"
            and f.line < loop.fact.line
            and f.words[1].strip() == "="
            and f.words[-1] == "1"
            and re.search(r"num|count|used", f.words[0])
        ]
        events = _event_counted(view, group, facts)
        events += any(
            f.kind in ("return", "if") and re.search(r"\+1\)?[<>]", f.words[0]) for f in facts
        )
        leader_exit = _returns_for_leader(view, facts, leaders[0] if leaders else loop.fact)
        if not leaders and len(starts_at_one) == 1 and events == 0:
            yield BREACH, starts_at_one[0], "the leader or the new event is not counted"
            continue
        total = len(starts_at_one) + events
        if leaders and total and not leader_exit:
            fact = leaders[0]
            if not _only_other_leader(view, facts, fact):
                # A number that is large enough hides the mistake.
                fixed = any(
                    f.kind == "return" and re.search(r"<=?[A-Z]\w+$", f.words[0]) for f in facts
                )
                yield SUSPECT if fixed else BREACH, fact, "the leader is counted twice if the new event is the leader"
        elif not leaders and total:
            yield BREACH, loop.fact, "the leader is not counted: it is no sibling of its group"
        elif not leaders and not _mentions_leader(facts, loop.fact):
            yield BREACH, loop.fact, "neither the leader nor the new event is counted"
        elif leaders and not total and not _uses_event(view, facts, leaders[0]):
            yield BREACH, loop.fact, "the new event is not counted: it is not yet on the list of siblings"


def _mentions_leader(facts: list[Fact], loop: Fact) -> bool:
    """Whether a statement besides the loop takes the leader, or the new event, to count it."""
    return any(
        fact.kind in ("call", "set", "if")
        and not loop.line <= fact.line <= loop.end
        and not (fact.kind == "call" and NEUTRAL.match(fact.words[0]))
        and re.search(r"(?<!\w)(?:leader|event)(?![\w-])", "".join(fact.words))
        and not (fact.kind == "set" and LEADER.search(fact.words[-1]))
        and not (fact.kind == "call" and re.search("_to_|container", fact.words[0]))
        and not (fact.kind == "set" and re.search(r"to_\w+\(", fact.words[-1]))
        for fact in facts
    )


def _unchecked_leader(facts: list[Fact], loop: Fact) -> Found:
    for fact in facts:
        if (
            fact.kind == "set"
            and fact < loop
            and fact.words[0].endswith("[0]")
            and LEADER.search(fact.words[-1])
        ):
            if not _within_software_test(facts, fact):
                yield BREACH, fact, f"{fact.words[0]} is the leader, which may be an event of another PMU"
                return


def _leader_counted(view: View, group: Group, facts: list[Fact], loop: Fact) -> list[Fact]:
    """The statements outside the loop that count the leader."""
    found = []
    for fact in facts:
        if loop.line <= fact.line <= loop.end:
            continue
        if fact.kind == "call" and re.search(
            r"(?:^|,)&?(?:leader|event->group_leader)(?:,|$)", fact.words[1]
        ):
            if not NEUTRAL.match(fact.words[0]) and any(
                group._counts(c) for c in view.program.callees(fact)
            ):
                found.append(fact)
        elif fact.kind == "set" and fact.words[1].strip() == "+=" and fact.words[-1] == "1":
            for test in facts:
                if (
                    test.kind in ("if", "else")
                    and test.start <= fact.line <= test.end
                    and LEADER.search(test.words[0])
                ):
                    found.append(fact)
                    break
    return found


def _event_counted(view: View, group: Group, facts: list[Fact]) -> int:
    return sum(
        fact.kind == "call"
        and bool(re.search(r"(?:^|,)event(?:,|$)", fact.words[1]))
        and not re.search(r"sibling|leader", fact.words[1])
        and not NEUTRAL.match(fact.words[0])
        and any(group._counts(c) for c in view.program.callees(fact))
        for fact in facts
    )


def _uses_event(view: View, facts: list[Fact], leader: Fact) -> bool:
    """Whether the function reads the new event for more than its leader, after it counts the leader."""
    return any(
        re.search(r"\bevent\b(?!->(?:group_leader|pmu)\b)", word)
        and not re.search(r"sibling|leader", word)
        for fact in facts
        if fact.line > leader.line
        for word in fact.words
    )


def _returns_for_leader(view: View, facts: list[Fact], counted: Fact) -> bool:
    """Whether the function returns early, or is not called, for an event that leads its own group."""
    pattern = re.compile(
        r"group_leader[!=]=event\b(?!->)|\bevent[!=]=(?:event->group_leader|leader)|leader[!=]=event\b(?!->)"
    )
    tests = [
        f for f in facts if f.kind == "if" and f.line < counted.line and pattern.search(f.words[0])
    ]
    for test in tests:
        if any(f.kind == "return" and test.start <= f.line <= test.end for f in facts):
            return True
    function = facts[0].function
    for caller in view.program.functions.values():
        for test in caller:
            if test.kind == "if" and pattern.search(test.words[0]):
                if any(
                    f.kind == "call" and f.words[0] == function and test.line <= f.line <= test.end
                    for f in caller
                ):
                    return True
                if any(
                    f.kind == "call" and f.words[0] == function and f.line > test.line
                    for f in caller
                ) and any(f.kind == "return" and test.start <= f.line <= test.end for f in caller):
                    return True
    return False


def _only_other_leader(view: View, facts: list[Fact], counted: Fact) -> bool:
    """Whether the statement that counts the leader runs only if the leader is another event."""
    pattern = re.compile(r"leader!=event\b(?!->)|\bevent!=(?:event->group_leader|leader)")
    return any(
        f.kind == "if"
        and f.start <= counted.line <= f.end
        and pattern.search(f.words[0])
        or f.kind == "if"
        and f.line == counted.line
        and pattern.search(f.words[0])
        for f in facts
    )


@check("group-capacity")
def group_capacity(view: View) -> Found:
    """A group that never fits is refused at open."""
    if not view.init:
        return
    group = Group(view)
    if any(group.counting(loop) for loop in group.loops):
        return
    if view.decides(
        view.init,
        r"^\(*(?:event->)?group_leader!=event\b(?!->|.*&&)|^\(*event!=event->group_leader(?!.*&&)"
        r"|!is_software_event\(sibling\)$",
    ):
        if not any(
            "pmu" in s.fact.words[0]
            for s in view.init
            if s.fact.kind == "if" and "sibling" in s.fact.words[0]
        ):
            return
    scarce = [step.fact for step in view.add if finds_counter(view, step)]
    alone = "EXCLUSIVE" in view.capabilities or "ITRACE" in view.capabilities
    if scarce and not (group.loops and not view.is_uncore) and not alone:
        yield BREACH if view.is_uncore else SUSPECT, (
            group.loops[0].fact if group.loops else view.init_start
        ), (
            "event_init does not check that the group fits, and add fails without a free counter "
            f"({scarce[0].file.name}:{scarce[0].line})"
        )


def finds_counter(view: View, step: Step) -> bool:
    """Whether a step of add fails if all counters are in use."""
    fact = step.fact
    if fact.kind == "return":
        return bool(re.match(r"-(?:EAGAIN|ENOSPC|EBUSY)\Z", fact.words[0]))
    if fact.kind == "call" and re.match(
        r"find_\w*zero\w*\Z|(?:__)?test_and_set_bit\Z|ffz\Z", fact.words[0]
    ):
        return True
    if fact.kind == "set" and re.match(r"-(?:ENOSPC|EBUSY)\Z", fact.words[-1]):
        return True
    if fact.kind != "set" or step.depth:
        return False
    if fact.words[-1] == "event" and fact.words[0].endswith("]"):
        if re.search(r"\[(?:hwc?->|event->hw\.)idx\]$", fact.words[0]):
            # The counter was chosen by event_init, so another event of the group may have it.
            return not any(
                s.fact.kind == "set" and re.search(r"(?:->|\.)idx$", s.fact.words[0])
                for s in view.add
                if s.depth < 2
            )
        return _indexed_by_event(view, fact)
    if not re.search(
        r"(?:alloc|get)_?\w*(?:idx|index|counter)\w*\(", fact.words[-1]
    ) and not _named_counter(fact):
        return False
    name = re.escape(fact.words[0])
    return any(
        f.kind == "if" and f.line > fact.line and re.search(rf"(?<![\w>.]){name}<0", f.words[0])
        for f in view.program.functions[fact.function]
    )


def _indexed_by_event(view: View, fact: Fact) -> bool:
    """Whether the index of a table is a member of the event, such as its config, or a copy of one."""
    index = fact.words[0].rpartition("[")[2][:-1]
    values = [
        f.words[-1]
        for f in view.program.functions[fact.function]
        if f.kind == "set" and f.words[0] == index
    ]
    pattern = r"(?:hwc?->|event->hw\.|event->attr\.)\w+"
    return all(re.fullmatch(pattern, value) for value in values or [index])


def _named_counter(fact: Fact) -> bool:
    """Whether a variable that is named a counter gets the result of a call."""
    return bool(re.match(r"\w*(?:cntr|counter)\Z", fact.words[0]) and "(" in fact.words[-1])
