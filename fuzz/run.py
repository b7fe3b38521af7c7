#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Replays the corpora, then fuzzes each harness for a while, and reports what was found.

With --merge it fuzzes nothing, but keeps of what earlier runs found only what reaches more than the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "vm")]

from fuzz import page  # noqa: E402
from pmuvm import store  # noqa: E402
from pmuvm.errors import PmuvmError  # noqa: E402

JOBS = 2
REPLAY_LIMIT_S = 120
# What a harness may take beyond its time: loading the corpus, and one slow input.
GRACE_S = 60
INPUT_LIMIT_S = 10
MEMORY_LIMIT_MB = 1024
# Inputs may grow to twice the longest of the corpus, and to this at least.
LEAST_LENGTH = 512
# Of each allocation, who made it is kept in short: a finding that is repeated tells all.
SHORT_STACKS = {"ASAN_OPTIONS": "malloc_context_size=2"}
# The harness that does nothing, and how long it runs beside each other one.
EMPTY = "empty"
EMPTY_S = 1
# The slowest harness does five times as many on a busy machine.
LEAST_PACE = 200
# A finding is made smaller for so long.
SMALLER_S = 20
MERGE_LIMIT_S = 3600


class NotJudged(Exception):
    """Something kept a harness from being judged; the text is the one line that says what."""


@dataclass(frozen=True)
class Phase:
    """One run of a harness: over its corpus, or with new inputs."""

    executions: int
    edges: int
    corpus: int
    seconds: float
    cpu_s: float
    reproducer: str | None
    output: str


@dataclass(frozen=True)
class Outcome:
    """What one harness did; a finding is an input that breaks a property."""

    harness: str
    executions: int
    executions_per_s: int
    """Of a second on the clock."""
    executions_per_cpu_s: int
    """Of a second of the CPU, without the time to load the corpus."""
    empty_per_cpu_s: int
    """The same of a harness that does nothing: same flags, same inputs to begin with, same lengths."""
    edges: int
    corpus: int
    replayed: int
    findings: tuple[str, ...]
    repeat: tuple[str, ...]
    """Of each finding, the smallest input that also ends the harness."""
    error: str
    cases: int
    passed: int


def subjects(fuzz: Path) -> list[str]:
    """The harnesses there are: one source file each."""
    names = {p.name.removesuffix("_fuzzer.cpp") for p in fuzz.glob("*_fuzzer.cpp")}
    return sorted(names - {EMPTY})


def cache_folder(subject: str) -> Path:
    """Where inputs found by chance are kept between runs: never in the checkout."""
    return store.cache() / "fuzz" / subject


def last_number(pattern: str, text: str) -> int:
    """The last match of a one-group pattern as a number, 0 without one."""
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def parse(output: str, seconds: float, cpu_s: float) -> Phase:
    """Reads what libFuzzer printed."""
    artifact = re.search(r"Test unit written to (\S+)", output)
    executions = last_number(r"stat::number_of_executed_units:\s+(\d+)", output)
    return Phase(
        executions=executions or last_number(r"^#(\d+)\s", "\n".join(output.splitlines()[-40:])),
        edges=last_number(r"\bcov: (\d+)", output),
        corpus=last_number(r"\bcorp: (\d+)", output),
        seconds=seconds,
        cpu_s=cpu_s,
        reproducer=artifact.group(1) if artifact else None,
        output=output,
    )


def execute(command: list[str], limit_s: float) -> Phase:
    """Runs one harness; a status that is no finding is no judgement either."""
    start = time.monotonic()
    try:
        process = subprocess.Popen(  # pylint: disable=consider-using-with
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=os.environ | SHORT_STACKS,
        )
    except OSError as error:
        raise NotJudged(f"{command[0]}: {error.strerror}") from error
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    alarm = threading.Timer(limit_s, end)
    alarm.start()
    try:
        assert process.stdout is not None
        with process.stdout:
            output = process.stdout.read()
        # The one call that tells the time that this child was on a CPU, and no other.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    finally:
        alarm.cancel()
    if late.is_set():
        raise NotJudged(f"no end after {limit_s:.0f} s: {shlex.join(command)}")
    phase = parse(output, time.monotonic() - start, usage.ru_utime + usage.ru_stime)
    if process.returncode != 0 and phase.reproducer is None:
        tail = output.strip().splitlines()[-1:] or ["no output"]
        raise NotJudged(f"status {process.returncode} without a reproducer ({tail[0]})")
    return phase


def pace(replayed: Phase, fuzzed: Phase) -> int:
    """Executions a second of the CPU, less what it took to load the corpus."""
    seconds = fuzzed.cpu_s - replayed.cpu_s
    return int((fuzzed.executions - replayed.executions) / seconds) if seconds > 0 else 0


def pace_of_empty(empty: Path, flags: list[str], folders: list[str]) -> int:
    """The pace of the empty harness: it keeps all inputs, as none of them differs to it."""
    command = [str(empty), *flags, "-keep_seed=1", "-reload=0"]
    with tempfile.TemporaryDirectory() as found:
        replayed = execute([*command, "-runs=0", found, *folders], REPLAY_LIMIT_S)
    with tempfile.TemporaryDirectory() as found:
        limit = f"-max_total_time={EMPTY_S}"
        return pace(replayed, execute([*command, limit, found, *folders], EMPTY_S + GRACE_S))


