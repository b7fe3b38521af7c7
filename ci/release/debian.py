# SPDX-License-Identifier: Apache-2.0
"""The package for Debian and its source package, made by debhelper and checked by lintian."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ci.release.programs import run
from ci.release.source import Source
from pmubase import store
from pmubase.errors import UserError
from vm.arch import AMD64


def build(source: Source, program: Path, page: Path, out: Path) -> list[Path]:
    """Makes pmuconf_VERSION_amd64.deb of a program and its manual page, and the source package. Returns all files."""
    environment = os.environ | source.environment
    with store.scratch(out) as folder:
        top = folder / f"pmuconf-{source.version}"
        archive = folder / "source.tar"
        words = ["git", "-C", str(source.root), "archive", f"--prefix={top.name}/"]
        run([*words, "-o", str(archive), source.commit])
        run(["tar", "-C", str(folder), "-xf", str(archive)])
        archive.unlink()
        made = top / "debian" / "made"
        run(["dpkg-source", "--threads-max=1", "-b", top.name], cwd=folder, env=environment)
        made.mkdir()
        for file, name in ((program, "pmuconf"), (page, "pmuconf.1")):
            shutil.copy(file, made / name)
        # The build uses these files, so it needs none of the packages for a build.
        words = ["dpkg-buildpackage", "--build=binary", "-d", "-nc", "-us", "-uc"]
        run([*words, f"-a{AMD64.name}"], cwd=top, env=environment)
        files = sorted(file for file in folder.iterdir() if _is_package(file))
        lint([file for file in files if file.suffix in (".deb", ".dsc")])
        return [Path(shutil.copy(file, out / file.name)) for file in files]


def lint(files: list[Path]) -> None:
    """UserError, with what lintian found, if it found an error or a warning."""
    words = ["lintian", "--allow-root", "--fail-on", "error,warning", "--tag-display-limit", "0"]
    try:
        run([*words, *map(str, files)])
    except UserError as error:
        raise UserError("lintian found errors in the packages", details=error.details) from error


def _is_package(file: Path) -> bool:
    # Those of debug information and the lists of the build are no part of a release.
    return file.name.endswith((".deb", ".dsc", ".tar.xz")) and "-dbgsym_" not in file.name
