# SPDX-License-Identifier: Apache-2.0
"""Checks format, static analysis, spelling, wording and structure. Each check counts as one test."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ci import golden, intree
from ci.checks import (
    faults,
    guide,
    kernel,
    known_bugs,
    programs,
    prose,
    rules,
    sources,
    structure,
    tidy,
    versions,
)
from pmubase import store
from pmubase.errors import UserError
from vm.kernel import known

ROOT = Path(__file__).resolve().parent.parent

OUT = ROOT / "build" / "lint"
CPP_FOLDERS = ("conformance", "oracle", "tools", "fuzz", "vm")
SERIES = tuple(known())
WITHOUT_FILES = {
    "mypy",
    "kernel-6.1",
    "kernel-6.12",
    "golden",
    "faults",
    "known_bugs",
    "sources",
    "guide",
    "versions",
}
"""Steps that find their files themselves."""
GENERATED = ("pmuconf_rules_files", "pmuconf_bpf_files", "profile_bpf_files", "watch_bpf_files")
"""The targets of generated headers, which clang-tidy needs."""


@dataclass(frozen=True)
class Step:
    """One check. It returns its findings."""

    name: str
    run: Callable[[], list[str]]


def tracked() -> list[Path]:
    """The files of the project: those in git, and new ones that git does not ignore."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in sorted(set(out.splitlines())) if (ROOT / name).is_file()]


def tool(*command: str) -> list[str]:
    """Runs a program that prints findings and whose status reports whether there are any."""
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    if done.returncode == 0:
        return []
    output = (done.stdout + done.stderr).strip()
    return output.splitlines() or [f"{command[0]}: status {done.returncode}"]


def with_files(files: list[Path], *command: str) -> Callable[[], list[str]]:
    return lambda: tool(*command, *(str(file.relative_to(ROOT)) for file in files))


def formatter(name: str, version: int, files: list[Path], *options: str) -> Callable[[], list[str]]:
    """Runs a program that formats in another way in each version."""
    return lambda: with_files(files, programs.find(name, version, version), *options)()


def top_folder(file: Path) -> str:
    """The top folder of a file. C files of the kernel have other headers."""
    return file.relative_to(ROOT).parts[0]


def run_mypy() -> list[str]:
    """Runs mypy on all Python code of the project."""
    return tool("/usr/bin/mypy", "--config-file", "pyproject.toml", ".")


def is_shell(file: Path) -> bool:
    if file.suffix:
        return file.suffix == ".sh"
    with file.open("rb") as stream:
        return stream.readline().startswith((b"#!/bin/bash", b"#!/bin/sh", b"#!/bin/busybox sh"))


def sources_of_rules() -> list[str]:
    """Checks the sources that rules name in the kernel trees of both series. Fetches missing trees."""
    cache = store.cache()
    trees = {}
    try:
        with store.writing(cache):
            for series in SERIES:
                with store.locked(cache / "intree" / f"{series}.lock"):
                    trees[series] = intree.unpack_once(series, cache)
    except UserError as error:
        return [str(error)]
    return sources.findings(ROOT, trees)


def clang_tidy() -> list[str]:
    """Runs both kinds of clang-tidy on all sources. Builds and configures the presets first."""
    programs.find("clang-tidy", tidy.OLDEST)
    found = []
    for preset, *targets in (("tidy", *GENERATED), ("fuzz",)):
        found += tool("ci/build", preset, *(targets or ["config_fuzzer"]))
    for kind in tidy.KINDS:
        found += tool("/usr/bin/python3", "-m", "ci.checks.tidy", "--kind", kind)
    return found


def step_names() -> list[str]:
    """The names of all steps, in their order."""
    return [step.name for step in steps([])]


def steps(files: list[Path]) -> list[Step]:
    cpp = [
        f
        for f in files
        if f.suffix == ".cpp" or (f.suffix == ".h" and top_folder(f) in CPP_FOLDERS)
    ]
    python = [f for f in files if f.suffix == ".py"]
    shell = [f for f in files if is_shell(f)]
    text = [
        f
        for f in files
        if f.suffix != ".bin" and "corpus" not in f.parts and f.name != "package-lock.json"
        # These are mostly text of the kernel.
        and not (f.suffix == ".patch" and {"kernel", "devices"} & set(f.parts))
    ]
    known = [
        Step("clang-format", formatter("clang-format", 14, cpp, "--dry-run", "-Werror")),
        Step("black", formatter("black", 23, python, "--check", "--quiet", "--diff")),
        Step("mypy", run_mypy),
        Step("shellcheck", with_files(shell, "shellcheck", "-x")),
        Step("codespell", with_files(text, "codespell", "--ignore-words", "ci/checks/words.txt")),
        Step("clang-tidy", clang_tidy),
    ]
    for line in SERIES:
        known.append(Step(f"kernel-{line}", partial(kernel.build, ROOT, line)))
    known.append(Step("checkpatch", lambda: kernel.checkpatch(ROOT, files)))
    for check in structure.CHECKS:
        known.append(Step(check.__name__, partial(check, ROOT, files)))
    known.append(Step("rules", partial(rules.findings, ROOT, files)))
    known.append(Step("golden", partial(golden.findings, ROOT)))
    known.append(Step("faults", partial(faults.findings, ROOT)))
    known.append(Step("known_bugs", partial(known_bugs.findings, ROOT)))
    known.append(Step("sources", sources_of_rules))
    known.append(Step("versions", partial(versions.findings, ROOT)))
    known.append(Step("guide", partial(guide.findings, ROOT)))
    known.append(Step("prose", partial(prose.findings, ROOT, files)))
    return known


def main() -> int:
    every = ", ".join(step_names())
    parser = argparse.ArgumentParser(prog="python3 -m ci.lint", description=__doc__)
    parser.add_argument("steps", nargs="*", help=f"of: {every}")
    chosen = parser.parse_args().steps
    unknown = set(chosen) - set(step_names())
    if unknown:
        print(f"lint: unknown step {', '.join(sorted(unknown))}; known: {every}", file=sys.stderr)
        return 2
    # A step without a list of files is not repeated when a file is added.
    known = steps([] if chosen and set(chosen) <= WITHOUT_FILES else tracked())
    cases = []
    for step in known:
        if chosen and step.name not in chosen:
            continue
        try:
            found = step.run()
        except programs.NotFitting as reason:
            cases.append({"id": step.name, "result": "SKIP", "findings": [str(reason)]})
            print(f"skip {step.name}: {reason}", flush=True)
            continue
        cases.append({"id": step.name, "result": "FAIL" if found else "PASS", "findings": found})
        print(f"{'FAIL' if found else 'ok':5}{step.name}", flush=True)
        for line in found:
            print(f"     {line}")
    count = Counter(case["result"] for case in cases)
    failed, skipped = count["FAIL"], count["SKIP"]
    totals = {"cases": len(cases), "passed": count["PASS"], "failed": failed, "skipped": skipped}
    document = json.dumps({"totals": totals, "cases": cases}, indent=2)
    # Steps may run concurrently.
    store.write(OUT / "results.json", document.encode())
    print(f"{totals['passed']} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
