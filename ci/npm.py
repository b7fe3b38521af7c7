# SPDX-License-Identifier: Apache-2.0
"""Installs the npm packages that a folder lists in package.json and package-lock.json, into the cache."""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pmubase import store
from pmubase.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = ("package.json", "package-lock.json")
CAUSE = re.compile(r"^npm (?:error|ERR!) code (\w+)", re.M)
NETWORK = {"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH"}
INSTALL_S = 300


def modules(tool: Path) -> Path:
    """The folder with the packages that the package-lock.json of `tool` lists. Installs it if it is missing."""
    parts = [(tool / name).read_bytes() for name in MANIFEST]
    final = store.cache() / "npm" / store.digest(parts)
    if not final.is_dir():
        with store.locked(final.with_name(f"{final.name}.lock")):
            if not final.is_dir():
                with store.new_folder(final) as folder:
                    install(tool, folder)
    return final / "node_modules"


def install(tool: Path, folder: Path) -> None:
    """Runs npm ci in `folder`."""
    for name in MANIFEST:
        shutil.copy(tool / name, folder / name)
    npm = shutil.which("npm")
    if npm is None:
        raise UserError("no program npm, which this needs: run ci/install-deps")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    command += ["--fetch-retries=1", "--fetch-timeout=30000"]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise UserError(f"npm ci did not end within {INSTALL_S} s") from error
    if done.returncode != 0:
        code = CAUSE.search(done.stderr)
        cause = f"code {code[1]}" if code else f"status {done.returncode}"
        if code and code[1] in NETWORK:
            cause = f"npm cannot reach its registry (code {code[1]})"
        where = tool.relative_to(ROOT) if tool.is_relative_to(ROOT) else tool
        raise UserError(f"npm ci of {where} failed: {cause}")


def main(argv: Sequence[str]) -> int:
    """Installs the packages of folders."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.npm", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="folders with a package.json")
    for folder in parser.parse_args(argv).folders:
        if not (folder / MANIFEST[0]).is_file():
            print(f"npm: {folder}: no file {MANIFEST[0]}", file=sys.stderr)
            return 2
        try:
            modules(folder.resolve())
        except UserError as error:
            print(f"npm: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
