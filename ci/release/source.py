# SPDX-License-Identifier: Apache-2.0
"""The commit that a release is made of."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from pathlib import Path

from pmubase.errors import UserError

COMMIT_DIGITS = 12
VERSION = re.compile(r"^project\(pmuconf VERSION (\S+) ", re.M)


@dataclasses.dataclass(frozen=True)
class Source:
    """A checkout without changes."""

    root: Path
    commit: str
    time: int
    """Of the commit, in seconds. All files of the release have it."""
    version: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables that make programs write the same bytes each time."""
        return {
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "SOURCE_DATE_EPOCH": str(self.time),
            "PMUCONF_COMMIT": self.commit,
        }


def read(root: Path) -> Source:
    """The commit in a checkout. UserError if files were changed since: no commit would have the release's sources."""
    changed = git(root, "status", "--porcelain").splitlines()
    if changed:
        raise UserError(f"a release is made of a commit: commit {changed[0][3:]} first")
    found = VERSION.search((root / "CMakeLists.txt").read_text("utf-8"))
    if found is None:
        raise UserError(f"{root}/CMakeLists.txt states no version")
    commit = git(root, "rev-parse", f"--short={COMMIT_DIGITS}", "HEAD").strip()
    time = int(git(root, "log", "-1", "--format=%ct"))
    return Source(root, commit, time, found[1])


def git(root: Path, *words: str) -> str:
    """The output of a command of git. UserError if it fails."""
    done = subprocess.run(
        ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UserError(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout
