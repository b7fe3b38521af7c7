# SPDX-License-Identifier: Apache-2.0
"""Results of runs for tests: streams of the suite that `pmuconf report` judges."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from results import document
from results.document import Run

ROOT = Path(__file__).resolve().parents[2]
PMUCONF = ROOT / "build" / "guest" / "conformance" / "pmuconf"
TIMEOUT_S = 60
RELEASES = {"6.12": "6.12.9", "6.1": "6.1.9", "7.2": "7.2.9"}


def cases() -> list[dict[str, Any]]:
    """All cases of the suite."""
    done = subprocess.run(
        [PMUCONF, "list", "--target", "refpmu", "--json"],
        capture_output=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    found = json.loads(done.stdout)["cases"]
    assert isinstance(found, list)
    return found


def judged(
    folder: Path,
    target: str = "refpmu",
    kernel: str = "6.12",
    arch: str = "x86_64",
    failed: Mapping[str, str] | None = None,
    skipped: Mapping[str, str] | None = None,
    measured: Mapping[str, list[dict[str, Any]]] | None = None,
) -> Run:
    """A judged run. `failed`: messages by case; `skipped`: messages of cases whose claim is missing. All other cases
    passed. `measured`: measurements by case."""
    failed, skipped = failed or {}, skipped or {}
    everything = cases()
    head: dict[str, Any] = {
        "t": "run",
        "target": target,
        "kernel": kernel,
        "release": RELEASES[kernel],
    }
    head |= {"arch": arch, "profile": "", "partial": False}
    lines: list[dict[str, Any]] = [head | {"selected": [case["id"] for case in everything]}]
    for case in everything:
        name = case["id"]
        line = {"t": "result", "id": name, "rules": case["rules"], "duration_s": 0.25}
        if name in failed:
            line |= {"result": "FAIL", "message": failed[name]}
        elif name in skipped:
            line |= {"result": "SKIP", "message": skipped[name], "skip_reason": "not_claimed"}
            line["capability"] = skipped[name].removeprefix("needs ")
        else:
            line |= {"result": "PASS", "message": ""}
        if measured and name in measured:
            line["measurements"] = measured[name]
        lines.append(line)
    folder.mkdir(parents=True)
    stream = folder / "stream.jsonl"
    text = "".join(json.dumps(line) + "\n" for line in [*lines, {"t": "end"}])
    stream.write_text(text, encoding="utf-8")
    words = ["report", "--stream", str(stream), "--target", target, "--out", str(folder)]
    subprocess.run([str(PMUCONF), *words], capture_output=True, check=False, timeout=TIMEOUT_S)
    return document.read(folder)
