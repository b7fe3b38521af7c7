# SPDX-License-Identifier: Apache-2.0
"""Each check of the tree detects the violation in a small tree."""

from __future__ import annotations

import graphlib
from pathlib import Path

import pytest

from ci.checks import structure


@pytest.fixture(name="tree")
def fixture_tree(tmp_path: Path) -> Path:
    """A tree without violations."""
    files = {
        "driver/core/a.c": '// SPDX-License-Identifier: X\n#include "a.h"\n',
        "driver/core/a.h": '// SPDX-License-Identifier: X\n#include "refpmu_port.h"\n'
        '#include "uapi/refpmu.h"\n',
        "driver/model/m.c": "// SPDX-License-Identifier: X\n",
        "conformance/perf/e.h": "// SPDX-License-Identifier: X\n",
        "conformance/target/t.h": '// SPDX-License-Identifier: X\n#include "perf/e.h"\n',
        "conformance/main.cpp": '// SPDX-License-Identifier: X\n#include "tools/watch/w.h"\n',
        "tools/watch/w.h": '// SPDX-License-Identifier: X\n#include "target/t.h"\n',
        "kunit/run.py": "# SPDX-License-Identifier: X\nfrom vm import kernel\n",
        "vm/layers.py": '# SPDX-License-Identifier: X\nA = ["-m", "kunit.run"]\n',
        "vm/tests/x_test.py": "# SPDX-License-Identifier: X\nfrom ci import lint\n",
        "driver/Kbuild": "# SPDX-License-Identifier: X\nrefpmu-y := core/a.o model/m.o\n",
        "driver/CMakeLists.txt": "# SPDX-License-Identifier: X\nset(S core/a.c model/m.c)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def findings(tree: Path) -> dict[str, list[str]]:
    files = [path for path in tree.rglob("*") if path.is_file()]
    return {name: found for name, found in structure.run_all(tree, files).items() if found}


def test_correct_tree_has_no_finding(tree: Path) -> None:
    assert not findings(tree)


def add(tree: Path, name: str, text: str) -> None:
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((path.read_text() if path.exists() else "") + text)


@pytest.mark.parametrize(
    ("check", "name", "text"),
    [
        ("pure_code_is_pure", "driver/core/a.c", "#include <linux/perf_event.h>\n"),
        ("pure_code_is_pure", "driver/model/m.c", '#include "../core_pmu/refpmu.h"\n'),
        ("pure_code_is_pure", "driver/model/m.c", '#include "../core/a.h"\n'),
        ("pure_code_is_pure", "driver/model/m.c", '#include "uapi/refpmu.h"\n'),
        ("pure_code_is_pure", "driver/core/a.c", "#include <uapi/refpmu.h>\n"),
        ("components_use_lower_components", "conformance/perf/e.h", '#include "target/t.h"\n'),
        (
            "components_use_lower_components",
            "conformance/target/t.cpp",
            '#include "tools/watch/w.h"\n',
        ),
        (
            "components_use_lower_components",
            "conformance/cases/a/a_test.cpp",
            '#include "tools/watch/w.h"\n',
        ),
        (
            "components_use_lower_components",
            "oracle/tests/a_test.cpp",
            '#include "tools/watch/w.h"\n',
        ),
        ("packages_import_lower_packages", "vm/x.py", "from ci import lint\n"),
        ("packages_import_lower_packages", "vm/x.py", "def f():\n    import ci.lint\n"),
        ("packages_import_lower_packages", "vm/x.py", 'A = ("python3", "-m", "ci")\n'),
        ("packages_import_lower_packages", "vm/x.py", 'A = ["kunit.run"]\n'),
        (
            "packages_import_lower_packages",
            "conformance/rules/x.py",
            "from faults import fault\n",
        ),
        ("packages_import_lower_packages", "pmubase/x.py", "from vm.kernel import find\n"),
        ("build_lists_agree", "driver/core/b.c", "// SPDX-License-Identifier: X\n"),
        ("build_lists_agree", "driver/Kbuild", "refpmu-y += core/gone.o\n"),
        ("files_have_a_licence", "vm/x.py", "print()\n"),
        ("only_its_files_name_an_architecture", "vm/x.py", 'A = f"{1}-amd64"\n'),
        ("only_its_files_name_an_architecture", "vm/x.h", "#if defined(__aarch64__)\n"),
        ("only_its_files_name_an_architecture", "cmake/X.cmake", "set(A aarch64-linux-gnu)\n"),
        ("nothing_sleeps", "vm/x.py", "# SPDX-License-Identifier: X\ntime.sleep(1)\n"),
    ],
)
def test_violation_is_reported(tree: Path, check: str, name: str, text: str) -> None:
    add(tree, name, text)
    assert check in findings(tree)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vm/arches/amd64.py", 'A = "amd64"\n'),
        ("vm/tests/x_test.py", 'A = "amd64"\n'),
        ("vm/x.py", '"""As on amd64."""\nA = 1\n"""As on amd64."""\n'),
        ("vm/x.h", "int a; // as with __aarch64__\n"),
        ("vm/x.py", 'A = "amd642"\n'),
        ("docs/x.py", 'A = "amd64"\n'),
    ],
)
def test_where_an_architecture_may_be_named(tree: Path, name: str, text: str) -> None:
    add(tree, name, f"// SPDX-License-Identifier: X\n{text}" if name.endswith(".h") else text)
    assert "only_its_files_name_an_architecture" not in findings(tree)


