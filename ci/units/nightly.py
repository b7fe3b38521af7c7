# SPDX-License-Identifier: Apache-2.0
"""The units of `make nightly`: those of `make check`, and those that take longer. No unit takes hours."""

from __future__ import annotations

from collections.abc import Sequence

from ci import matrix_file, stated
from ci.faults import kernels
from ci.units import catalogue
from ci.units.catalogue import GUESTS, GUEST_MB, HOUR_S, KERNELS, PYTHON
from ci.units.inputs import Inputs
from ci.units.unit import OUT, ROOT, Unit
from fuzz import corpora
from vm import kernel, stock

ANALYZER_PARTS = 16
FAULT_PARTS = 16
KERNEL_FAULT_PARTS = 12
ORACLE_CALLS = 100_000
ORACLE_PARTS = 5
FUZZ_S = 3600
"""Total time for the harnesses that need no guest, on two cores."""
CAMPAIGN_S = 600
CAMPAIGNS = 6
EVERYTHING = ("glob:*", "suite:runner", "suite:report", "suite:cases")


def nightly_units(inputs: Inputs, rounds: int) -> list[Unit]:
    """All units of `make nightly`. `rounds`: rounds of the soak on each kernel."""
    return [
        *catalogue.check_units(inputs),
        catalogue.build("dev", default_s=280),
        catalogue.build("coverage", "driver_tests", default_s=70),
        *catalogue.unit_tests("dev"),
        _tool("coverage/driver", ("ci.coverage",), "coverage", ("build/coverage",), 40),
        _tool("lines/driver", ("ci.lines",), "lines", ("build/guest",), 900, cores=2),
        *catalogue.tidy_units("analyzer", ANALYZER_PARTS, 120),
        *catalogue.pytest_units(inputs, night=True),
        *(catalogue.kunit_unit(name) for name in (*_other_series(), *kernel.debug_known())),
        *_stated(catalogue.check_units(inputs)),
        *_debug_runs(),
        *_matrix_jobs(),
        *(catalogue.answers_unit(name) for name in KERNELS[1:]),
        *_faults(),
        *_oracle(),
        *_fuzzing(),
        *_soaks(rounds),
    ]


def _other_series() -> list[str]:
    """The series whose KUnit suites `make check` does not run."""
    return [name for name in stock.with_sources() if name != KERNELS[0]]


def _stated(units: Sequence[Unit]) -> list[Unit]:
    """Traces each unit of make check with stated inputs once, and fails if it reads another project file."""
    return [
        Unit(
            f"stated/{unit.name.replace('/', '+')}",
            ((PYTHON, "-m", "ci.stated", unit.name),),
            unit.budget_s + HOUR_S,
            f"{PYTHON} -m ci.stated {unit.name}",
            needs=unit.needs,
            reads=EVERYTHING,
            cores=unit.cores,
            memory_mb=unit.memory_mb,
            default_s=unit.default_s * 2,
            lock=unit.lock,
        )
        for unit in stated.stated_units(units)
    ]


def _tool(
    name: str,
    words: tuple[str, ...],
    folder: str,
    needs: Sequence[str],
    default_s: float,
    cores: int = 1,
) -> Unit:
    """A program that writes build/FOLDER/results.json. `words`: its module and its arguments."""
    return Unit(
        name,
        ((PYTHON, "-m", *words),),
        2 * HOUR_S,
        " ".join((PYTHON, "-m", *words)),
        ROOT / "build" / folder / "results.json",
        needs=tuple(needs),
        reads=EVERYTHING,
        cores=cores,
        memory_mb=2500,
        default_s=default_s,
        lock=folder,
    )


def _run(name: str, words: tuple[str, ...], repeat: str, default_s: float) -> Unit:
    out = OUT / name.replace("/", "+")
    return Unit(
        name,
        ((*words, "--out", str(out)),),
        int(3 * HOUR_S),
        repeat,
        out / "results.json",
        needs=("build/guest",),
        reads=EVERYTHING,
        memory_mb=GUEST_MB,
        default_s=default_s,
    )


def targets() -> list[str]:
    """The targets that `make check` runs, on all kernels."""
    return sorted({target for _, target in matrix_file.checked()})


