# SPDX-License-Identifier: Apache-2.0
"""Reads the file results.json of a run. docs/formats.md describes its keys."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from results import measurements
from results.errors import ResultsError

NAME = "results.json"
KEYS: dict[str, Any] = {
    **{key: str for key in ("verdict", "reason", "target", "kernel", "release", "arch", "profile")},
    "verdict_of": str,
    **{key: dict for key in ("totals", "skip_reasons")},
    **{key: list for key in ("verdicts", "cases", "rules", "drafts", "problems")},
}
"""The keys that a page needs, and their types."""
CASE_KEYS = {"id": str, "rules": list, "result": str, "duration_s": (int, float), "message": str}
VERDICT_KEYS = {"subject": str, "verdict": str, "reason": str}
RULE_KEYS: dict[str, Any] = {
    **dict.fromkeys(("id", "level", "subject", "result", "text", "why"), str),
    "source": list,
}


@dataclass(frozen=True)
class Run:
    """A judged run."""

    path: Path
    data: dict[str, Any]
    """The whole document. The types of KEYS, CASE_KEYS, VERDICT_KEYS and RULE_KEYS, and the measurements, are checked."""

    @property
    def place(self) -> str:
        """Target, kernel and architecture."""
        kernel = self.data["kernel"] or self.data["release"]
        return f"{self.data['target']}, {kernel}, {self.data['arch']}"


def read(path: Path) -> Run:
    """Reads a file, or the file results.json of a folder."""
    file = path / NAME if path.is_dir() else path
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultsError(f"{file}: {error.strerror}") from error
    except ValueError as error:
        raise ResultsError(f"{file}: no JSON: {error}") from error
    if not isinstance(data, dict):
        raise ResultsError(f"{file}: no object")
    _check(file, "", data, KEYS)
    for case in data["cases"]:
        _check(file, "cases: ", case, CASE_KEYS)
        measurements.of_case(case, str(file))
    for verdict in data["verdicts"]:
        _check(file, "verdicts: ", verdict, VERDICT_KEYS)
    for rule in [*data["rules"], *data["drafts"]]:
        _check(file, "rules: ", rule, RULE_KEYS)
    return Run(file, data)


def read_all(paths: Iterable[Path]) -> list[Run]:
    """The runs in the order of the paths."""
    return [read(path) for path in paths]


def _check(file: Path, where: str, data: Any, keys: dict[str, Any]) -> None:
    for key, kind in keys.items():
        if not isinstance(data, dict) or not isinstance(data.get(key), kind):
            raise ResultsError(f"{file}: {where}key '{key}' is missing or has a wrong type")
