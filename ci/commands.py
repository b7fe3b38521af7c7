# SPDX-License-Identifier: Apache-2.0
"""The commands of `make`: the programs, the builds that they need, and the variables that they take.

The Makefile passes the name of the command. make itself exports the variables of its command line to the environment,
and lists their names in MAKEFLAGS.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_SERIES = "6.12"
PMUCONF = "build/guest/conformance/pmuconf"
FLAGS = {"ALL", "BOOT", "FRESH", "ISOLATE", "LOAD", "MERGE", "TOGETHER"}
"""Variables of an option without a value: on unless empty or 0."""
NOT_FROM_ENVIRONMENT = {"ALL", "JOBS", "KEY", "OUT", "PATCH", "RELEASE"}
"""Other programs set these variables, too."""
OF_ALL = {"PMUCONF_ACCEL", "DEBUG", "ARCH"}
"""Variables that no option of a command has."""


@dataclass(frozen=True)
class Command:
    """A command of `make`."""

    help: str
    words: tuple[tuple[str, ...], ...] = ()
    """The programs, one after the other. The options go to the first one."""
    builds: tuple[tuple[str, ...], ...] = ()
    """Arguments of ci/build."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The option of each variable."""


def _python(*words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", *words)


def _named(*names: str, **others: str) -> dict[str, str]:
    """Options that are called like their variables, and `others`."""
    return {name: f"--{name.lower().replace('_', '-')}" for name in names} | others


SUITE = (("guest", "pmuconf"),)
GUEST = (("guest",),)
"""With the programs that only tests and measurements use."""
COMMANDS = {
    "run": Command(
        "judge TARGET (or all, or probe: a draft for PMU) on KERNEL in a virtual machine; exit status 0 conformant, "
        "1 not, 2 not judged",
        (_python("vm", "run"),),
        SUITE,
        _named(
            *(
                "TARGET",
                "KERNEL",
                "ARCH",
                "RULE",
                "CASE",
                "PROFILE",
                "PMU",
                "LIKE",
                "MODULE",
                "PARAMETERS",
            ),
            *(
                "CPU_MODEL",
                "ICOUNT",
                "CMDLINE",
                "WORK",
                "DEVICE",
                "QEMU_ARGS",
                "SHUFFLE",
                "ISOLATE",
                "GUESTS",
                "BOOT",
                "LOAD",
                "VERDICT",
                "LAYERS",
                "RELEASE",
            ),
        ),
    ),
    "check": Command(
        "run the tests that a change needs; STAGES='lint,run/.*-6.12' selects groups and tests, "
        "FRESH=1 also runs what passed before",
        (_python("ci.check"),),
        options=_named("STAGES", "FRESH"),
    ),
    "kunit": Command(
        "run the KUnit suites in a kernel built for them",
        (_python("kunit.pmukunit"),),
        options=_named("KERNEL"),
    ),
    "intree": Command(
        "build the driver in kernel trees, as a module and linked in; minutes, longer the first time",
        (_python("ci.intree"),),
        options=_named("KERNEL"),
    ),
    "fuzz": Command(
        "replay the corpora, then fuzz each harness; TIME= seconds in total, or RUNS= inputs for each; MERGE=1 "
        "minimises the found inputs and adds them to the corpora",
        (_python("fuzz.run"),),
        (("fuzz",),),
        _named("TIME", "RUNS", "MERGE"),
    ),
    "fuzz-vm": Command(
        "fuzz system calls in guests; TIME= seconds in total; MERGE=1 minimises the found inputs",
        (_python("fuzz.campaign"),),
        GUEST,
        _named("TIME", "MERGE", "KERNEL", "TARGET"),
    ),
    "oracle": Command(
        "compare KERNEL with the errno model, CALLS= calls of each type",
        (_python("ci.oracle"),),
        GUEST,
        _named("CALLS", "KERNEL"),
    ),
    "compare": Command(
        "run the same random programs on two KERNELS, and list those whose observations differ; FAULT= breaks the "
        "second driver; exit status 0 no new difference, 1 a new one, 2 not compared",
        (_python("ci.compare"),),
        SUITE,
        _named("KERNELS", "TARGET", "SECONDS", "SEED", "FAULT"),
    ),
    "faults": Command(
        "prove that tests can fail: break the driver, the kernel, its answers, a target file or the suite; KIND=, "
        "ID='GLOB,...', PART=K/N select",
        (_python("ci.faults"),),
        GUEST,
        _named("KIND", "ID", "OBSERVER", "KERNEL", "PART", "FRESH"),
    ),
    "fixes": Command(
        "try the patches for Linux in docs/upstream: build each one, and run the cases that fail without it; "
        "ID='GLOB,...', PART=K/N, KERNEL= select; ALL=1 runs all cases of its targets; TOGETHER=1 builds one kernel "
        "with all of them; PATCH= tries another file for ID; exit status 0 all fix, 1 not all, 2 not tried",
        (_python("ci.fixes"),),
        GUEST,
        _named("ID", "KERNEL", "PART", "ALL", "TOGETHER", "PATCH"),
    ),
    "bench": Command(
        "benchmark the driver's decisions and the model; compare costs with cpu-clock in a guest",
        (_python("ci.bench"),),
        (*GUEST, ("bench", "core_bench")),
        _named("KERNEL"),
    ),
    "soak": Command(
        "repeat the suite in random order, on 1, 2 and 4 CPUs and with a fixed clock; N= rounds",
        (_python("ci.soak"),),
        GUEST,
        _named("KERNEL", "CASE", N="-n"),
    ),
    "matrix": Command(
        "run all jobs of ci/matrix.toml (kernel, architecture, accelerator, target, profile), or JOBS='globs'; 90 minutes",
        (_python("ci.matrix"),),
        GUEST,
        _named("JOBS"),
    ),
    "nightly": Command(
        "run all tests; continues an interrupted run; SHARD=k/n runs a shard",
        (_python("ci.check", "--nightly"),),
        GUEST,
        _named("STAGES", "SHARD", "FRESH"),
    ),
    "site": Command(
        "make a static site of the documents, the rules and the history of results: build/site",
        (_python("results", "site", "--out", "build/site"),),
        GUEST,
    ),
    "rules": Command(
        "write the catalogue, with the evidence for each rule, to build/rules",
        (_python("results", "rules", "--out", "build/rules"),),
        GUEST,
    ),
    "explain": Command(
        "print a rule or a case with its evidence: ID=CNT-002 or ID=Suite.Name",
        (_python("results", "explain"),),
        GUEST,
        _named("ID"),
    ),
    "review": Command(
        "review the source of a driver: FILES= sources, folders, or a patch; TREE= the kernel tree that has it or that "
        "the patch applies to; WAIVE= accepted findings; exit status 0 no breach, 1 a breach, 2 not reviewed",
        (_python("review"),),
        options=_named("FILES", "TREE", "WAIVE"),
    ),
    "coverage": Command(
        "report the branches of driver/core and driver/model that the unit tests take; and make lines",
        (_python("ci.lines"), _python("ci.coverage")),
        (*GUEST, ("coverage", "driver_tests")),
        _named("KERNEL"),
    ),
    "lines": Command(
        "report the lines of the driver's kernel code that KUnit and the suite reach, in a kernel that counts them",
        (_python("ci.lines"),),
        GUEST,
        _named("KERNEL"),
    ),
    "release": Command(
        "make a release of this commit in OUT (default build/release): programs for ARCHES, modules for KERNELS, the "
        "runner, packages, SHA256SUMS; KEY= signs it",
        (_python("ci.release"),),
        options=_named("OUT", "KEY", "ARCHES", "KERNELS"),
    ),
    "lint": Command(
        "check format, static analysis, spelling, wording, structure", (_python("ci.lint"),)
    ),
    "guest-suite": Command("build the static suite, for guests and boards", builds=SUITE),
    "deps": Command("install missing packages; ARCH= those for guests of an architecture"),
    "clean": Command(
        "remove build/, but not the cache of kernels", (("rm", "-rf", str(ROOT / "build")),)
    ),
}


class UsageError(Exception):
    """A wrong variable. The message is one line."""


def given(makeflags: str) -> set[str]:
    """The names of the variables on the command line of make, from its MAKEFLAGS."""
    _, _, after = f" {makeflags}".partition(" -- ")
    return {
        word.partition("=")[0] for word in re.findall(r"(?:\\.|[^\s\\])+", after) if "=" in word
    }


def arguments(name: str, environment: Mapping[str, str]) -> list[str]:
    """The options of a command. UsageError for a variable that it does not have."""
    command = COMMANDS[name]
    ours = given(environment.get("MAKEFLAGS", ""))
    for unknown in sorted(ours - {*command.options, *OF_ALL}):
        known = ", ".join(sorted({*command.options, *OF_ALL}))
        raise UsageError(f"unknown variable {unknown}; known: {known}")
    values = {
        variable: environment[variable]
        for variable in command.options
        if environment.get(variable) and (variable in ours or variable not in NOT_FROM_ENVIRONMENT)
    }
    debug = environment.get("DEBUG", "")
    if debug not in ("", "0", "1"):
        raise UsageError(f"DEBUG='{debug}': 1 for a debug kernel, or nothing")
    words = []
    if debug == "1" and name == "kunit":
        words.append("--debug")
    elif debug == "1" and "KERNEL" in command.options:
        values["KERNEL"] = f"{values.get('KERNEL', DEFAULT_SERIES)}-debug"
    if name == "run":
        values.setdefault("TARGET", "refpmu")
        if len(os.sched_getaffinity(0)) > 1:
            values.setdefault("GUESTS", "2")
    for variable, value in values.items():
        if variable not in FLAGS:
            words += [command.options[variable], value]
        elif value != "0":
            words.append(command.options[variable])
    return words


def steps(name: str, environment: Mapping[str, str]) -> list[list[str]]:
    """All programs that a command runs, in order."""
    command = COMMANDS[name]
    words = arguments(name, environment)
    few = ["run"] if name == "run" and not environment.get("LAYERS") else []
    built = "--release" not in words
    few = few if built else ["guest"]
    few = ["release"] if name == "release" else few
    found = [["ci/install-deps", *few]] if name != "clean" else []
    found += [["ci/build", *build] for build in command.builds if built]
    arch = environment.get("ARCH", "")
    if built and command.builds and arch not in ("", "amd64"):
        found.append(["ci/build", f"guest-{arch}", "pmuconf"])
    for number, program in enumerate(command.words):
        found.append([*program, *(words if number == 0 else [])])
    return found


def meanwhile(name: str, environment: Mapping[str, str]) -> list[str]:
    """The program that runs while the builds run: it fetches the kernel of a run. Empty without one."""
    kernel = environment.get("KERNEL") or DEFAULT_SERIES
    plain = not environment.get("ARCH") and environment.get("DEBUG") != "1" and "/" not in kernel
    return [*_python("vm", "fetch"), "--kernel", kernel] if name == "run" and plain else []


def overview() -> str:
    """The commands, and their variables."""
    lines = []
    for name, command in COMMANDS.items():
        lines.append(f"  make {name:11} {command.help}")
        if command.options:
            lines.append(f"  {'':16} {' '.join(f'{variable}=' for variable in command.options)}")
    return "\n".join([*lines, f"  all: {' '.join(f'{name}=' for name in sorted(OF_ALL))}"])


def prepare(
    planned: Sequence[Sequence[str]], beside: Sequence[str], environment: Mapping[str, str]
) -> int:
    """Runs programs, and `beside` during those after the first one. Returns the status of the first that fails."""
    other = None
    status = 0
    try:
        for number, words in enumerate(planned):
            status = subprocess.run(words, cwd=ROOT, env=environment, check=False).returncode
            if status != 0:
                break
            if number == 0 and beside:
                # The run itself reports an error of the fetch.
                quiet = subprocess.DEVNULL
                other = subprocess.Popen(
                    beside, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet
                )
    finally:
        if other is not None:
            if status != 0:
                other.terminate()
            other.wait()
    return status


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Runs a command. Returns the status of its first program that fails."""
    name = argv[0] if argv else "help"
    if name == "help":
        print(overview())
        return 0
    if name not in COMMANDS:
        print(f"make: unknown command '{name}'; make help lists them", file=sys.stderr)
        return 2
    try:
        planned = steps(name, environment)
    except UsageError as error:
        print(f"make {name}: {error}", file=sys.stderr)
        return 2
    clean = {key: value for key, value in environment.items() if not key.startswith("MAKE")}
    status = prepare(planned[:-1], meanwhile(name, environment), clean)
    if status != 0:
        return status
    os.chdir(ROOT)
    sys.stdout.flush()
    os.execvpe(planned[-1][0], planned[-1], dict(clean))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
