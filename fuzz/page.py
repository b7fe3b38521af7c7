# SPDX-License-Identifier: Apache-2.0
"""Writes the page of fuzzing: the last run of each subject, and the sum of all runs on this machine.

The cache has a file with a line for each run, so that many short runs count like a long one.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import json
import subprocess
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from pmubase import store

ROOT = Path(__file__).resolve().parent.parent

PAGE = ROOT / "build" / "fuzz" / "page.md"
GIT_LIMIT_S = 60
HEAD = (
    *("subject", "executions", "a second", "relative to the empty harness", "reached", "corpus"),
    *("findings", "last", "of", "executions, all runs", "hours", "findings, all runs"),
)


@dataclasses.dataclass(frozen=True)
class Run:
    """A run of one subject."""

    subject: str
    """A harness, or a target and the kernel of its guest."""
    executions: int
    seconds: float
    reached: int
    """Edges of a harness; code locations of a kernel with coverage."""
    corpus: int
    findings: int
    ratio: float = 0.0
    """The speed relative to the empty harness; 0 if there is no comparison."""
    when: float = 0.0
    commit: str = ""


def history_file() -> Path:
    """The file with all runs, outside of the checkout."""
    return store.cache() / "fuzz" / "history.jsonl"


def commit() -> str:
    """The tested commit, followed by + if files differ from it; empty outside of a checkout."""
    words = [
        "git",
        "-C",
        str(ROOT),
        "describe",
        "--always",
        "--abbrev=12",
        "--exclude=*",
        "--dirty=+",
    ]
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, check=False, timeout=GIT_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def append_runs(runs: Iterable[Run], path: Path) -> None:
    """Appends runs in one write, since other processes may append too."""
    now, made = time.time(), commit()
    lines = [
        json.dumps(dataclasses.asdict(dataclasses.replace(run, when=now, commit=made)))
        for run in runs
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab", buffering=0) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


def read_runs(path: Path) -> list[Run]:
    """All recorded runs. Lines in the format of another version are ignored."""
    names = {field.name for field in dataclasses.fields(Run)}
    found: list[Run] = []
    if not path.is_file():
        return found
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            data = json.loads(line)
        except ValueError:
            continue
        if isinstance(data, dict) and data.keys() == names:
            found.append(Run(**data))
    return found


def text(runs: Sequence[Run]) -> str:
    """The page."""
    by_subject: dict[str, list[Run]] = collections.defaultdict(list)
    for run in runs:
        by_subject[run.subject].append(run)
    rows = ["| " + " | ".join(HEAD) + " |", "|---" * len(HEAD) + "|"]
    for subject in sorted(by_subject):
        own = by_subject[subject]
        last = own[-1]
        day = datetime.datetime.fromtimestamp(last.when, datetime.timezone.utc)
        cells = (
            subject,
            last.executions,
            f"{last.executions / last.seconds:.0f}" if last.seconds > 0 else "",
            f"{last.ratio:.3f}" if last.ratio else "",
            last.reached or "",
            last.corpus,
            last.findings,
            f"{day:%Y-%m-%d %H:%M}",
            last.commit,
            sum(run.executions for run in own),
            f"{sum(run.seconds for run in own) / 3600:.2f}",
            sum(run.findings for run in own),
        )
        rows.append("| " + " | ".join(map(str, cells)) + " |")
    note = (
        "The last fuzzing run of each subject, and the sum of all runs on this machine. `reached` counts edges of the code\n"
        "under test, or code locations of a kernel with coverage. The findings and their repro commands are in\n"
        "`build/fuzz/results.json` and `build/fuzz-vm/results.json`.\n"
    )
    return f"# Fuzzing\n\n{note}\n" + "\n".join(rows) + "\n"


def write(runs: Iterable[Run], page: Path = PAGE) -> Path:
    """Records runs and rewrites the page."""
    append_runs(runs, history_file())
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text(read_runs(history_file())), encoding="utf-8")
    return page
