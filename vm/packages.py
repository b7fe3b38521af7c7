# SPDX-License-Identifier: Apache-2.0
"""Resolves, downloads and unpacks packages of the distribution, without root and without installing them.

The packages come from the suites (releases) that the host is configured for, or from another suite of the same archive.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence

from pmubase import store
from pmubase.errors import UserError

from .arch import Arch

TIMEOUT_S = 900
STATUS_NO_PACKAGE = 3
"""The exit status of a command that NoPackage ends."""

# The state is private, so that neither root nor a fresh `apt-get update` of the host is needed. The hooks of the host's
# configuration must not run on it.
CONFIG = """\
Dir::State "{state}";
Dir::State::status "{state}/status";
Dir::Cache "{state}/cache";
APT::Architecture "{architecture}";
APT::Architectures {{ "{architecture}"; }};
APT::Sandbox::User "{user}";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::IndexTargets::deb-src;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::Contents-deb;
"""


class NoPackage(UserError):
    """The distribution has no such package, or has it no more."""


@dataclasses.dataclass(frozen=True)
class Package:
    """One version of one package, as in the distribution's index."""

    name: str
    version: str
    sha256: str
    depends: tuple[str, ...]


KEYRING = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
BACKPORTS = "-backports"
OS_RELEASE = pathlib.Path("/etc/os-release")


class Apt:
    """apt with a private state below `folder`. Only one process at a time may use it (the caller holds a lock).

    `suite`: the release that packages come from, such as "sid"; None for those that the host is configured for.
    """

    def __init__(self, folder: pathlib.Path, architecture: str, suite: str | None = None) -> None:
        self._folder = folder
        self.suite = suite
        self._config = folder / "apt.conf"
        self._warnings: list[str] = []
        with store.writing(folder):
            for part in ("lists/partial", "cache/archives/partial"):
                (folder / part).mkdir(parents=True, exist_ok=True)
            (folder / "status").touch()
        text = CONFIG.format(
            state=folder, architecture=architecture, user="root" if os.geteuid() == 0 else ""
        )
        store.write(self._config, text.encode())
        if suite is not None:
            self._use(suite, text)

    def _use(self, suite: str, config: str) -> None:
        """Replaces the host's sources by one suite of the archive that the host uses, with the same keys."""
        # Before its release, apt's sources may give it a name that changes its meaning.
        release = _field(OS_RELEASE, "VERSION_CODENAME")
        releases = {release, "testing", "unstable", "sid"}
        argv = [
            "apt-get",
            "indextargets",
            "--no-release-info",
            "--format",
            "$(RELEASE) $(REPO_URI)",
        ]
        lines = self._run(argv, "read the host's apt sources").stdout.splitlines()
        uri = next((line.split()[1] for line in lines if line.split()[0] in releases), None)
        if uri is None:
            raise NoPackage(f"the host's apt sources have no release '{release}' ({OS_RELEASE})")
        keys = f"[signed-by={KEYRING}] " if KEYRING.is_file() else ""
        sources = self._folder / "sources.list"
        # Packages of backports depend on packages of the release.
        suites = dict.fromkeys([suite.removesuffix(BACKPORTS), suite])
        lines = [f"deb {keys}{uri} {name} main\n" for name in suites]
        store.write(sources, "".join(lines).encode())
        own = f'Dir::Etc::sourcelist "{sources}";\nDir::Etc::sourceparts "-";\n'
        store.write(self._config, (config + own).encode())

    def update(self) -> None:
        """Downloads the package lists."""
        stderr = self._run(["apt-get", "update", "-q"], "fetch the lists of packages").stderr
        # One failed source is no error: the packages may come from another one.
        self._warnings = [line for line in stderr.splitlines() if line.startswith(("W:", "E:"))]

    def closure(self, names: Sequence[str], follow: Callable[[str], bool]) -> list[Package]:
        """`names` and those of their dependencies for which `follow` is true, sorted by name."""
        found: dict[str, Package] = {}
        wanted = list(names)
        while wanted:
            batch = sorted(set(wanted) - found.keys())
            wanted = []
            if not batch:
                break
            for package in self._show(batch):
                found[package.name] = package
                wanted += [name for name in package.depends if follow(name)]
            for name in batch:
                if name not in found:
                    cause = f" ({self._warnings[0]})" if self._warnings else ""
                    place = f"suite {self.suite}" if self.suite else "host's apt sources"
                    raise NoPackage(f"no package '{name}' in the {place}{cause}")
        return [found[name] for name in sorted(found)]

    def newest(self, globs: Sequence[str]) -> list[str]:
        """The names of the newest packages that match `globs`, all of one version; `globs` if there are none.

        The names have a version between the two parts of a glob, as in linux-image-7.2.*-cloud.
        """
        versions = []
        for glob in globs:
            prefix, _, suffix = glob.partition("*")
            argv = ["apt-cache", "pkgnames", prefix]
            names = self._run(argv, "read the lists of packages").stdout.split()
            fitting = fnmatch.filter(names, glob)
            versions.append({name.removeprefix(prefix).removesuffix(suffix) for name in fitting})
        newest = max(set.intersection(*versions), key=_natural, default="*")
        return [glob.replace("*", newest) for glob in globs]

    def download(self, packages: Sequence[Package], into: pathlib.Path) -> list[pathlib.Path]:
        """Downloads packages (apt verifies their checksums) into a folder. Returns the paths of the .deb files."""
        names = [f"{package.name}={package.version}" for package in packages]
        what = f"fetch {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")
        with store.writing(into):
            into.mkdir(parents=True, exist_ok=True)
        self._run(["apt-get", "download", "-q", *names], what, cwd=into)
        files = sorted(into.glob("*.deb"))
        if len(files) != len(packages):
            raise UserError(f"could not {what}: {len(files)} of {len(packages)} files arrived")
        return files

    def _show(self, names: Sequence[str]) -> list[Package]:
        argv = ["apt-cache", "show", "--no-all-versions", *names]
        # The status only shows that one of them is missing; the caller checks which.
        return parse_show(self._run(argv, "read the lists of packages", fail=False).stdout)

    def _run(
        self, argv: list[str], what: str, cwd: pathlib.Path | None = None, fail: bool = True
    ) -> subprocess.CompletedProcess[str]:
        program, *rest = argv
        return process([program, "-c", str(self._config), *rest], what, cwd or self._folder, fail)


