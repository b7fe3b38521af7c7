# SPDX-License-Identifier: Apache-2.0
"""The functions of a module and the PMUs that it registers. Calls are followed, also to other files of the folder."""

from __future__ import annotations

import dataclasses
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from pmubase.errors import UserError

from .facts import Fact, read_facts, read_text

CALLBACKS = (
    *("event_init", "add", "del", "start", "stop", "read", "pmu_enable", "pmu_disable"),
    *("start_txn", "commit_txn", "cancel_txn", "setup_aux", "free_aux"),
)
DEFINITION = r"^(?!static\b)[A-Za-z_][\w \t\*]*\b{}\s*\("
IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
LAST_NAME = re.compile(r"([A-Za-z_]\w*)\Z")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
MEMBER = re.compile(r"\.\s*(\w+)\s*=\s*&?([A-Za-z_]\w*)\s*[,}]")
"""A designator of an initialiser, whose value is a name."""
TABLE = re.compile(
    r"\(\s*\*\s*(?:const\s+)?(\w+)\s*\[[^\]]*\]\s*\)\s*\([^;{]*?\)\s*=\s*\{([^}]*)\}"
)
"""The definition of an array of pointers to functions."""
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
DEPTH = 6
"""The most calls that are followed into each other. The deepest path of a driver of Linux has five."""
FILES = 30
"""The most files of a module that are read."""


@dataclasses.dataclass(frozen=True)
class Step:
    """A fact on the way through a function and the functions that it calls. `at`: the call in the first function."""

    fact: Fact
    at: Fact
    depth: int


@dataclasses.dataclass(frozen=True)
class Pmu:
    """A struct pmu that a module fills in. Its members, by name: the expression and the place."""

    members: dict[str, Fact]
    place: Fact

    def value(self, member: str) -> str:
        """The expression of a member; "" without one."""
        fact = self.members.get(member)
        return fact.words[-1] if fact else ""


def without_comments(text: str) -> str:
    """A source whose comments are blank; its lines stay."""
    return COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)