def _debug_runs() -> list[Unit]:
    return [
        _run(
            f"run/{target}-{name}",
            (PYTHON, "-m", "vm", "run", "--target", target, "--kernel", name),
            f"make run {catalogue.variables(name)} TARGET={target}",
            1200,
        )
        for target in targets()
        for name in kernel.debug_known()
    ]


def _matrix_jobs() -> list[Unit]:
    """The jobs of the matrix that `make check` omits."""
    found = []
    for job in matrix_file.read():
        if not job.check:
            name = f"matrix/{job.name}"
            out = OUT / name.replace("/", "+")
            found.append(
                Unit(
                    name,
                    (job.command(out),),
                    int(job.budget_s) + HOUR_S,
                    job.repro_command(),
                    out / "results.json",
                    needs=("build/guest",),
                    reads=EVERYTHING,
                    memory_mb=GUEST_MB,
                    default_s=60 * job.minutes,
                )
            )
    return found


def _faults() -> list[Unit]:
    """All faults that no test of pytest applies, on each kernel, by all their observers, until each rule that a fault
    names was failed; those in the kernel until one case fails."""
    observers = [
        word for each in ("unit", "fuzz", "kunit", "suite") for word in ("--observer", each)
    ]
    ours = ("--kind", "driver", "--kind", "suite", "--rules", *observers)
    runs = [
        (name, ours, FAULT_PARTS, 1200 if name.endswith("-debug") else 300)
        for name in (*KERNELS, *kernel.debug_known())
    ]
    runs += [
        (name, ("--kind", "kernel"), KERNEL_FAULT_PARTS, 1500)
        for name in reversed(kernels.series())
    ]
    return [
        catalogue.faults_unit(
            f"faults/{words[1]}-{name}-{part}of{parts}",
            ("--kernel", name, *words, "--part", f"{part}/{parts}"),
            default_s,
            GUESTS,
        )
        for name, words, parts, default_s in runs
        for part in range(1, parts + 1)
    ]


def _oracle() -> list[Unit]:
    """Compares a kernel's errnos with the model, in shards."""
    calls = ORACLE_CALLS // ORACLE_PARTS
    return [
        _tool(
            f"oracle/{name}-calls-{n + 1}of{ORACLE_PARTS}",
            ("ci.oracle", "--kernel", name, "--calls", str(calls), "--from", str(n * calls)),
            f"oracle-{name}",
            GUESTS,
            900,
            cores=2,
        )
        for name in KERNELS
        for n in range(ORACLE_PARTS)
    ]


def _fuzzing() -> list[Unit]:
    subjects = corpora.subjects()
    each_s = 2 * FUZZ_S // len(subjects)
    pure = [
        Unit(
            f"fuzz/{subject}-{each_s}s",
            ((PYTHON, "-m", "fuzz.run", "--harness", subject, "--time", str(each_s)),),
            each_s + HOUR_S,
            f"{PYTHON} -m fuzz.run --harness {subject} --time {each_s}",
            needs=("build/fuzz",),
            reads=EVERYTHING,
            memory_mb=1500,
            default_s=each_s,
        )
        for subject in subjects
    ]
    guests = [
        Unit(
            f"fuzz-vm/{target}-{number}of{CAMPAIGNS}",
            (
                (
                    *(PYTHON, "-m", "fuzz.campaign", "--kernel", "6.12-kcov"),
                    *("--target", target, "--time", str(CAMPAIGN_S)),
                ),
            ),
            2 * HOUR_S,
            f"make fuzz-vm KERNEL=6.12-kcov TARGET={target} TIME={CAMPAIGN_S}",
            needs=("build/guest",),
            reads=(*EVERYTHING, f"text:{number}"),
            memory_mb=3000,
            default_s=CAMPAIGN_S,
            lock=f"fuzz-vm-{target}",
        )
        for target in ("refpmu", "software")
        for number in range(1, CAMPAIGNS + 1)
    ]
    return [*pure, *guests]


def _soaks(rounds: int) -> list[Unit]:
    return [
        _tool(
            f"soak/{name}-{number}of{rounds}",
            ("ci.soak", "-n", "1", "--seed", str(number), "--kernel", name),
            "soak",
            GUESTS,
            500,
            cores=2,
        )
        for name in KERNELS
        for number in range(1, rounds + 1)
    ]