def search(
    folder: pathlib.Path,
    architecture: str,
    suites: Sequence[str | None],
    find: Callable[[Apt], list[Package]],
) -> tuple[Apt, list[Package]]:
    """The packages that `find` finds in the first of `suites` that has them, and its apt. NoPackage if none has them."""
    missing = []
    for suite in suites:
        try:
            apt = Apt(folder / (f"apt-{suite}" if suite else "apt"), architecture, suite)
            apt.update()
            return apt, find(apt)
        except NoPackage as error:
            missing.append(str(error))
    raise NoPackage("; ".join(missing))


def _natural(version: str) -> list[tuple[bool, int, str]]:
    """A key that sorts numbers in versions as numbers."""
    return [
        (part.isdigit(), int(part) if part.isdigit() else 0, part)
        for part in re.findall(r"\d+|\D+", version)
    ]


def _field(path: pathlib.Path, key: str) -> str:
    """The value of a line KEY=VALUE; "" if there is none."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    values = [line.partition("=")[2].strip('"') for line in lines if line.startswith(f"{key}=")]
    return values[0] if values else ""


def run(argv: list[str], what: str, cwd: pathlib.Path) -> str:
    """Runs a program of the host and returns its standard output. UserError if it fails: could not `what`."""
    return process(argv, what, cwd).stdout


def process(
    argv: list[str], what: str, cwd: pathlib.Path, fail: bool = True
) -> subprocess.CompletedProcess[str]:
    """Runs a program of the host. UserError if it fails (and `fail`): could not `what`."""
    if shutil.which(argv[0]) is None:
        raise UserError(f"cannot {what}: no program '{argv[0]}' on this machine")
    try:
        done = subprocess.run(
            argv,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"could not {what}: no end after {TIMEOUT_S} s") from None
    if fail and done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.strip()]
        cause = next((line for line in errors if line.startswith(("E:", "dpkg"))), "")
        cause = cause or (errors[-1] if errors else f"status {done.returncode}")
        raise UserError(f"could not {what}: {cause.strip()}")
    return done


def unpack(deb: pathlib.Path, into: pathlib.Path) -> None:
    """Unpacks the files of a package, without running its scripts."""
    run(["dpkg", "-x", str(deb), str(into)], f"unpack {deb.name}", into)


def parse_show(text: str) -> list[Package]:
    """The packages in the output of `apt-cache show`."""
    packages = []
    for stanza in text.split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", stanza, re.MULTILINE))
        if "Package" not in fields:
            continue
        alternatives = [item.split("|")[0] for item in fields.get("Depends", "").split(",")]
        depends = tuple(item.split()[0].split(":")[0] for item in alternatives if item.split())
        packages.append(
            Package(
                name=fields["Package"],
                version=fields.get("Version", ""),
                sha256=fields.get("SHA256", ""),
                depends=depends,
            )
        )
    return packages


def relink(root: pathlib.Path, place: pathlib.Path, programs: str, of: Arch) -> None:
    """Makes the unpacked programs in the folders `programs` (a glob) of `root` use the C library of `root`, which may
    be newer than the host's. They work when `root` has become `place`, on a machine of the architecture `of`.
    """
    # Packages of Debian 12 have libraries in both folders.
    folders = [pathlib.Path(top) / of.triple for top in ("usr/lib", "lib")]
    home = next((each for each in folders if (root / each / of.loader).exists()), folders[0])
    libraries = ":".join(str(place / folder) for folder in folders)
    words = ["patchelf", "--set-interpreter", str(place / home / of.loader)]
    words += ["--set-rpath", libraries]
    for path in sorted(root.glob(f"{programs}/**/*")):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b"\x7fELF":
            run([*words, str(path)], f"set the C library of {path.name}", root)