class Program:
    """A file of a driver, with the files of its folder that its calls need."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.texts: dict[Path, str] = {}
        self.facts: list[Fact] = []
        self.walks: dict[str, list[Step]] = {}
        self.folder: dict[Path, str] = {}
        """The other C files of the folder."""
        self._read(root)
        for header in INCLUDE.findall(self.texts[root]):
            if (path := root.parent / header).is_file():
                self._read(path)
        self._read_callees()

    def _read(self, path: Path) -> None:
        self.texts[path] = without_comments(read_text(path))
        self.facts += read_facts(path)

    def _read_callees(self) -> None:
        """Reads the files of the folder that define functions which the module uses and does not define."""
        for path in sorted(self.root.parent.glob("*.c")):
            if path != self.root:
                try:
                    self.folder[path] = read_text(path)
                except UserError:
                    continue  # A file that cannot be read defines nothing.
        others = dict(self.folder)
        for names in self._rounds():
            if not others or len(self.texts) >= FILES:
                return
            pattern = re.compile(DEFINITION.format(f"(?:{'|'.join(names)})"), re.M)
            found = [path for path, text in others.items() if pattern.search(text)]
            if not found:
                return
            for path in found[: FILES - len(self.texts)]:
                del others[path]
                self._read(path)

    def _rounds(self) -> Iterator[list[str]]:
        """The names to find: first the callbacks, then all that are called, as long as files are found."""
        used = [fact for fact in self.facts if fact.kind == "member" and fact.words[2] in CALLBACKS]
        defined = {fact.function for fact in self.facts}
        first = sorted({fact.words[-1].lstrip("&") for fact in used} - defined)
        if first:
            yield [name for name in first if IDENTIFIER.match(name)]
        while names := self._unknown():
            yield names

    def _unknown(self) -> list[str]:
        """Names of functions that the module uses, and that may be defined in another file of its folder."""
        used = {fact.words[0] for fact in self.facts if fact.kind == "call"}
        used |= {fact.words[-1] for fact in self.facts if fact.kind in ("member", "set")}
        defined = {fact.function for fact in self.facts}
        prefix = self.root.stem.split("_")[0].split("-")[0]
        return sorted(
            name
            for name in used - defined
            if IDENTIFIER.match(name) and (name.startswith(prefix) or "pmu" in name)
        )

    @cached_property
    def functions(self) -> dict[str, list[Fact]]:
        """The facts of each function, by line."""
        found: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            found[fact.function].append(fact)
        # Static functions of two files may have the same name. Those of the reviewed file are the module's.
        return {name: sorted(self._of_one_file(facts)) for name, facts in found.items()}

    def _of_one_file(self, facts: list[Fact]) -> list[Fact]:
        own = [fact for fact in facts if fact.file == self.root]
        return own or [fact for fact in facts if fact.file == facts[0].file]

    @cached_property
    def pointers(self) -> dict[str, set[str]]:
        """The functions that a member of a struct may point to, by the name of the member."""
        found: dict[str, set[str]] = defaultdict(set)
        for name, value in MEMBER.findall(self.source):
            if value in self.functions:
                found[name].add(value)
        for name, values in TABLE.findall(self.source):
            found[name] |= set(re.findall(r"\w+", values)) & set(self.functions)
        for fact in self.facts:
            if fact.kind == "set" and fact.words[-1].lstrip("&") in self.functions:
                if last := LAST_NAME.search(fact.words[0]):
                    found[last[1]].add(fact.words[-1].lstrip("&"))
        # A driver may have callbacks of its own with the names of those of struct pmu. The core calls the latter.
        for pmu in self.pmus:
            for name in CALLBACKS:
                found[name].discard(pmu.value(name).lstrip("&"))
        return found

    def callees(self, call: Fact) -> list[str]:
        """The functions of the module that a call may reach."""
        name = call.words[0]
        if name in self.functions:
            return [name]
        if not IDENTIFIER.match(name) and (member := LAST_NAME.search(name.split("[")[0])):
            return sorted(self.pointers.get(member[1], ()))
        return []

    def walk(self, function: str) -> list[Step]:
        """The facts of a function, by line; after the first call of another one those of that function."""
        if function not in self.walks:
            self.walks[function] = list(self._walk(function, None, 0, {function}))
        return self.walks[function]

    def _walk(self, function: str, at: Fact | None, depth: int, seen: set[str]) -> Iterator[Step]:
        for fact in self.functions.get(function, ()):
            yield Step(fact, at or fact, depth)
            if fact.kind == "call" and depth < DEPTH:
                for callee in self.callees(fact):
                    if callee not in seen:
                        seen.add(callee)
                        yield from self._walk(callee, at or fact, depth + 1, seen)

    def reached(self, *functions: str) -> set[str]:
        """The functions that some functions reach, with themselves."""
        return {step.fact.function for name in functions if name for step in self.walk(name)}

    def callback(self, pmu: Pmu, name: str) -> list[Step]:
        """The walk through a callback of a PMU; empty without one."""
        return self.walk(pmu.value(name).lstrip("&"))

    @cached_property
    def pmus(self) -> list[Pmu]:
        """The PMUs of the module, each with its members from an initialiser and from assignments."""
        groups: dict[tuple[Path, str, str], list[dict[str, Fact]]] = defaultdict(lambda: [{}])
        for fact in self.facts:
            if fact.kind == "member" and (
                fact.words[0] == "pmu" or (fact.words[1] or "").endswith("pmu")
            ):
                groups[fact.file, fact.function, "="][0].setdefault(fact.words[2], fact)
            elif fact.kind == "set" and (found := re.match(r"(.*?)(?:->|\.)(\w+)$", fact.words[0])):
                variants = groups[fact.file, fact.function, found[1]]
                if found[2] == "event_init" and "event_init" in variants[-1]:
                    # The cases of a switch make several PMUs, which share what is before the first one.
                    first = variants[0]["event_init"]
                    variants.append({k: v for k, v in variants[0].items() if v < first})
                if len(variants) > 1 or found[2] not in variants[0]:
                    variants[-1][found[2]] = fact
        found_pmus = []
        loose: dict[str, Fact] = {}
        for (_, _, owner), members in (
            (key, members) for key, variants in groups.items() for members in variants
        ):
            if "event_init" in members:
                found_pmus.append(members)
            elif owner == "=" or re.search(r"pmu\w*$", owner):
                loose |= {
                    name: fact
                    for name, fact in members.items()
                    if name in ("module", "parent", "capabilities", "task_ctx_nr", "attr_groups")
                }
        return [Pmu({**loose, **members}, members["event_init"]) for members in found_pmus]

    @cached_property
    def knows_parent(self) -> bool:
        """Whether the struct pmu of the tree has a parent. Trees before 6.7 have none; other folders may be no tree."""
        for folder in self.root.resolve().parents:
            header = folder / "include/linux/perf_event.h"
            if header.is_file():
                return re.search(r"struct device\s*\*parent;", read_text(header)) is not None
        return True

    @cached_property
    def source(self) -> str:
        """The texts of all files, without comments."""
        return "\n".join(self.texts.values())

    def calls(self, pattern: str) -> list[Fact]:
        """The calls whose function matches a pattern as a whole."""
        name = re.compile(rf"(?:{pattern})\Z")
        return [fact for fact in self.facts if fact.kind == "call" and name.match(fact.words[0])]

    def roots(self) -> list[str]:
        """The functions that no other function of the module calls."""
        called = {
            callee
            for fact in self.facts
            if fact.kind == "call"
            for callee in self.callees(fact)
            if callee != fact.function
        }
        return [name for name in self.functions if name not in called]
