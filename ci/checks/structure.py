# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of the tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ci.checks.architectures import only_its_files_name_an_architecture

PURE = ("driver/core", "driver/model")
# core/ writes the model's registers; the model must not depend on the driver.
MAY_INCLUDE = {"driver/core": PURE, "driver/model": ("driver/model",)}
# core/ validates the values that users may write, so it includes the uapi header too.
MAY_READ = {"driver/core": ('"uapi/refpmu.h"',)}
MODEL_COMPONENTS = tuple(
    f"conformance/{n}" for n in ("arch", "text", "system", "perf", "stimulus", "target")
)
SUITE_ROOMS = (*MODEL_COMPONENTS, "conformance/harness")
MAY_USE = {
    **{component: MODEL_COMPONENTS[:place] for place, component in enumerate(MODEL_COMPONENTS)},
    "conformance/harness": MODEL_COMPONENTS,
    "conformance/lies": MODEL_COMPONENTS,
    "conformance/report": SUITE_ROOMS,
    "conformance/bpf": (),
    "conformance/cases": (*SUITE_ROOMS, "oracle"),
    "conformance/selftest": (*SUITE_ROOMS, "conformance/lies", "conformance/report"),
    "conformance": (
        *(*SUITE_ROOMS, "conformance/lies", "conformance/report"),
        *("tools/fuzz", "tools/repro", "tools/specify", "tools/watch"),
    ),
    "oracle": MODEL_COMPONENTS,
    "oracle/program": (*SUITE_ROOMS, "oracle"),
    "oracle/spec": MODEL_COMPONENTS[:4],
    "oracle/tests": (*SUITE_ROOMS, "oracle"),
    "tools": MODEL_COMPONENTS,
    "tools/fuzz": (*SUITE_ROOMS, "oracle", "tools/repro"),
    "tools/profile": MODEL_COMPONENTS[:4],
    "tools/repro": (*SUITE_ROOMS, "oracle"),
    "tools/specify": (
        *(*SUITE_ROOMS, "conformance/report"),
        *("oracle", "oracle/spec", "tools/repro"),
    ),
    "tools/watch": MODEL_COMPONENTS,
}
"""The components whose headers the C++ of a component may include, in addition to its own. They form no cycle."""
FOR_TESTS = ("conformance/selftest",)
"""Folders called `tests` may also include the headers of these components."""
MAY_IMPORT = {
    "pmubase": (),
    "conformance/rules": ("pmubase",),
    "faults": ("pmubase", "conformance/rules"),
    "results": ("pmubase", "conformance/rules", "faults"),
    "review": ("pmubase", "conformance/rules"),
    "vm": ("pmubase", "conformance/rules", "results"),
    "kunit": ("pmubase", "vm"),
    "fuzz": ("pmubase", "vm"),
    "ci": ("pmubase", "conformance/rules", "faults", "results", "review", "vm", "kunit", "fuzz"),
}
"""The packages that the Python of a package may import, or run with -m, in addition to its own. They form no cycle."""
ALSO_IMPORTS = {
    # `make run LAYERS=all` runs KUnit as a program, and reads its results from a file.
    ("vm/layers.py", "kunit"),
}
"""Exceptions: a file, and the package that it may use, too."""
TEST_FOLDERS = {"tests", "testing", "selftest"}
"""The Python of these folders may import all packages."""
SOURCES = {".c", ".h", ".cpp", ".py", ".js", ".sh", ".cmake", ".inc"}
SLEEP = re.compile(r"\b(sleep|usleep|nanosleep|msleep|mdelay|sleep_for|sleep_until)\s*\(")
SLEEP_FOLDERS = (
    *("conformance", "oracle", "tools", "driver", "kunit", "pmubase", "vm", "ci"),
    *("faults", "fuzz", "results", "review"),
)
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"][^>"]+[>"])', re.M)
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
"""A string of C++ that may have lines with the text of a program."""
CLOCK = re.compile(r"\b(steady_clock|system_clock|clock_gettime|gettimeofday|\w*Deadline\w*)\b")
CASE = re.compile(r"^CONFORMANCE_CASE\(\s*\w+,\s*(\w+)(.*?)\) \{(.*?)^\}", re.S | re.M)
HELPER = re.compile(r"^[\w:<>&*, ]+?\b(\w+)\([^;{}]*\)(?: const)? \{\n(.*?)^\}", re.S | re.M)
LINES = 500
"""The most lines of a file that states no reason for more."""
LONG = re.compile(r"\bLonger than 500 lines: \w")
REASON_LINES = 30
"""The reason is in one of the first lines of the file."""
FREE_FOLDERS = {"corpus", "LICENSES"}
FREE_SUFFIXES = {".patch", ".log"}
FREE_NAMES = {"package-lock.json"}
"""Files of any length: corpora, licences, patches, recorded logs, and the list that npm writes."""
PURE_SOURCE = re.compile(r"\b((?:core|model)/\w+)\.[co]\b")

Check = Callable[[Path, list[Path]], list[str]]


def pure_code_is_pure(root: Path, files: list[Path]) -> list[str]:
    """core/ and model/ include only their own headers and the port; core/ also the uapi."""
    found = []
    for file in files:
        folder = str(file.relative_to(root).parent)
        if folder not in PURE or file.suffix not in {".c", ".h"}:
            continue
        own = {
            path.name
            for component in MAY_INCLUDE[folder]
            for path in (root / component).glob("*.h")
        }
        own.add("refpmu_port.h")
        for name in INCLUDE.findall(file.read_text()):
            if name in MAY_READ.get(folder, ()):
                continue
            if name.startswith("<") or Path(name.strip('"')).name not in own:
                found.append(f"{file.relative_to(root)}: includes {name}")
    return found


def component_of(path: Path) -> str:
    """The innermost component of a file, relative to the root; "" if it is in none."""
    return next((str(folder) for folder in path.parents if str(folder) in MAY_USE), "")


def components_use_lower_components(root: Path, files: list[Path]) -> list[str]:
    """C++ includes only headers of its own component and of those that MAY_USE lists for it."""
    known = {file.relative_to(root) for file in files if file.suffix == ".h"}
    found = []
    for file in files:
        relative = file.relative_to(root)
        component = component_of(relative)
        if not component or file.suffix not in {".cpp", ".h"}:
            continue
        may = {component, *MAY_USE[component], *(FOR_TESTS if "tests" in relative.parts else ())}
        for name in INCLUDE.findall(RAW_STRING.sub("", file.read_text())):
            header = Path(name.strip('<>"'))
            places = [place for place in (header, "conformance" / header) if place in known]
            found += [
                f"{relative}: includes {name}: {component} must not use {component_of(place)}"
                for place in places
                if component_of(place) not in may
            ]
    return found


def package_of(path: str) -> str:
    """The package of MAY_IMPORT that a file or module, as a path, is in; "" if it is in none."""
    return next((name for name in MAY_IMPORT if f"{path}/".startswith(f"{name}/")), "")


def modules_in(text: str, known: set[str]) -> Iterator[str]:
    """The modules that a source imports, or names as programs: a word after "-m", or the name of a known module."""
    before: object = None
    # Words that follow each other in a list do so in this order.
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Constant):
            word = node.value
            if isinstance(word, str) and (before == "-m" or ("." in word and word in known)):
                yield word
            before = word


