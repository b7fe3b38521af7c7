# SPDX-License-Identifier: Apache-2.0
"""Each step of docs/tutorial.md has the verdict and the failures that the page and its steps.toml name.

The nightly test builds and runs the steps as the page describes. It also compares the quoted lines with the output.
"""

from __future__ import annotations

import json
import pathlib
import re
import tomllib
from typing import Any

import pytest

from pmubase import store
from vm import folder, kernel
from vm.cli import main

PAGE = store.ROOT / "docs" / "tutorial.md"
SOURCES = store.ROOT / "docs" / "tutorial"
STEPS: list[dict[str, Any]] = tomllib.loads((SOURCES / "steps.toml").read_text("utf-8"))["step"]
KERNELS = tuple(kernel.known())
QUOTED = "6.12"
"""The kernel whose output the page quotes."""
CASE = re.compile(r"`([A-Z]\w*\.[A-Z]\w*)`")
MODULES: dict[str, list[pathlib.Path]] = {}

every_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: f"step{step['number']}")


def section(step: int) -> str:
    """The text of the page about a step: from its heading to the next one."""
    match = re.search(rf"^## Step {step}: .*?(?=^## )", PAGE.read_text("utf-8"), re.M | re.S)
    assert match is not None, f"no section about step {step}"
    return match[0]


def quoted(text: str, language: str) -> list[str]:
    """The code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def belongs_to(step: int, language: str, before: bool) -> list[str]:
    """The lines that the page quotes from a run of a step. A section may begin with a failure of the previous step.

    `before`: the blocks that stand before the first code of the section.
    """
    head, *rest = re.split(r"^```c$", section(step), maxsplit=1, flags=re.M)
    text = head if before else "".join(f"```c{part}" for part in rest)
    return [line for block in quoted(text, language) for line in block.splitlines()]


def lines_of_run(step: int, language: str) -> list[str]:
    """All lines that the page quotes from the run of a step."""
    last = STEPS[-1]["number"]
    following = belongs_to(step + 1, language, True) if step < last else []
    return belongs_to(step, language, False) + following


def test_page_has_each_step() -> None:
    numbers = [int(n) for n in re.findall(r"^## Step (\d+):", PAGE.read_text("utf-8"), re.M)]
    files = sorted(SOURCES.glob("step*.c"))
    assert numbers == [step["number"] for step in STEPS]
    assert [file.name for file in files] == [f"step{number}.c" for number in numbers]
    kbuild = (SOURCES / "Kbuild").read_text("utf-8")
    assert re.findall(r"\bstep\d+(?=\.o)", kbuild) == [file.stem for file in files]


@every_step
def test_code_of_the_page_is_in_the_sources(step: dict[str, Any]) -> None:
    number = step["number"]
    source = (SOURCES / f"step{number}.c").read_text("utf-8")
    blocks = quoted(section(number), "c")
    assert blocks
    for block in blocks:
        assert block in source, f"step {number}: docs/tutorial.md quotes other code:\n{block}"


@every_step
def test_page_names_the_results_of_the_step(step: dict[str, Any]) -> None:
    """Failures are named in the section of the step, or at the beginning of the next one as quoted output."""
    number = step["number"]
    text = section(number)
    printed = re.findall(r"^FAIL  (\S+)$", "\n".join(lines_of_run(number, "text")), re.M)
    assert {*CASE.findall(text), *printed} >= set(step["failed"])
    assert set(printed) <= set(step["failed"])
    assert re.search(rf"(?<!NOT ){step['verdict']}\b", text)
    assert (step["verdict"] == "CONFORMANT") == (not step["failed"])
    assert f"`CASE='{step['case']}'`" in text if "case" in step else "`CASE=" not in text


def built(name: str, out: pathlib.Path) -> list[pathlib.Path]:
    """The modules of all steps for a kernel, built once."""
    if name not in MODULES:
        MODULES[name] = folder.build(kernel.find(name), SOURCES, out)
    return MODULES[name]


@pytest.mark.guest
@pytest.mark.nightly
@pytest.mark.xdist_group("tutorial")  # The drafts of all runs have the same path.
@pytest.mark.parametrize("name", KERNELS)
@every_step
def test_step_has_the_results_of_the_page(
    step: dict[str, Any],
    name: str,
    tmp_path_factory: pytest.TempPathFactory,
    capfd: pytest.CaptureFixture[str],
) -> None:
    number = step["number"]
    out = tmp_path_factory.mktemp("tutorial")
    module = {file.stem: file for file in built(name, out / "modules")}[f"step{number}"]
    words = ["run", "--target", "probe", "--pmu", "tutorial", "--kernel", name]
    words += ["--module", str(module), "--out", str(out / "report"), "--case", step.get("case", "")]
    status = main(words)
    output = capfd.readouterr().out
    results = json.loads((out / "report" / "results.json").read_text("utf-8"))
    bad = [case["id"] for case in results["cases"] if case["result"] not in ("PASS", "SKIP")]
    skipped = step.get("not_on_6_1", []) if name == "6.1" else []
    assert sorted([*bad, *skipped]) == sorted(step["failed"])
    assert results["verdict"] == step["verdict"].replace(" ", "_")
    assert status == (0 if step["verdict"] == "CONFORMANT" else 1)
    if name == QUOTED:
        printed = set(output.splitlines())
        assert [line for line in lines_of_run(number, "text") if line not in printed] == []
    draft = (store.ROOT / "build" / "probe" / "tutorial.toml").read_text("utf-8").splitlines()
    assert [line for line in lines_of_run(number, "toml") if line not in draft] == []
