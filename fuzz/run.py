# SPDX-License-Identifier: Apache-2.0
"""Replays the corpora, then fuzzes each harness for some time, and reports findings.

--merge runs no new inputs. It keeps only the inputs of earlier runs that reach more code than the others, and adds them
to the archives of the corpora.
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
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from fuzz import corpora, page
from pmubase import store
from pmubase.errors import UserError

ROOT = Path(__file__).resolve().parent.parent

JOBS = 2
REPLAY_LIMIT_S = 120
# Additional time for a harness: loading the corpus, and one slow input.
GRACE_S = 60
INPUT_LIMIT_S = 10
MEMORY_LIMIT_MB = 1024
# Inputs may grow to twice the longest one of the corpus, and at least to this length.
LEAST_LENGTH = 512
# Short stack traces of allocations: a repeated finding has the complete ones.
SHORT_STACKS = {"ASAN_OPTIONS": "malloc_context_size=2"}
# The harness without code under test, and the time that it runs next to each other harness.
EMPTY = "empty"
EMPTY_S = 1
# Five times slower than the slowest harness on a busy machine.
MIN_PACE = 200
# Time limit to minimise a finding.
MINIMIZE_S = 20
MERGE_LIMIT_S = 3600


class NotJudged(Exception):
    """A harness could not be judged. The text is one line with the cause."""


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
    """The result of one harness. A finding is an input that violates a property."""

    harness: str
    executions: int
    executions_per_s: int
    """Executions per second of wall-clock time."""
    executions_per_cpu_s: int
    """Executions per second of CPU time, without the time to load the corpus."""
    empty_per_cpu_s: int
    """The same for the empty harness, with the same flags, initial inputs and lengths."""
    edges: int
    corpus: int
    replayed: int
    findings: tuple[str, ...]
    repeat: tuple[str, ...]
    """For each finding, the smallest input that also ends the harness."""
    error: str
    cases: int
    passed: int


def subjects(fuzz: Path) -> list[str]:
    """All harnesses, from their source files."""
    return corpora.subjects(fuzz)


def cache_folder(subject: str) -> Path:
    """The folder in which random inputs are kept between runs, outside of the checkout."""
    return store.cache() / "fuzz" / subject


def last_number(pattern: str, text: str) -> int:
    """The last match of a one-group pattern as a number; 0 without a match."""
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def parse(output: str, seconds: float, cpu_s: float) -> Phase:
    """Parses the output of libFuzzer."""
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
    """Runs one harness. NotJudged for a status that is neither success nor a finding."""
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
        # wait4() is the only call that returns the CPU time of this child alone.
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


def executions_per_cpu_s(replayed: Phase, fuzzed: Phase) -> int:
    """Executions per second of CPU time, without the time to load the corpus."""
    seconds = fuzzed.cpu_s - replayed.cpu_s
    return int((fuzzed.executions - replayed.executions) / seconds) if seconds > 0 else 0


def empty_harness_speed(empty: Path, flags: list[str], folders: list[str]) -> int:
    """The speed of the empty harness. It keeps all inputs, since they all reach the same code."""
    command = [str(empty), *flags, "-keep_seed=1", "-reload=0"]
    with tempfile.TemporaryDirectory() as found:
        replayed = execute([*command, "-runs=0", found, *folders], REPLAY_LIMIT_S)
    with tempfile.TemporaryDirectory() as found:
        limit = f"-max_total_time={EMPTY_S}"
        return executions_per_cpu_s(
            replayed, execute([*command, limit, found, *folders], EMPTY_S + GRACE_S)
        )


def max_input_length(sizes: Iterable[int]) -> int:
    """Maximum length of an input in bytes, from the lengths of a corpus."""
    return max(LEAST_LENGTH, 2 * max(sizes, default=0))


def flags_for(corpus: Path) -> list[str]:
    """The flags for a harness with this corpus: its limits, and its choice of inputs."""
    return [
        f"-max_len={max_input_length(p.stat().st_size for p in corpus.glob('*') if p.is_file())}",
        f"-timeout={INPUT_LIMIT_S}",
        f"-rss_limit_mb={MEMORY_LIMIT_MB}",
        "-print_final_stats=1",
        # The schedule by rare features takes more than half of the time if there are many features.
        "-entropic=0",
    ]


def minimize(binary: Path, reproducer: str, flags: list[str]) -> str:
    """The smallest input found within the time limit that also ends the harness, written next to the finding."""
    made = f"{reproducer}.small"
    command = [str(binary), *flags, "-minimize_crash=1", f"-max_total_time={MINIMIZE_S}"]
    try:
        execute([*command, f"-exact_artifact_path={made}", reproducer], MINIMIZE_S + GRACE_S)
    except NotJudged:
        pass  # Without a valid status it is unknown whether the input also ends the harness.
    there = Path(made)
    if not there.is_file() or there.stat().st_size >= Path(reproducer).stat().st_size:
        return reproducer
    return made


def merge(subject: str, binary: Path, corpus: Path) -> tuple[int, int]:
    """Keeps the inputs in the cache that reach more code than the corpus. Returns the numbers of inputs before and
    after.

    NotJudged: the merge failed, and the cache is unchanged.
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
    """Replays and then fuzzes one harness, for a time or a number of inputs."""
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
            limit_s = runs / MIN_PACE if runs else seconds
            phases.append(execute([*timed, str(cache), str(corpus)], limit_s + GRACE_S))
            beside = empty_harness_speed(empty, flags, [str(corpus)])
    except (NotJudged, OSError) as problem:
        error = str(problem)
    reproducers = tuple(p.reproducer for p in phases if p.reproducer is not None)
    small = [minimize(binary, reproducer, flags_for(corpus)) for reproducer in reproducers]
    for phase in phases:
        if phase.reproducer is not None:
            (findings / "output.txt").write_text(phase.output, encoding="utf-8")
    last = phases[-1] if phases else Phase(0, 0, 0, 0.0, 0.0, None, "")
    return Outcome(
        harness=subject,
        executions=sum(p.executions for p in phases),
        executions_per_s=int(last.executions / last.seconds) if last.seconds > 0 else 0,
        executions_per_cpu_s=executions_per_cpu_s(phases[0], last) if len(phases) > 1 else 0,
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
    """The speed relative to the empty harness; 0 if unknown."""
    empty = outcome.empty_per_cpu_s
    return outcome.executions_per_cpu_s / empty if empty else 0.0


def table(outcomes: list[Outcome]) -> str:
    """A line for each harness, and the findings below."""
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
    """Returns 0 if clean, 1 for a finding, 2 if not judged. A finding takes precedence over a harness that was not
    judged."""
    if any(o.findings for o in outcomes):
        return 1
    if not outcomes or any(o.error for o in outcomes):
        return 2
    return 0


def report(outcomes: list[Outcome], path: Path) -> None:
    """Writes the results for programs."""
    cases = sum(o.cases for o in outcomes)
    passed = sum(o.passed for o in outcomes)
    totals = {
        "executions": sum(o.executions for o in outcomes),
        "findings": sum(len(o.findings) for o in outcomes),
        "cases": cases,
        "passed": passed,
        # A harness that was not judged counts as failed.
        "failed": cases - passed,
        "skipped": 0,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [asdict(o) | {"ratio": round(ratio(o), 4)} for o in outcomes]
    figures = {"totals": totals, "harnesses": rows}
    path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def as_run(outcome: Outcome) -> page.Run:
    """The row of the page."""
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
    """Merges each harness, and adds the inputs that it keeps to the archive of the corpus. Returns 0, or 2 if one merge
    failed."""

    def one(subject: str) -> str:
        binary = folder / "fuzz" / f"{subject}_fuzzer"
        try:
            before, after = merge(subject, binary, corpora.unpacked(subject))
            kept = sorted(cache_folder(subject).iterdir()) if after else []
            new = corpora.add(subject, [path.read_bytes() for path in kept])
        except (NotJudged, UserError, corpora.CorpusError, OSError) as problem:
            return f"{subject:<14}not merged: {problem}"
        return f"{subject:<14}{before:>7} inputs, {after} kept, {new} added to the archive"

    with ThreadPoolExecutor(max_workers=JOBS) as pool:
        rows = list(pool.map(one, chosen))
    print("\n".join(rows))
    return 2 if any("not merged: " in line for line in rows) else 0


def main(argv: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python3 -m fuzz.run", description=__doc__)
    parser.add_argument("--time", type=int, default=30, metavar="S", help="seconds in total (30)")
    parser.add_argument(
        "--runs", type=int, metavar="N", help="number of inputs for each harness, instead of a time"
    )
    parser.add_argument(
        "--merge",
        action="store_true",
        help="minimise the inputs of earlier runs instead, and add them to the archives",
    )
    parser.add_argument(
        "--harness", action="append", metavar="SUBJECT", help="run only this harness"
    )
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
    try:
        corpus = {subject: corpora.unpacked(subject) for subject in chosen}
    except corpora.CorpusError as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 2
    seconds = max(1, options.time * min(JOBS, len(chosen)) // len(chosen) - EMPTY_S)
    each = f"{options.runs} inputs" if options.runs else f"{seconds} s"
    print(f"fuzz: {len(chosen)} harnesses, {each} each, {JOBS} at the same time", flush=True)

    def one(subject: str) -> Outcome:
        return judge(
            subject,
            folder / "fuzz" / f"{subject}_fuzzer",
            folder / "fuzz" / f"{EMPTY}_fuzzer",
            corpus[subject],
            folder / "findings" / subject,
            seconds,
            options.runs or 0,
        )

    with ThreadPoolExecutor(max_workers=JOBS) as pool:
        outcomes = list(pool.map(one, chosen))
    report(outcomes, folder / "results.json")
    written = page.write(as_run(outcome) for outcome in outcomes if not outcome.error)
    print(table(outcomes))
    print(f"page of all runs on this machine: {written}")
    return status(outcomes)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