def packages_import_lower_packages(root: Path, files: list[Path]) -> list[str]:
    """Python imports, and runs, only modules of its own package and of those that MAY_IMPORT lists for it."""
    names = [file.relative_to(root) for file in files if file.suffix == ".py"]
    known = {".".join(name.with_suffix("").parts).removesuffix(".__init__") for name in names}
    found = []
    for name in names:
        package = package_of(str(name))
        if not package or TEST_FOLDERS & set(name.parts):
            continue
        used = {
            *map(
                package_of,
                (m.replace(".", "/") for m in modules_in((root / name).read_text(), known)),
            )
        }
        found += [
            f"{name}: uses {other}: {package} must not use it"
            for other in sorted(used - {"", package, *MAY_IMPORT[package]})
            if (str(name), other) not in ALSO_IMPORTS
        ]
    return found


def build_lists_agree(root: Path, files: list[Path]) -> list[str]:
    """Kbuild and CMake compile the same files of core/ and model/, and no file is missing."""
    on_disk = {
        str(file.relative_to(root / "driver").with_suffix(""))
        for file in files
        if file.suffix == ".c" and str(file.relative_to(root).parent) in PURE
    }
    found = []
    for name in ("Kbuild", "CMakeLists.txt"):
        listed = set(PURE_SOURCE.findall((root / "driver" / name).read_text()))
        for odd in sorted(listed ^ on_disk):
            found.append(f"driver/{name}: {odd}.c is {'not there' if odd in listed else 'missing'}")
    return found


