# SPDX-License-Identifier: Apache-2.0
"""Inputs of units by name, and a digest of the content that each name stands for.

| name             | content                                                                     |
|------------------|-----------------------------------------------------------------------------|
| `file:PATH`      | a file of the project; one that is absent has a digest, too                 |
| `exists:PATH`    | whether the project has a file, or a folder with files                      |
| `names:/`        | the names of all files of the project                                       |
| `names:FOLDER`   | the names of the project's files right below a folder                       |
| `glob:PATTERN`   | names and contents of the project's files that match                        |
| `product:PATH`   | a file below build/                                                         |
| `suite:runner`   | the part of `pmuconf` that runs cases: the program without cases and reports |
| `suite:report`   | the part of it that lists, judges and reports                               |
| `suite:cases`    | the object files of all cases                                               |
| `target:NAME`    | a target with its bases, and the driver if its module is the target's       |
| `case:PATH`      | the object file of a source of cases                                        |
| `cache:PATH`     | a file of the cache, such as the pointer to a stock kernel                  |
| `source:SERIES`  | the package with a kernel's sources that is in the cache                    |
| `package:NAME`   | the version of a Debian package                                             |
| `program:NAME`   | the version that a program such as a compiler states                        |
| `system:PATH`    | a file of the machine that no package owns                                  |
| `env:NAME`       | a variable of the environment                                               |
| `text:TEXT`      | the text itself: a command with its parameters                              |
"""

from __future__ import annotations

import fnmatch
import functools
import hashlib
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError
from vm import module, source, suite, tree

ABSENT = "absent"
GUEST = Path("build/guest")
CASES = GUEST / "conformance" / "CMakeFiles" / "pmuconf_cases.dir"
RUNNER = (
    "conformance/CMakeFiles/pmuconf.dir/main.cpp.o",
    "conformance/text/libpmuconf_text.a",
    "conformance/system/libpmuconf_system.a",
    "conformance/perf/libpmuconf_perf.a",
    "conformance/stimulus/libpmuconf_stimulus.a",
    "conformance/target/libpmuconf_target.a",
    "conformance/harness/libpmuconf_harness.a",
    "oracle/libpmuconf_errno_model.a",
    "tools/repro/libpmuconf_repro.a",
    "tools/watch/libpmuconf_watch.a",
)
REPORT = ("conformance/report/libpmuconf_report.a",)
LINKED = ("libbpf-dev", "libelf-dev", "zlib1g-dev", "libgtest-dev", "libgmock-dev", "libc6-dev")
"""Packages of the libraries that the suite is linked with."""


class InputError(Exception):
    """An input name has no meaning. The message has the name."""


class Inputs:
    """Digests of the inputs in one checkout. Each is computed once; call `forget` after a build."""

    def __init__(self, root: Path = store.ROOT) -> None:
        self.root = root
        self._digests: dict[str, str] = {}
        self._kinds: dict[str, Callable[[str], str]] = {
            "file": self._file,
            "exists": lambda name: "yes" if os.path.exists(self.root / name) else ABSENT,
            "names": self._names,
            "glob": self._glob,
            "product": self._file,
            "suite": self._suite,
            "target": self._target,
            "case": self._case,
            "cache": lambda name: content(store.cache() / name),
            "source": _source,
            "package": lambda name: packages().get(name, ABSENT),
            "program": _program,
            "system": lambda name: content(Path(name)),
            "env": lambda name: os.environ.get(name, ABSENT),
            "text": lambda text: text,
        }

    def digest(self, name: str) -> str:
        """A short text that changes with the content."""
        if name not in self._digests:
            kind, colon, rest = name.partition(":")
            if not colon or kind not in self._kinds:
                raise InputError(f"unknown input '{name}'")
            self._digests[name] = self._kinds[kind](rest)
        return self._digests[name]

    def digests(self, names: Iterable[str]) -> dict[str, str]:
        """The digest of each name."""
        return {name: self.digest(name) for name in sorted(set(names))}

    def changed(self, recorded: Mapping[str, str]) -> list[str]:
        """The names whose content differs from the recorded digests."""
        return [name for name, digest in recorded.items() if self.digest(name) != digest]

    def forget(self, *kinds: str) -> None:
        """Drops the digests of inputs of these kinds, since a build changed them."""
        self._digests = {n: d for n, d in self._digests.items() if n.partition(":")[0] not in kinds}

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

    @functools.cached_property
    def _folders(self) -> dict[str, set[str]]:
        folders: dict[str, set[str]] = {}
        for name in self.files:
            while name:
                folder, _, last = name.rpartition("/")
                folders.setdefault(folder, set()).add(last)
                name = folder
        return folders

    def _file(self, name: str) -> str:
        return content(self.root / name)

    def _names(self, folder: str) -> str:
        if folder == "/":
            return _hash(self.files)
        return _hash(sorted(self._folders.get("" if folder == "." else folder, ())))

    def _glob(self, pattern: str) -> str:
        found = fnmatch.filter(self.files, pattern)
        return _hash(part for name in found for part in (name, self._file(name)))

    def _suite(self, part: str) -> str:
        if part == "cases":
            return _hash(self._case(name) for name in self.case_sources)
        linked = {"runner": RUNNER, "report": REPORT}.get(part)
        if linked is None:
            raise InputError(f"unknown input 'suite:{part}'")
        libraries = [packages().get(name, ABSENT) for name in LINKED]
        return _hash([*(self._file(str(GUEST / name)) for name in linked), *libraries])

    def _target(self, name: str) -> str:
        try:
            found = suite.find_target(name)
        except UserError:
            return ABSENT  # pmuconf is not built yet; this input is read again after the build.
        driver = self.digests(driver_inputs(self.root)) if found.module else {}
        return _hash([found.merged, *driver.values()])

    def _case(self, source: str) -> str:
        return self._file(str(CASES / f"{source.removeprefix('conformance/')}.o"))


def package_files(folder: str) -> tuple[str, ...]:
    """The inputs that the modules and schemas of a Python package are, without those of the folders in it."""
    paths = sorted((store.ROOT / folder).iterdir())
    return tuple(f"file:{folder}/{path.name}" for path in paths if path.suffix in (".py", ".json"))


def driver_inputs(root: Path = store.ROOT) -> list[str]:
    """The inputs of the driver's module."""
    driver = root / "driver"
    return [
        *(f"glob:driver/{name}/*" for name in module.SOURCES if (driver / name).is_dir()),
        *(f"file:driver/{name}" for name in module.SOURCES if (driver / name).is_file()),
        "program:gcc",
    ]


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
    """The Debian packages of this machine and their versions."""
    command = ["dpkg-query", "-W", "-f", "${binary:Package} ${Version}\n"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = (line.split() for line in out.splitlines())
    return {pair[0].partition(":")[0]: pair[1] for pair in pairs if len(pair) == 2}


def key(digests: Mapping[str, str]) -> str:
    """One digest of all inputs of a unit."""
    return _hash(part for name in sorted(digests) for part in (name, digests[name]))


def _program(name: str) -> str:
    try:
        done = subprocess.run([name, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ABSENT
    return done.stdout.partition("\n")[0]


def _source(series: str) -> str:
    found = source.present(series, tree.cache())
    return found.name if found else ABSENT


def _hash(parts: Iterable[str]) -> str:
    return store.digest(part.encode() for part in parts)