def longest(corpus: Path) -> int:
    """What an input may grow to, in bytes."""
    sizes = [p.stat().st_size for p in corpus.glob("*") if p.is_file()]
    return max(LEAST_LENGTH, 2 * max(sizes, default=0))


def flags_for(corpus: Path) -> list[str]:
    """What each run of a harness with this corpus is bounded by, and led by."""
    return [
        f"-max_len={longest(corpus)}",
        f"-timeout={INPUT_LIMIT_S}",
        f"-rss_limit_mb={MEMORY_LIMIT_MB}",
        "-print_final_stats=1",
        # The schedule by rare features costs more than half of the time where there are many.
        "-entropic=0",
    ]


def smallest(binary: Path, reproducer: str, flags: list[str]) -> str:
    """An input that ends the harness too, and is as small as some seconds allow; beside it."""
    made = f"{reproducer}.small"
    command = [str(binary), *flags, "-minimize_crash=1", f"-max_total_time={SMALLER_S}"]
    try:
        execute([*command, f"-exact_artifact_path={made}", reproducer], SMALLER_S + GRACE_S)
    except NotJudged:
        pass  # it ends without a status that says whether there is a smaller one
    there = Path(made)
    if not there.is_file() or there.stat().st_size >= Path(reproducer).stat().st_size:
        return reproducer
    return made


def merge(subject: str, binary: Path, corpus: Path) -> tuple[int, int]:
    """Keeps in the cache what reaches more than the corpus; how many inputs there were, and are.

    NotJudged: it could not be done, and the cache is as it was.
    """
    kept = cache_folder(subject)
    before = len(list(kept.iterdir())) if kept.is_dir() else 0
    if not binary.is_file():
        raise NotJudged(f"not built: {binary} (ci/build fuzz)")
    if before == 0:
        return 0, 0
    with store.new_folder(kept) as made:
        for seed in corpus.iterdir():
            shutil.copy(seed, made)
        command = [str(binary), "-merge=1", *flags_for(corpus), str(made), str(kept)]
        execute(command, MERGE_LIMIT_S)
        for seed in corpus.iterdir():
            (made / seed.name).unlink()
        after = len(list(made.iterdir()))
    return before, after


def judge(
    subject: str,
    binary: Path,
    empty: Path,
    corpus: Path,
    findings: Path,
    seconds: int,
    runs: int = 0,
) -> Outcome:
    """Replays and then fuzzes one harness: for a time, or until it ran so many inputs."""
    seeds = sum(1 for p in corpus.glob("*") if p.is_file()) if corpus.is_dir() else 0
    phases: list[Phase] = []
    error = ""
    beside = 0
    try:
        if not binary.is_file():
            raise NotJudged(f"not built: {binary} (ci/build fuzz)")
        if seeds == 0:
            raise NotJudged(f"no corpus: {corpus}")
        findings.mkdir(parents=True, exist_ok=True)
        cache = cache_folder(subject)
        cache.mkdir(parents=True, exist_ok=True)
        flags = flags_for(corpus)
        common = [
            str(binary),
            f"-artifact_prefix={findings}/",
            *flags,
        ]
        replay = [*common, "-runs=0", str(corpus)]
        phases.append(execute(replay, REPLAY_LIMIT_S))
        if phases[0].reproducer is None:
            words = ROOT / "fuzz" / "dict" / f"{subject}.dict"
            timed = [*common, *([f"-dict={words}"] if words.is_file() else [])]
            timed += [f"-runs={runs}" if runs else f"-max_total_time={seconds}"]
            limit_s = runs / LEAST_PACE if runs else seconds
            phases.append(execute([*timed, str(cache), str(corpus)], limit_s + GRACE_S))
            beside = pace_of_empty(empty, flags, [str(corpus)])
    except (NotJudged, OSError) as problem:
        error = str(problem)
    reproducers = tuple(p.reproducer for p in phases if p.reproducer is not None)
    small = [smallest(binary, reproducer, flags_for(corpus)) for reproducer in reproducers]
    for phase in phases:
        if phase.reproducer is not None:
            (findings / "output.txt").write_text(phase.output, encoding="utf-8")
    last = phases[-1] if phases else Phase(0, 0, 0, 0.0, 0.0, None, "")
    return Outcome(
        harness=subject,
        executions=sum(p.executions for p in phases),
        executions_per_s=int(last.executions / last.seconds) if last.seconds > 0 else 0,
        executions_per_cpu_s=pace(phases[0], last) if len(phases) > 1 else 0,
        empty_per_cpu_s=beside,
        edges=last.edges,
        corpus=last.corpus,
        replayed=seeds,
        findings=reproducers,
        repeat=tuple(f"{shlex.quote(str(binary))} {shlex.quote(r)}" for r in small),
        error=error,
        cases=2,
        passed=sum(1 for p in phases if p.reproducer is None),
    )


