# SPDX-License-Identifier: Apache-2.0
"""Checks of the parts of a driver that are not its source: Kconfig, MAINTAINERS, the page for users."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from pmubase.errors import UserError

from .facts import read_text
from .program import without_comments
from .view import BREACH, SUSPECT, Finding

OBJECT = r"^\s*(?:obj-\$\(CONFIG_(\w+)\)|([\w-]+)-(?:y|objs))\s*[:+]?=.*\b{}\.o\b"
ENTRY = re.compile(
    r"^(?:menu)?config[ \t]+(\w+)\n(.*?)(?=^(?:menuconfig|config|menu|endmenu|if|endif|source|choice)\b|\Z)",
    re.M | re.S,
)
FORMAT = re.compile(r"^\s*\w*FORMAT\w*ATTR\w*\(\s*(\w+)\s*,\s*(?:\"config|\w)", re.M)
USED = re.compile(r"\b(\w+?)\d*@([^@]*)@")
"""An event in the formula of a metric: its PMU, and its terms."""
FIELDS = {"EventCode": "event", "EventidCode": "eventid", "NodeType": "type"}
"""Keys of the JSON of an event that perf turns into a term."""
CATCH_ALL = 2
"""A pattern of MAINTAINERS with at most this many folders and no file names no driver, such as drivers/perf/."""


def review(tree: Path, files: Sequence[Path]) -> list[Finding]:
    """The findings about the files of drivers in a kernel tree."""
    tree = tree.resolve()
    if not (tree / "MAINTAINERS").is_file():
        raise UserError(f"{tree}: no kernel tree: it has no file MAINTAINERS")
    found = []
    for file in files:
        name = file.resolve()
        if not name.is_relative_to(tree):
            raise UserError(f"{file} is not in the tree {tree}")
        if "perf_pmu_register(" in (text := without_comments(read_text(name))):
            found += [
                *_kconfig(tree, name, text),
                *_maintainers(tree, name),
                *_page(tree, name, text),
                *_events(tree, name, text),
            ]
    return found


def _kconfig(tree: Path, file: Path, text: str) -> Iterator[Finding]:
    """The option of a driver has a help text, a module that can be built, and a build without the machine."""
    for option, path, line, entry in _entries(file):
        if path.is_relative_to(tree):
            for verdict, message in _entry(option, entry, text):
                yield Finding(path, line, "kconfig", verdict, message)


def never_module(file: Path) -> bool:
    """Whether the Kconfig of a driver says that it is no module."""
    return any(re.search(r"^\s+bool\b", entry, re.M) for *_, entry in _entries(file))


def _entries(file: Path) -> Iterator[tuple[str, Path, int, str]]:
    """The entry of a driver in the next Kconfig that has it: the option, the file, the line and the text."""
    option = _option(file)
    if option is None:
        return
    for folder in file.resolve().parents:
        path = folder / "Kconfig"
        if path.is_file():
            content = read_text(path)
            for entry in ENTRY.finditer(content):
                if entry[1] == option:
                    yield option, path, content.count("\n", 0, entry.start()) + 1, entry[2]
                    return


def _entry(option: str, entry: str, text: str) -> Iterator[tuple[str, str]]:
    if re.search(r"^\s+(?:tristate|bool)\s+\"", entry, re.M) and not re.search(
        r"^\s+(?:---)?help", entry, re.M
    ):
        yield BREACH, f"{option} has no help text"
    if re.search(r"^\s+tristate", entry, re.M) and "MODULE_LICENSE(" not in text:
        yield SUSPECT, f"{option} is tristate, and the source states no MODULE_LICENSE"
    if re.search(r"^\s+bool\s", entry, re.M) and re.search(r"^module_exit\(", text, re.M):
        yield SUSPECT, f"{option} is bool, and the source has module_exit()"
    needs = " ".join(re.findall(r"^\s+depends on (.*)$", entry, re.M))
    if (
        re.search(r"\bARCH_\w+|\bARM64\b|\bRISCV\b|\bSOC_\w+", needs)
        and "COMPILE_TEST" not in needs
    ):
        yield SUSPECT, f"{option} is not built by COMPILE_TEST"


def _option(file: Path) -> str | None:
    """The option of Kconfig that builds a source, from the Makefile of its folder."""
    makefile = file.with_name("Makefile")
    if not makefile.is_file():
        return None
    text = read_text(makefile).replace("\\\n", " ")
    stem = file.stem
    for _ in range(2):
        found = re.search(OBJECT.format(re.escape(stem)), text, re.M)
        if found is None:
            return None
        if found[1]:
            return found[1]
        stem = found[2]
    return None


def _maintainers(tree: Path, file: Path) -> Iterator[Finding]:
    """An entry of MAINTAINERS names the driver."""
    name = str(file.relative_to(tree))
    for line in read_text(tree / "MAINTAINERS").splitlines():
        if not line.startswith("F:\t"):
            continue
        pattern = line[3:].strip()
        broad = pattern.endswith("/") and pattern.count("/") <= CATCH_ALL
        if not broad and fnmatchcase(name, pattern + "*" if pattern.endswith("/") else pattern):
            return
    yield Finding(file, 1, "maintainers", SUSPECT, "no entry of MAINTAINERS names the driver")


def _page(tree: Path, file: Path, text: str) -> Iterator[Finding]:
    """A page of Documentation/admin-guide/perf names the driver and its format fields."""
    pages = {
        path: read_text(path) for path in (tree / "Documentation/admin-guide/perf").glob("*.rst")
    }
    if not pages:
        return
    words = [
        word
        for word in re.split(r"[_-]", file.stem)
        if word not in ("pmu", "uncore", "perf", "ddr", "core")
    ]
    about = [
        path
        for path in pages
        if all(word in f"{path.stem} {pages[path]}".lower() for word in words)
    ]
    if not about:
        yield Finding(
            file,
            1,
            "admin-guide",
            SUSPECT,
            "no page of Documentation/admin-guide/perf is about the driver",
        )
        return
    page = max(about, key=lambda path: sum(word in path.stem.lower() for word in words))
    missing = sorted(
        field for field in set(FORMAT.findall(text)) if not re.search(rf"\b{field}\b", pages[page])
    )
    if missing:
        message = f"{page.name} does not name the format fields {', '.join(missing)}"
        yield Finding(file, 1, "admin-guide", SUSPECT, message)


def _events(tree: Path, file: Path, text: str) -> Iterator[Finding]:
    """The events of tools/perf/pmu-events for the PMU use fields and events that it has."""
    for path in sorted((tree / "tools/perf/pmu-events/arch").glob("**/sys/*.json")):
        content = read_text(path)
        try:
            entries = json.loads(content)
        except ValueError as error:
            yield Finding(path, 1, "pmu-events", BREACH, f"no JSON: {error}")
            continue
        for entry in entries:
            unit = entry.get("Unit", "")
            if not unit or f'"{unit}' not in text:
                continue  # It is of another driver.
            needed = {FIELDS[key] for key in FIELDS if key in entry}
            for pmu, terms in USED.findall(entry.get("MetricExpr", "").replace("\\", "")):
                if pmu == unit:
                    needed |= {term.split("=")[0] for term in terms.split(",") if term}
            missing = sorted(name for name in needed if not _has_word(text, name))
            if missing:
                name = entry.get("EventName") or entry.get("MetricName") or ""
                line = content[: content.find(f'"{name}"')].count("\n") + 1
                message = (
                    f"{name} needs {', '.join(missing)}, which the driver {file.name} does not have"
                )
                yield Finding(path, line, "pmu-events", BREACH, message)


def _has_word(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None
