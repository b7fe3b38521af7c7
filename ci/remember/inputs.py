# SPDX-License-Identifier: Apache-2.0
"""Inputs of commands by name, KIND:NAME, and a digest of the content that each name stands for."""

from __future__ import annotations

import fnmatch
import functools
import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pmubase import store

ABSENT = "absent"
GUEST = Path("build/guest")
CASES = GUEST / "conformance" / "CMakeFiles" / "pmuconf_cases.dir"
RUNNER = (
    "conformance/CMakeFiles/pmuconf.dir/main.cpp.o",
    *(
        f"conformance/{name}/libpmuconf_{name}.a"
        for name in ("text", "system", "perf", "stimulus", "target", "harness")
    ),
    "oracle/libpmuconf_errno_model.a",
    "oracle/spec/libpmuconf_specification.a",
    *(f"tools/{name}/libpmuconf_{name}.a" for name in ("repro", "specify", "watch")),
)
REPORT = ("conformance/report/libpmuconf_report.a",)
LINKED = ("libbpf-dev", "libelf-dev", "zlib1g-dev", "libgtest-dev", "libgmock-dev", "libc6-dev")
"""Packages of the libraries that the suite is linked with."""


class Inputs:
    """Digests of the inputs in one checkout. Each is computed once."""

    def __init__(self, root: Path = store.ROOT) -> None:
        self.root = root
        self._digests: dict[str, str] = {}
        self._kinds: dict[str, Callable[[str], str]] = {
            # A file of the project or below build/, and whether one exists. One that is absent has a digest, too.
            "file": lambda name: content(root / name),
            "exists": lambda name: "yes" if os.path.exists(root / name) else ABSENT,
            # The names of the project's files right below a folder; below the root for "/". All files that match.
            "names": self._names,
            "glob": self._glob,
            # The part of pmuconf that runs cases (`runner`) or reports, all `cases`, or those of one source.
            "suite": self._suite,
            "case": lambda name: content(root / CASES / f"{name.removeprefix('conformance/')}.o"),
            # Files of the cache that match, such as a pointer to a stock kernel; the package with a series' sources.
            "cache": lambda name: _hash(map(content, sorted(store.cache().glob(name)))),
            "source": _source,
            # The version that a program such as a compiler prints.
            "program": _program,
            # The version of a Debian package, or of all (`*`); a file of the machine that no package owns.
            "package": lambda name: packages().get(name, ABSENT),
            "system": lambda name: content(Path(name)),
            "env": lambda name: os.environ.get(name, ABSENT),
            "text": lambda text: text,
        }

    def digest(self, name: str) -> str:
        """A short text that changes with the content. KeyError if the name has no meaning."""
        if name not in self._digests:
            kind, _, rest = name.partition(":")
            self._digests[name] = self._kinds[kind](rest)
        return self._digests[name]

    def digests(self, names: Iterable[str]) -> dict[str, str]:
        """The digest of each name."""
        return {name: self.digest(name) for name in sorted(set(names))}

    def changed(self, recorded: Mapping[str, str]) -> list[str]:
        """The names whose content differs from the recorded digests."""
        return [name for name, digest in recorded.items() if self.digest(name) != digest]

    @functools.cached_property
    def files(self) -> list[str]:
        """The project's files: those in git, and new ones that git does not ignore."""
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        out = subprocess.run(command, cwd=self.root, check=True, capture_output=True).stdout
        names = sorted(set(out.decode().split("\0")) - {""})
        return [name for name in names if os.path.lexists(self.root / name)]

    @property
    def case_sources(self) -> list[str]:
        """The source files of cases."""
        return fnmatch.filter(self.files, "conformance/cases/*_test.cpp")

    def _names(self, folder: str) -> str:
        if folder == "/":
            return _hash(self.files)
        inside = "" if folder == "." else f"{folder}/"
        names = [name.removeprefix(inside) for name in self.files if name.startswith(inside)]
        return _hash(sorted({name.partition("/")[0] for name in names}))

    def _glob(self, pattern: str) -> str:
        found = fnmatch.filter(self.files, pattern)
        return _hash(part for name in found for part in (name, content(self.root / name)))

    def _suite(self, part: str) -> str:
        if part == "cases":
            return _hash(self.digest(f"case:{name}") for name in self.case_sources)
        linked = {"runner": RUNNER, "report": REPORT}[part]
        libraries = [packages().get(name, ABSENT) for name in LINKED]
        return _hash([*(content(self.root / GUEST / name) for name in linked), *libraries])


def content(path: Path) -> str:
    """A digest of a file's content and executable bit, or of a link's target."""
    try:
        if path.is_symlink():
            return _hash(["link", os.readlink(path)])
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()[:24]
        return f"{found}x" if path.stat().st_mode & 0o100 else found
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ABSENT


@functools.cache
def packages() -> dict[str, str]:
    """The Debian packages of this machine and their versions. `*` has a digest of them."""
    command = ["dpkg-query", "-W", "-f", "${binary:Package} ${Version}\n"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = (line.split() for line in [*out.splitlines(), f"* {_hash([out])}"])
    return {pair[0].partition(":")[0]: pair[1] for pair in pairs if len(pair) == 2}


def _program(name: str) -> str:
    try:
        done = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ABSENT
    return done.stdout.partition("\n")[0]


def _source(series: str) -> str:
    from vm import source, tree  # Few commands need it, and the import is slow.

    found = source.present(series, tree.cache())
    return found.name if found else ABSENT


def _hash(parts: Iterable[str]) -> str:
    return store.digest(part.encode() for part in parts)