def ratio(outcome: Outcome) -> float:
    """How fast a harness is beside one that does nothing, 0 where that is not known."""
    empty = outcome.empty_per_cpu_s
    return outcome.executions_per_cpu_s / empty if empty else 0.0


def table(outcomes: list[Outcome]) -> str:
    """One line a harness, and the findings below."""
    head = (
        f"{'harness':<14}{'executions':>11}{'exec/s':>9}{'exec/cpu s':>12}{'empty':>9}{'ratio':>7}"
    )
    rows = [f"{head}{'edges':>7}{'corpus':>8}  findings"]
    for o in outcomes:
        what = f"not judged: {o.error}" if o.error else str(len(o.findings))
        speed = f"{o.executions_per_s:>9}{o.executions_per_cpu_s:>12}{o.empty_per_cpu_s:>9}"
        rows.append(
            f"{o.harness:<14}{o.executions:>11}{speed}{ratio(o):>7.3f}{o.edges:>7}{o.corpus:>8}  {what}"
        )
    for o in outcomes:
        for reproducer, repeat in zip(o.findings, o.repeat):
            rows.append(f"finding in {o.harness}: {reproducer}\n  repeat with: {repeat}")
    return "\n".join(rows)


def status(outcomes: list[Outcome]) -> int:
    """0 clean, 1 a finding, 2 not judged; a finding outweighs what could not be judged."""
    if any(o.findings for o in outcomes):
        return 1
    if not outcomes or any(o.error for o in outcomes):
        return 2
    return 0


def report(outcomes: list[Outcome], path: Path) -> None:
    """Writes the figures for machines."""
    cases = sum(o.cases for o in outcomes)
    passed = sum(o.passed for o in outcomes)
    totals = {
        "executions": sum(o.executions for o in outcomes),
        "findings": sum(len(o.findings) for o in outcomes),
        "cases": cases,
        "passed": passed,
        # What was not judged has not passed.
        "failed": cases - passed,
        "skipped": 0,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [asdict(o) | {"ratio": round(ratio(o), 4)} for o in outcomes]
    figures = {"totals": totals, "harnesses": rows}
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def as_run(outcome: Outcome) -> page.Run:
    """What the page has of it."""
    return page.Run(
        subject=outcome.harness,
        executions=outcome.executions,
        seconds=round(outcome.executions / max(1, outcome.executions_per_s), 1),
        reached=outcome.edges,
        corpus=outcome.corpus,
        findings=len(outcome.findings),
        ratio=round(ratio(outcome), 4),
    )


def merge_all(chosen: list[str], folder: Path) -> int:
    """Merges each; 0, or 2 if one could not be."""

    def one(subject: str) -> str:
        binary = folder / "fuzz" / f"{subject}_fuzzer"
        try:
            before, after = merge(subject, binary, ROOT / "fuzz" / "corpus" / subject)
        except (NotJudged, PmuvmError, OSError) as problem:
            return f"{subject:<14}not merged: {problem}"
        return f"{subject:<14}{before:>7} inputs, {after} kept"

    with ThreadPoolExecutor(max_workers=JOBS) as pool:
        said = list(pool.map(one, chosen))
    print("\n".join(said))
    return 2 if any("not merged: " in line for line in said) else 0


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=int, default=30, metavar="S", help="seconds in all (30)")
    parser.add_argument("--runs", type=int, metavar="N", help="inputs each, instead")
    parser.add_argument("--merge", action="store_true", help="minimise what runs found, instead")
    parser.add_argument("--harness", action="append", metavar="SUBJECT", help="only this one")
    options = parser.parse_args(argv)
    known = subjects(ROOT / "fuzz")
    chosen: list[str] = options.harness or known
    unknown = [s for s in chosen if s not in known]
    if unknown:
        print(f"fuzz: unknown harness {unknown[0]} (known: {', '.join(known)})", file=sys.stderr)
        return 2
    if options.time < 1:
        print("fuzz: --time must be at least 1 s", file=sys.stderr)
        return 2
    if options.runs is not None and options.runs < 1:
        print("fuzz: --runs must be at least 1", file=sys.stderr)
        return 2
    folder = ROOT / "build" / "fuzz"
    if options.merge:
        return merge_all(chosen, folder)
    seconds = max(1, options.time * min(JOBS, len(chosen)) // len(chosen) - EMPTY_S)
    each = f"{options.runs} inputs" if options.runs else f"{seconds} s"
    print(f"fuzz: {len(chosen)} harnesses, {each} each, {JOBS} at once", flush=True)

    def one(subject: str) -> Outcome:
        return judge(
            subject,
            folder / "fuzz" / f"{subject}_fuzzer",
            folder / "fuzz" / f"{EMPTY}_fuzzer",
            ROOT / "fuzz" / "corpus" / subject,
            folder / "findings" / subject,
            seconds,
            options.runs or 0,
        )

    with ThreadPoolExecutor(max_workers=JOBS) as pool:
        outcomes = list(pool.map(one, chosen))
    report(outcomes, folder / "results.json")
    written = page.write(as_run(outcome) for outcome in outcomes if not outcome.error)
    print(table(outcomes))
    print(f"with all runs on this machine: {written}")
    return status(outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
