# SPDX-License-Identifier: Apache-2.0
"""Finds the inputs of a command from an strace(1) log: what it read, without what it wrote before."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pmubase import store

CALLS = (
    "open,openat,openat2,creat,execve,execveat,stat,lstat,newfstatat,statx,access,faccessat,"
    "faccessat2,rename,renameat,renameat2,mkdir,mkdirat,symlink,symlinkat,link,linkat,chdir,"
    "clone,clone3,fork,vfork"
)
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)(.*)$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$")
FORK = re.compile(r"^\d+ +(?:clone3?|v?fork)\(")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
AT = re.compile(rf"(AT_FDCWD|-?\d+), {STRING.pattern}")
OPEN_TO_WRITE = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
TWO_PATHS = ("rename", "symlink", "link")
PRODUCT = re.compile(r"build/(guest(-\w+)?|dev|asan|fuzz|tidy|bench)/")
"""Presets whose programs and generated sources are inputs. Other files below build/ only serve the programs that write
them."""
CACHES = (".git/", ".pytest_cache/", ".mypy_cache/", ".hypothesis/", "CACHEDIR.TAG/")
"""Files that tools write only for themselves."""
SOURCE = re.compile(r"/packages/linux-source-([\d.]+)_[^/]+\.deb$")
POINTER = re.compile(r"kernels/[^/]+\.json")
"""The only files of the cache whose name does not determine their content."""
SUITE = "build/guest/conformance/pmuconf"


def argv(command: Sequence[str], log: Path) -> list[str]:
    """The command under strace, which writes to `log`."""
    options = ["-f", "--seccomp-bpf", "-qq", "-s", "4096", "-e", f"trace={CALLS}"]
    return ["strace", *options, "-e", "signal=none", "-o", str(log), "--", *command]


@functools.cache
def can_trace() -> bool:
    """Whether this machine has strace and permits tracing."""
    if shutil.which("strace") is None:
        return False
    done = subprocess.run(argv(["true"], Path(os.devnull)), capture_output=True, check=False)
    return done.returncode == 0


def inputs(log: Path, root: Path, here: Path | None = None) -> set[str]:
    """The inputs that a traced command has read. `here`: its start folder, if not `root`."""
    with log.open(encoding="utf-8", errors="replace") as lines:
        found = {_name(path, how, root) for path, how in _reads(lines, str(here or root))}
    return {name for name in found if name is not None}


def _reads(lines: Iterable[str], start: str) -> Iterator[tuple[str, str]]:
    """Absolute paths and the type of each access: the `file`, the `names` in a folder, or only whether it `exists`."""
    written: set[str] = set()
    folders: dict[str, str] = {}
    begun: dict[str, str] = {}
    parent = ""
    for line in map(str.rstrip, lines):
        if line.endswith("<unfinished ...>"):
            pid = line.split(" ", 1)[0]
            begun[pid] = line.removesuffix("<unfinished ...>").rstrip()
            parent = pid if FORK.search(line) else parent
            continue
        if resumed := RESUMED.match(line):
            line = begun.pop(resumed[1], f"{resumed[1]} {resumed[2]}(") + resumed[3]
        match = LINE.match(line)
        if match is None:
            continue
        pid, call, arguments, status, rest = match.groups()
        # A child may run before the call that created it returns.
        here = folders.setdefault(pid, folders.get(parent, start))
        good = not status.startswith("-")
        if FORK.search(line):
            if good:
                folders.setdefault(status, here)
            continue
        names = [os.path.normpath(os.path.join(here, name)) for name in _names(call, arguments)]
        if not names:
            continue
        if call == "chdir":
            if good:
                folders[pid] = names[0]
        elif call.startswith((*TWO_PATHS, "mkdir", "creat")) or (
            call.startswith("open") and OPEN_TO_WRITE.search(arguments)
        ):
            if good:
                written.add(names[-1])
        elif names[0] not in written and (good or "ENOENT" in rest or "ENOTDIR" in rest):
            only_tested = "stat" in call or "access" in call or not good
            folder = "O_DIRECTORY" in arguments
            yield names[0], "exists" if only_tested else "names" if folder else "file"


def _names(call: str, arguments: str) -> list[str]:
    """The paths among the arguments of a call, without those that are relative to an open folder."""
    if pairs := AT.findall(arguments):
        return [name for base, name in pairs if base == "AT_FDCWD" or name.startswith("/")]
    return STRING.findall(arguments)[: 2 if call in TWO_PATHS else 1]


def _name(path: str, how: str, root: Path) -> str | None:
    """The name of the input at a path; None if the path is no input."""
    if path == str(root):
        return "names:." if how == "names" else None
    if path.startswith(f"{root}/"):
        name = path.removeprefix(f"{root}/")
        if name == ".git/index":
            return "names:/"
        if name == SUITE:
            return "suite:report"
        if f"{name}/".startswith(CACHES) or "__pycache__" in name:
            return None
        if f"{name}/".startswith("build/"):
            used = PRODUCT.match(name) and os.path.isfile(path) and "CMakeFiles" not in name
            used = used and ("/generated/" in name or os.access(path, os.X_OK))
            return f"file:{name}" if used else None
        if how == "file" and os.path.isdir(path):
            return None
        return f"{how}:{name}"
    if package := SOURCE.search(path):
        return f"source:{package[1]}"
    if path.startswith(f"{store.cache()}/"):
        name = path.removeprefix(f"{store.cache()}/")
        return f"cache:{name}" if POINTER.fullmatch(name) else None
    real = os.path.realpath(path)
    if not real.startswith(("/usr/", "/opt/")) or not os.path.isfile(real):
        return None
    if owner := owners().get(real):
        return f"package:{owner}"
    return f"system:{path}" if "/__pycache__/" not in path else None


@functools.cache
def owners() -> dict[str, str]:
    """The Debian package of each installed file."""
    found = {}
    for path in Path("/var/lib/dpkg/info").glob("*.list"):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            name = line if line.startswith(("/usr/", "/opt/")) else f"/usr{line}"
            found[name] = path.stem.partition(":")[0]
    return found