def test_include_in_a_raw_string_is_no_include(tree: Path) -> None:
    text = '// SPDX-License-Identifier: X\nauto a = R"(\n#include "tools/watch/w.h"\n)";\n'
    add(tree, "conformance/target/t.cpp", text)
    assert not findings(tree)


def test_order_of_the_rooms_and_packages_has_no_cycle() -> None:
    assert list(graphlib.TopologicalSorter(structure.MAY_USE).static_order())
    assert list(graphlib.TopologicalSorter(structure.MAY_IMPORT).static_order())


def test_case_that_depends_on_a_clock_needs_timing(tmp_path: Path) -> None:
    text = (
        "bool Wait(int n) {\n  const auto end = steady_clock::now();\n}\n"
        "CONFORMANCE_CASE(A, Plain, .rules = {rule::A_001}) {\n  Go();\n}\n"
        "CONFORMANCE_CASE(A, Reads, .rules = {}) {\n  clock_gettime(0, &t);\n}\n"
        "CONFORMANCE_CASE(A, Calls, .rules = {}) {\n  Wait(3);\n}\n"
        'CONFORMANCE_CASE(A, Says, .rules = {},\n  .timing = "so") {\n  Wait(3);\n}\n'
    )
    file = tmp_path / "conformance" / "cases" / "x" / "x_test.cpp"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    found = structure.waiting_cases_say_so(tmp_path, [file])
    assert [line.split(": ")[1] for line in found] == ["Reads", "Calls"]


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("docs/a.md", ["text"] * 500),
        ("docs/a.md", ["# A", "<!-- Longer than 500 lines: a table. -->", *["text"] * 500]),
        ("vm/a.py", [*["#"] * 29, "# Longer than 500 lines: a table.", *["#"] * 500]),
        ("fuzz/corpus/a/a.toml", ["a = 1"] * 501),
        ("faults/driver/a/A01.patch", ["+"] * 501),
        ("vm/tests/a.log", ["boot"] * 501),
        ("LICENSES/A.txt", ["text"] * 501),
        ("results/browser/package-lock.json", ["{}"] * 501),
    ],
)
def test_file_of_500_lines_or_with_a_reason_is_accepted(
    tmp_path: Path, name: str, lines: list[str]
) -> None:
    add(tmp_path, name, "\n".join(lines) + "\n")
    assert not structure.files_are_short(tmp_path, [tmp_path / name])


@pytest.mark.parametrize(
    "lines",
    [
        ["text"] * 501,
        ["Longer than 500 lines:", *["text"] * 500],
        [*["text"] * 500, "Longer than 500 lines: it is a table."],
    ],
)
def test_longer_file_without_a_reason_is_reported(tmp_path: Path, lines: list[str]) -> None:
    add(tmp_path, "docs/a.md", "\n".join(lines) + "\n")
    assert structure.files_are_short(tmp_path, [tmp_path / "docs/a.md"]) == [
        "docs/a.md: 501 lines; at most 500 without a line 'Longer than 500 lines: reason'"
    ]
