# SPDX-License-Identifier: Apache-2.0
"""The sources of perf_event_tests: from a folder, a git directory, or the public repository."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
from collections.abc import Sequence

from vm import store
from vm.errors import PmuvmError

REPOSITORY = "https://github.com/deater/perf_event_tests"
COMMIT = "cd135885e52f4fbecad0e66d36d15e9a73f6a56a"
SCRIPT = "run_tests.sh"
"""The suite's own script, which names its tests."""
PARTS = ("lib", "tests", "include", "Makefile.globals.inc", SCRIPT)
"""The files that the tests are built from."""
TEST = re.compile(r"^\s*\$TESTS_DIR/([\w.-]+/[\w.-]+)\s*$", re.M)
FETCH_S = 300


def copy_to(given: pathlib.Path | None, folder: pathlib.Path) -> None:
    """Copies the sources into an empty folder. `given`: a checkout or a git directory; None: the public repository."""
    if given is None:
        _archive(_fetched(), folder)
    elif (given / SCRIPT).is_file():
        _copy(given, folder)
    elif (given / "objects").is_dir() and (given / "HEAD").is_file():
        _archive(given, folder)
    else:
        raise PmuvmError(f"--source {given}: no {SCRIPT} and no git directory")


def tests(script: str) -> list[str]:
    """The names FOLDER/TEST in the text of the suite's script, in its order. PmuvmError if there are none."""
    found = list(dict.fromkeys(TEST.findall(script)))
    if not found:
        raise PmuvmError(f"{SCRIPT} names no test: is this perf_event_tests?")
    return found


def _copy(checkout: pathlib.Path, folder: pathlib.Path) -> None:
    for part in PARTS:
        source = checkout / part
        if source.is_dir():
            # Objects of an earlier build could be dynamic or of another compiler.
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("*.o", "*.a"))
        elif source.is_file():
            shutil.copyfile(source, folder / part)
        else:
            raise PmuvmError(f"--source {checkout}: no {part}")


def _archive(repository: pathlib.Path, folder: pathlib.Path) -> None:
    """Unpacks the pinned commit."""
    what = f"read commit {COMMIT} of {repository}"
    data = _git(["archive", COMMIT, *PARTS], repository, what)
    _process(["tar", "-x", "-C", str(folder)], what, data)


def _fetched() -> pathlib.Path:
    """A git directory in the cache that has the pinned commit."""
    place = store.cache() / "peer" / f"{COMMIT}.git"
    with store.locked(place.with_suffix(".lock")):
        if not place.is_dir():
            with store.new_folder(place) as fresh:
                what = f"fetch {REPOSITORY} (or name a copy with --source)"
                _git(["init", "--quiet", "--bare"], fresh, what)
                _git(["fetch", "--quiet", "--depth=1", REPOSITORY, COMMIT], fresh, what)
    return place


def _git(words: Sequence[str], repository: pathlib.Path, what: str) -> bytes:
    return _process(["git", f"--git-dir={repository}", *words], what)


def _process(argv: Sequence[str], what: str, data: bytes = b"") -> bytes:
    """The standard output of a program. PmuvmError if it fails: could not `what`."""
    try:
        done = subprocess.run(argv, input=data, capture_output=True, timeout=FETCH_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PmuvmError(f"could not {what}: {error}") from error
    if done.returncode != 0:
        errors = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise PmuvmError(f"could not {what}: {errors[-1] if errors else done.returncode}")
    return done.stdout