def files_have_a_licence(root: Path, files: list[Path]) -> list[str]:
    """Each source begins with its SPDX line."""
    return [
        f"{file.relative_to(root)}: no SPDX line"
        for file in files
        if (file.suffix in SOURCES or file.name in {"Kbuild", "CMakeLists.txt", "Makefile"})
        and "SPDX-License-Identifier:" not in "".join(file.read_text().splitlines()[:3])
    ]


def nothing_sleeps(root: Path, files: list[Path]) -> list[str]:
    """No test synchronises with a sleep."""
    found = []
    for file in files:
        relative = file.relative_to(root)
        if relative.parts[0] not in SLEEP_FOLDERS or file.suffix not in {".c", ".cpp", ".h", ".py"}:
            continue
        if relative.match("ci/tests/*") or relative == Path("ci/checks/structure.py"):
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if SLEEP.search(line):
                found.append(f"{relative}:{number}: {line.strip()}")
    return found


def waiting_cases_say_so(root: Path, files: list[Path]) -> list[str]:
    """A case whose result depends on a clock, in its body or in a helper of its file, has .timing."""
    found = []
    for file in files:
        if not file.relative_to(root).match("conformance/cases/**/*_test.cpp"):
            continue
        text = file.read_text()
        clocked = [name for name, body in HELPER.findall(text) if CLOCK.search(body)]
        calls = re.compile(rf"\b({'|'.join(map(re.escape, clocked))})\s*\(") if clocked else None
        for case, meta, body in CASE.findall(text):
            decides = CLOCK.search(body) or (calls and calls.search(body))
            if decides and ".timing" not in meta:
                found.append(
                    f"{file.relative_to(root)}: {case}: a clock decides, but .timing is missing"
                )
    return found


def files_are_short(root: Path, files: list[Path]) -> list[str]:
    """A file has at most LINES lines, or states near its beginning why it has more."""
    found = []
    for file in files:
        relative = file.relative_to(root)
        if (
            FREE_FOLDERS & set(relative.parts)
            or file.suffix in FREE_SUFFIXES
            or file.name in FREE_NAMES
        ):
            continue
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
        if len(lines) > LINES and not any(LONG.search(line) for line in lines[:REASON_LINES]):
            found.append(
                f"{relative}: {len(lines)} lines; "
                f"at most {LINES} without a line 'Longer than {LINES} lines: reason'"
            )
    return found


CHECKS: tuple[Check, ...] = (
    pure_code_is_pure,
    components_use_lower_components,
    packages_import_lower_packages,
    build_lists_agree,
    files_have_a_licence,
    nothing_sleeps,
    waiting_cases_say_so,
    files_are_short,
    only_its_files_name_an_architecture,
)


def run_all(root: Path, files: Iterable[Path]) -> dict[str, list[str]]:
    """The findings of every check by its name."""
    known = list(files)
    return {check.__name__: check(root, known) for check in CHECKS}
