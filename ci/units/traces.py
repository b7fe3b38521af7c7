# SPDX-License-Identifier: Apache-2.0
"""Finds the inputs of a command from an strace(1) log.

A command that reads the same files with the same content gives the same result, so these are all inputs of its record.
A file that the command wrote before it read it is not an input.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pmubase import store
from vm import arch

CALLS = (
    "open,openat,openat2,creat,execve,execveat,stat,lstat,newfstatat,statx,access,faccessat,"
    "faccessat2,rename,renameat,renameat2,mkdir,mkdirat,symlink,symlinkat,link,linkat,chdir,"
    "clone,clone3,fork,vfork"
)
LINE = re.compile(r"^(\d+) +(\w+)\((.*)\) += (-?\d+)(.*)$")
RESUMED = re.compile(r"^(\d+) +<\.\.\. (\w+) resumed>(.*)$")
FORK = re.compile(r"^\d+ +(?:clone3?|v?fork)\(")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
WRITING = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC")
SYSTEM = ("/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/opt/")
IGNORED = ("/proc/", "/sys/", "/dev/", "/tmp/", "/run/", "/var/", "/etc/", "/root/.cache/ccache")
PRODUCTS = (
    *("guest", "dev", "asan", "fuzz", "tidy", "bench"),
    *(f"guest-{name}" for name in arch.ARCHES),
)
"""Presets whose programs and generated sources are inputs. Other files below build/ only serve the programs that write
them."""
CACHES = (".pytest_cache", ".mypy_cache", ".hypothesis", "CACHEDIR.TAG")
"""Files that tools write only for themselves."""
SUITE = "build/guest/conformance/pmuconf"


def argv(command: Sequence[str], log: Path) -> list[str]:
    """The command under strace, which writes to `log`."""
    options = [
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-s",
        "4096",
        "-e",
        f"trace={CALLS}",
        "-e",
        "signal=none",
    ]
    return ["strace", *options, "-o", str(log), "--", *command]


@functools.cache
def can_trace() -> bool:
    """Whether this machine has strace and permits tracing."""
    if shutil.which("strace") is None:
        return False
    done = subprocess.run(argv(["true"], Path(os.devnull)), capture_output=True, check=False)
    return done.returncode == 0


def inputs(log: Path, root: Path, here: Path | None = None, probes: bool = True) -> set[str]:
    """The inputs that a traced command has read, as names of units.inputs.

    `here`: the start folder of the command, if not `root`. `probes`: include files that were searched but do not exist;
    a compiler searches for each header in many folders.
    """
    found: set[str] = set()
    with log.open(encoding="utf-8", errors="replace") as lines:
        for path, how in _reads(lines, str(here or root)):
            name = _name(path, how, root)
            if not probes and not os.path.lexists(path):
                continue
            if name is not None:
                found.add(name)
    return found


def _reads(lines: Iterable[str], start: str) -> Iterator[tuple[str, str]]:
    """Absolute paths and the type of each access: the `file`, the `names` in a folder, or only whether it `exists`."""
    written: set[str] = set()
    seen: set[tuple[str, str]] = set()
    folders: dict[str, str] = {}
    begun: dict[str, str] = {}
    parent = ""
    for line in lines:
        if line.rstrip().endswith("<unfinished ...>"):
            pid = line.split(" ", 1)[0]
            begun[pid] = line.rstrip().removesuffix("<unfinished ...>").rstrip()
            if FORK.search(line):
                parent = pid
            continue
        resumed = RESUMED.match(line)
        if resumed:
            line = begun.pop(resumed[1], f"{resumed[1]} {resumed[2]}(") + resumed[3]
        match = LINE.match(line.rstrip())
        if match is None:
            continue
        pid, call, arguments, status, rest = match.groups()
        if pid not in folders:
            # A child may run before the call that created it returns.
            folders[pid] = folders.get(parent, start)
        here = folders[pid]
        if FORK.search(line):
            if status != "-1":
                folders.setdefault(status, here)
            continue
        names = [_absolute(name, here) for name in _names(call, arguments)]
        if not names:
            continue
        good = not status.startswith("-")
        if call == "chdir":
            if good:
                folders[pid] = names[0]
        elif call in ("rename", "renameat", "renameat2", "symlink", "symlinkat", "link", "linkat"):
            if good:
                written.add(names[-1])
        elif call in ("mkdir", "mkdirat"):
            if good:
                written.add(names[0])
        elif call == "creat" or (call.startswith("open") and WRITING.search(arguments)):
            if good:
                written.add(names[0])
        elif good or "ENOENT" in rest or "ENOTDIR" in rest:
            how = "names" if "O_DIRECTORY" in arguments else "file"
            if "stat" in call or "access" in call or not good:
                how = "exists"
            read = (names[0], how)
            if read not in seen and names[0] not in written:
                seen.add(read)
                yield read


def _names(call: str, arguments: str) -> list[str]:
    """The paths among the arguments of a call. It is empty if a path is relative to an open folder."""
    if "at" in call and call not in ("stat", "lstat", "creat"):
        # In the *at calls each path follows its folder.
        found = re.findall(r'(AT_FDCWD|-?\d+)(?:<[^>]*>)?, "((?:[^"\\]|\\.)*)"', arguments)
        if call in ("symlinkat",):
            return STRING.findall(arguments)
        return [name for base, name in found if base == "AT_FDCWD" or name.startswith("/")]
    if call in ("execve", "open", "stat", "lstat", "access", "chdir", "mkdir", "creat", "statx"):
        return STRING.findall(arguments)[:1]
    return STRING.findall(arguments)


def _absolute(name: str, here: str) -> str:
    return os.path.normpath(os.path.join(here, name))


def _name(path: str, how: str, root: Path) -> str | None:
    """The input name of a path; None if the path is no input."""
    base, cache = f"{root}/", f"{store.cache()}/"
    if path == str(root):
        return "names:." if how == "names" else None
    if path.startswith(base):
        name = path.removeprefix(base)
        if name == ".git/index":
            return "names:/"
        if name == ".git" or name.startswith((".git/", *CACHES)) or "__pycache__" in name:
            return None
        if name == "build" or name.startswith("build/"):
            return _product(name, root)
        if how == "file" and os.path.isdir(path):
            return None
        return f"{how}:{name}"
    if path.startswith(cache):
        name = path.removeprefix(cache)
        # All other files of the cache are named by their content, so a name is enough.
        return f"cache:{name}" if re.fullmatch(r"kernels/[^/]+\.json", name) else None
    if path.startswith(IGNORED) or not path.startswith(SYSTEM):
        return None
    owner = owners().get(os.path.realpath(path)) or owners().get(path)
    if owner is not None:
        return f"package:{owner}"
    return f"system:{path}" if os.path.isfile(path) and "/__pycache__/" not in path else None


def _product(name: str, root: Path) -> str | None:
    if name == SUITE:
        return "suite:report"
    path = root / name
    if name.split("/")[1:2] and name.split("/")[1] in PRODUCTS and path.is_file():
        if "/generated/" in name or (os.access(path, os.X_OK) and "CMakeFiles" not in name):
            return f"product:{name}"
    return None


@functools.cache
def owners() -> dict[str, str]:
    """The Debian package of each installed file."""
    found = {}
    for path in Path("/var/lib/dpkg/info").glob("*.list"):
        package = path.stem.partition(":")[0]
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            found[line] = package
            if line.startswith(("/lib/", "/bin/", "/sbin/", "/lib64/")):
                found[f"/usr{line}"] = package
    return {line: package for line, package in found.items() if not os.path.isdir(line)}
