# SPDX-License-Identifier: Apache-2.0
"""The units of `make check`. They are the same for every change and on every day."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci import judge, lint, matrix_file
from ci.units.inputs import Inputs, package_files
from ci.units.unit import OUT, ROOT, Unit
from fuzz import corpora
from vm import kernel

PYTHON = "/usr/bin/python3"
KERNELS = tuple(reversed(kernel.known()))
SOME_AT_NIGHT = re.compile(r"\bnightly(_params)?\b")
TIDY_PARTS = 4
SAMPLE = 12
"""`make check` tries one of so many faults of the driver, always the same ones."""
HOUR_S = 3600
GUEST_MB = 1200
RUN_S = 100
"""Estimate for a target, until its duration is known."""
NIGHTLY = re.compile(r"^pytestmark = .*?nightly", re.M)
NIGHTLY_LIST = re.compile(r"^pytestmark = \[[^\]]*nightly[^\]]*\]", re.M)
PACKAGES = (*package_files("pmubase"), *package_files("vm"))
"""The files of the VM runner, without the data."""
KUNIT_READS = (
    *("glob:driver/*.[chS]", "glob:driver/*Kbuild", "glob:driver/*Kconfig"),
    *("glob:kunit/*", "glob:vm/kernels/*", *PACKAGES),
    *("package:gcc-12", "package:qemu-system-x86"),
)
PYTEST_READS = ("package:python3-pytest", "file:pyproject.toml", "file:conftest.py")
CPP_READS = (
    *("glob:*.cpp", "glob:*.h", "glob:*.c", "glob:*CMakeLists.txt", "glob:cmake/*"),
    *("glob:conformance/rules/*", "glob:conformance/*.toml", "file:CMakePresets.json"),
    *("glob:*.clang-tidy", "file:ci/checks/tidy.py", "package:clang-tidy-22"),
    *("file:ci/__init__.py", "file:ci/checks/__init__.py"),
    *("glob:ci/units/*.py", "glob:ci/faults/*.py", "glob:faults/*.py", *PACKAGES),
    *("package:libstdc++-12-dev", "package:libgtest-dev", "package:libgmock-dev"),
    *("package:nlohmann-json3-dev", "package:libtomlplusplus-dev", "package:libcli11-dev"),
    *("package:libbpf-dev", "package:libc6-dev", "package:linux-libc-dev"),
)
TRACERS = ("glob:ci/*.py", "glob:pmubase/*.py", "glob:vm/*.py", "package:strace")
UNTRACED = {
    # These tests use a tracer themselves, and LeakSanitizer does not work under a tracer.
    "ci/tests/traces_test.py": TRACERS,
    "ci/tests/units_test.py": TRACERS,
    "ci/tests/stated_test.py": (*TRACERS, "glob:conformance/*.py", "glob:*.toml", "names:/"),
    "fuzz/tests/seeded_faults_test.py": (
        *("glob:fuzz/*", *CPP_READS, "glob:faults/*", "glob:kunit/vectors/*"),
        *("package:clang-14", "package:ninja-build"),
    ),
    "fuzz/tests/build_test.py": ("glob:fuzz/*", *CPP_READS),
    # A tracer would disturb the cases.
    "conformance/selftest/this_machine_test.py": (*CPP_READS, *PACKAGES),
}
"""Files of tests whose inputs are stated."""
UNTRACEABLE = (
    *("ci/tests/traces_test.py", "ci/tests/units_test.py", "ci/tests/stated_test.py"),
    "fuzz/tests/build_test.py",
)
"""Files of tests that do not run under a tracer: they trace programs, or run LeakSanitizer."""
BINARIES: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "unit/driver": ("driver/unit/driver_tests", 3, ()),
    "unit/conformance": (
        "conformance/selftest/conformance_selftest",
        1,
        ("glob:conformance/*.toml", "glob:conformance/selftest/*"),
    ),
    "unit/oracle": ("oracle/tests/oracle_tests", 1, ()),
    "unit/profile": ("tools/profile/tests/profile_tests", 1, ()),
    "unit/repro": ("tools/repro/tests/repro_tests", 1, ()),
    "unit/watch": ("tools/watch/tests/watch_tests", 1, ()),
    "unit/work": ("vm/tcg/tests/work_tests", 1, ()),
}
"""Programs of unit tests below build/PRESET, the number of their shards, and their inputs."""


def build(name: str, *targets: str, cores: int = 2, default_s: float = 120) -> Unit:
    """A unit that builds a preset for other units."""
    return Unit(
        f"build/{name}",
        (("ci/build", name, *targets),),
        3000,
        f"ci/build {' '.join((name, *targets))}",
        cores=cores,
        memory_mb=2500,
        default_s=default_s,
        build=True,
    )


def builds() -> list[Unit]:
    """The builds of `make check`."""
    fetched = [
        Unit(
            f"build/kernel-{name}",
            ((PYTHON, "-m", "vm", "fetch", "--kernel", name),),
            900,
            f"{PYTHON} -m vm fetch --kernel {name}",
            build=True,
        )
        for name in KERNELS
    ]
    modules = [
        Unit(
            f"build/module-{name}",
            ((PYTHON, "-m", "vm", "module", "--kernel", name),),
            900,
            f"{PYTHON} -m vm module --kernel {name}",
            needs=(f"build/kernel-{name}",),
            build=True,
        )
        for name in KERNELS
    ]
    return [
        build("guest", "pmuconf", default_s=330),
        build("asan", default_s=280),
        build("fuzz", "fuzzers", default_s=90),
        build("tidy", *lint.GENERATED, cores=1, default_s=15),
        *fetched,
        *modules,
        Unit(
            AXE,
            ((PYTHON, "-m", "ci.npm", "results/browser"),),
            400,
            f"{PYTHON} -m ci.npm results/browser",
            default_s=1,
            build=True,
        ),
    ]


AXE = "build/axe"
GUESTS = ("build/guest", *(f"build/module-{name}" for name in KERNELS))


def lint_units() -> list[Unit]:
    """The steps of ci/lint.py; clang-tidy in parts."""
    heavy = {"kernel-6.12": 40.0, "kernel-6.1": 40.0, "sources": 60.0, "mypy": 30.0}
    found = []
    for name in lint.step_names():
        if name == "clang-tidy":
            continue
        needs = tuple(f"build/kernel-{line}" for line in KERNELS if name == f"kernel-{line}")
        found.append(
            Unit(
                f"lint/{name}",
                ((PYTHON, "-m", "ci.lint", name),),
                1200,
                f"{PYTHON} -m ci.lint {name}",
                needs=needs,
                traced=True,
                default_s=heavy.get(name, 5.0),
            )
        )
    return found + tidy_units("tidy", TIDY_PARTS, 180)


def tidy_units(kind: str, parts: int, default_s: float) -> list[Unit]:
    """clang-tidy in parts. `kind` is one of ci/checks/tidy.py."""
    return [
        Unit(
            f"{kind}/{part}of{parts}",
            ((PYTHON, "-m", "ci.checks.tidy", "--kind", kind, "--part", f"{part}/{parts}"),),
            2 * HOUR_S,
            f"{PYTHON} -m ci.checks.tidy --kind {kind} --part {part}/{parts}",
            needs=("build/tidy", "build/fuzz"),
            reads=CPP_READS,
            default_s=default_s,
            fresh=("--fresh",),
        )
        for part in range(1, parts + 1)
    ]


def unit_tests(preset: str) -> list[Unit]:
    """The programs of unit tests of a preset, in shards of GoogleTest."""
    found = []
    for name, (program, shards, reads) in BINARIES.items():
        path = f"build/{preset}/{program}"
        for shard in range(1, shards + 1):
            label = name if preset == "asan" else f"{name}-{preset}"
            label += f"-{shard}of{shards}" if shards > 1 else ""
            report = OUT / f"{label.replace('/', '-')}.xml"
            environment = (f"GTEST_TOTAL_SHARDS={shards}", f"GTEST_SHARD_INDEX={shard - 1}")
            run = ("env", *environment, path)
            found.append(
                Unit(
                    label,
                    ((*run, f"--gtest_output=xml:{report}", "--gtest_brief=1"),),
                    900,
                    f"ci/build {preset} && {' '.join(run)}",
                    report,
                    needs=(f"build/{preset}",),
                    reads=(f"product:{path}", *reads),
                    default_s=45,
                )
            )
    return found


def pytest_files(inputs: Inputs, night: bool) -> list[str]:
    """The files with Python tests: all of them, or those with a test for make check."""
    found = []
    for name in inputs.files:
        if not name.endswith("_test.py"):
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        whole = NIGHTLY.search(text) or NIGHTLY_LIST.search(text)
        if SOME_AT_NIGHT.search(text) if night else not whole:
            found.append(name)
    return found


def pytest_units(inputs: Inputs, night: bool = False) -> list[Unit]:
    """The Python tests, a unit for each file."""
    found = []
    for name in pytest_files(inputs, night):
        label = f"pytest{'-nightly' if night else ''}/{name}"
        marks = "nightly" if night else "not nightly"
        report = OUT / f"{label.replace('/', '+')}.xml"
        run = (PYTHON, "-m", "pytest", "-q", "-m", marks, name)
        text = (ROOT / name).read_text(encoding="utf-8")
        guests = "mark.guest" in text
        stated = UNTRACED.get(name)
        found.append(
            Unit(
                label,
                ((*run, f"--junitxml={report}"),),
                2 * HOUR_S if night else 1500,
                f"{PYTHON} -m pytest -m '{marks}' {name}",
                report,
                needs=(
                    *GUESTS,
                    *(("build/fuzz",) if name.startswith("fuzz/") else ()),
                    *((AXE,) if name.startswith("results/") else ()),
                ),
                reads=(*PYTEST_READS, *(stated or ())),
                traced=stated is None,
                traceable=name not in UNTRACEABLE,
                memory_mb=GUEST_MB if guests else 400,
                default_s=30.0 if guests else 2.0,
            )
        )
    return found


def kunit_unit(kernel: str) -> Unit:
    """The KUnit suites on one kernel. `kernel` may end in -debug."""
    out = OUT / f"kunit-{kernel}"
    series = kernel.removesuffix("-debug")
    command = (PYTHON, "-m", "kunit.pmukunit", "--kernel", series, "--out", str(out))
    debug = series != kernel
    return Unit(
        f"kunit/{kernel}",
        ((*command, "--debug") if debug else command,),
        3 * HOUR_S if debug else 2400,
        f"make kunit {variables(kernel)}",
        out / "results.json",
        reads=(*KUNIT_READS, f"source:{series}"),
        cores=2,
        memory_mb=3000,
        default_s=250,
    )


def variables(kernel: str) -> str:
    """A kernel as variables of make."""
    series = kernel.removesuffix("-debug")
    return f"KERNEL={series}" if series == kernel else f"KERNEL={series} DEBUG=1"


def run_units(jobs: Sequence[tuple[str, str]]) -> list[Unit]:
    """The targets on stock kernels. A case that passed with the same inputs does not run again."""
    found = []
    for kernel, target in jobs:
        out = OUT / f"{target}-{kernel}"
        found.append(
            Unit(
                f"run/{target}-{kernel}",
                (
                    (
                        *(PYTHON, "-m", "ci.judge", "--target", target, "--kernel", kernel),
                        *("--out", str(out)),
                    ),
                ),
                900,
                f"make run KERNEL={kernel} TARGET={target}",
                out / "results.json",
                needs=("build/guest", f"build/module-{kernel}"),
                reads=(
                    *judge.RUNNER,
                    *(f"file:ci/units/{name}.py" for name in ("__init__", "inputs", "records")),
                    *judge.MACHINE,
                    f"target:{target}",
                    *("suite:runner", "suite:report", "suite:cases"),
                    *("glob:conformance/targets/*", "glob:conformance/waivers/*"),
                    *("glob:vm/kernels/*", "file:vm/initrd/probe"),
                    f"cache:kernels/{kernel}-amd64.json",
                ),
                memory_mb=GUEST_MB,
                default_s=RUN_S,
                fresh=("--fresh",),
            )
        )
    return found


def fuzz_units() -> list[Unit]:
    """A unit for each harness, which replays its corpus."""
    found = []
    for subject in corpora.subjects():
        program = f"build/fuzz/fuzz/{subject}_fuzzer"
        replay = (PYTHON, "-m", "fuzz.corpora", "replay", subject, program)
        found.append(
            Unit(
                f"fuzz/{subject}",
                (replay,),
                300,
                f"ci/build fuzz fuzzers && {' '.join(replay)}",
                needs=("build/fuzz",),
                reads=(
                    *(f"product:{program}", "file:fuzz/__init__.py", "file:fuzz/corpora.py"),
                    *package_files("pmubase"),
                    *(f"file:fuzz/corpus/{subject}.zip", f"glob:fuzz/corpus/{subject}/*"),
                ),
                default_s=4,
            )
        )
    return found


def faults_unit(name: str, words: Sequence[str], default_s: float, needs: Sequence[str]) -> Unit:
    """Some of the faults. ci/faults keeps the records of their results."""
    out = OUT / name.replace("/", "-")
    return Unit(
        name,
        ((PYTHON, "-m", "ci.faults", *words, "--out", str(out)),),
        2 * HOUR_S,
        " ".join((PYTHON, "-m", "ci.faults", *words)),
        out / "results.json",
        needs=tuple(needs),
        reads=(
            *("glob:driver/*", "glob:ci/faults/*", "file:ci/parts.py", "glob:faults/*"),
            *("glob:pmubase/*", "glob:vm/*", "glob:ci/units/*.py", "glob:cmake/*"),
            *("file:ci/__init__.py", "file:ci/judge.py", "file:ci/kunit_command.py"),
            *("file:ci/build", "file:CMakeLists.txt", "file:CMakePresets.json"),
            *("glob:conformance/*", "glob:oracle/*", "glob:tools/*", "glob:kunit/*"),
            *("glob:fuzz/*.py", "glob:fuzz/*.txt", "glob:fuzz/*.cpp", "glob:fuzz/*.h"),
            *("package:g++-12", "package:ninja-build", "package:libgtest-dev"),
            "package:libgmock-dev",
            *("suite:runner", "suite:report", "suite:cases", *judge.MACHINE, "package:gcc-12"),
            *(f"cache:kernels/{k}-amd64.json" for k in KERNELS),
            *(f"source:{kernel}" for kernel in KERNELS),
        ),
        cores=2,
        memory_mb=2500,
        default_s=default_s,
        fresh=("--fresh",),
        lock="faults",
    )


def answers_unit(kernel: str) -> Unit:
    """The wrong answers, judged on one kernel."""
    words = ("--kind", "answer", "--kernel", kernel)
    return faults_unit(
        f"faults/answers-{kernel}", words, 180, ("build/guest", f"build/module-{kernel}")
    )


def check_units(inputs: Inputs) -> list[Unit]:
    """All units of `make check`."""
    return [
        *builds(),
        *lint_units(),
        *unit_tests("asan"),
        *pytest_units(inputs),
        kunit_unit(KERNELS[0]),
        *run_units(matrix_file.checked()),
        *fuzz_units(),
        answers_unit(KERNELS[0]),
        faults_unit(
            "faults/sample",
            (
                *("--kind", "driver", "--observer", "unit", "--observer", "suite"),
                *("--part", f"1/{SAMPLE}"),
            ),
            160,
            ("build/guest", "build/module-6.12"),
        ),
    ]
