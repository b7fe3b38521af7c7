# SPDX-License-Identifier: Apache-2.0
"""The programs that judge mutants on this machine are built from a copy, which each mutant leaves unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci.mutation import host, on_host
from ci.mutation.host import HostTree
from faults import mutant_file
from faults.mutant_file import Mutant, PatchError
from fuzz import corpora
from pmubase import store

DIFF = """--- a/driver/core/period.c
+++ b/driver/core/period.c
@@ -1 +1 @@
-one
+ONE
--- /dev/null
+++ b/driver/core/added.h
@@ -0,0 +1 @@
+more
"""


@pytest.fixture(name="root")
def fixture_root(tmp_path: Path) -> Path:
    """A project with one file of the driver, one of the suite, and one harness."""
    root = tmp_path / "root"
    for name, text in (
        ("driver/core/period.c", "one\n"),
        ("driver/unit/period_test.cpp", "test\n"),
        ("conformance/report/ktap.cpp", "suite\n"),
        ("conformance/report/other.cpp", "no harness needs it\n"),
        ("fuzz/period_fuzzer.cpp", "harness\n"),
        ("fuzz/suite.txt", "# comment\nconformance/report/ktap.cpp\n"),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def mutant(folder: Path, diff: str = DIFF) -> Mutant:
    path = folder / "M01-1-x.patch"
    path.write_text(f"Id: M01-1\n\nText.\n\n{diff}")
    return mutant_file.read(path)


def content(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "build.ninja"
    }


def test_copy_has_the_mutant_only_while_it_is_judged(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    tree = HostTree(root, copy)
    before = content(copy)
    assert sorted(before) == [
        "conformance/report/ktap.cpp",
        "driver/core/period.c",
        "driver/unit/period_test.cpp",
        "fuzz/period_fuzzer.cpp",
    ]
    with tree.mutated(mutant(tmp_path)):
        assert content(copy) == before | {
            "driver/core/period.c": "ONE\n",
            "driver/core/added.h": "more\n",
        }
    assert content(copy) == before
    with pytest.raises(PatchError), tree.mutated(mutant(tmp_path, DIFF.replace("-one", "-two"))):
        pass
    assert content(copy) == before


def test_copy_follows_the_project_and_keeps_the_times_of_unchanged_files(
    root: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    HostTree(root, copy)
    time = (copy / "driver/core/period.c").stat().st_mtime_ns
    (root / "driver/unit/period_test.cpp").unlink()
    (root / "fuzz/period_fuzzer.cpp").write_text("changed\n")
    HostTree(root, copy)
    assert (copy / "driver/core/period.c").stat().st_mtime_ns == time
    assert not (copy / "driver/unit/period_test.cpp").exists()
    assert (copy / "fuzz/period_fuzzer.cpp").read_text() == "changed\n"


def test_each_harness_and_the_unit_tests_are_targets() -> None:
    lines = host.ninja(host.sources(store.ROOT)).splitlines()
    links = {line.split()[1].rstrip(":"): line.split()[3:] for line in lines if ": link " in line}
    links = {name.removeprefix("programs/"): inputs for name, inputs in links.items()}
    assert set(links) == {host.UNIT_TESTS, "empty", *corpora.subjects()}
    assert links["period"] == ["harness/fuzz/period_fuzzer.cpp.o", "light.a", "driver.a"]
    assert links["ktap"] == ["harness/fuzz/ktap_fuzzer.cpp.o", "heavy.a", "driver.a"]
    assert "plain/driver/core/period.c.o" in links[host.UNIT_TESTS]
    assert "plain/driver/unit/period_test.cpp.o" in links[host.UNIT_TESTS]
    [light] = [line for line in lines if line.startswith("build light.a:")]
    assert "fuzzed/oracle/open_model.cpp.o" in light and "toml" not in light


def test_detected_input_is_not_left_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness = tmp_path / "harness"
    harness.write_text(
        "#!/bin/sh\nprefix=./\n"
        "for word; do case $word in -artifact_prefix=*) prefix=${word#*=};; esac; done\n"
        'touch "${prefix}crash-1"\necho "Test unit written to ${prefix}crash-1"\n'
        "echo 'property broken'\nexit 77\n"
    )
    harness.chmod(0o755)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert on_host.replay(harness, "ktap", None) == [("ktap/corpus", True)]
    assert list(here.iterdir()) == []
