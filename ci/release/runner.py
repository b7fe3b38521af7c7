# SPDX-License-Identifier: Apache-2.0
"""The runner of a release: a tar with pmuvm, the target files, the program and the modules, which needs no compiler."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ci.release.programs import run
from ci.release.source import Source
from pmubase import store
from vm import kernel, module, release, stock
from vm.arch import AMD64
from vm.packages import NoPackage

FILES = (
    *("pmubase", "results", "vm", ":(glob)faults/*.py", "LICENSES", "README.md", "CHANGELOG.md"),
    *(f"conformance/{name}" for name in ("golden.txt", "profiles", "rules", "targets")),
    *("conformance/untested.toml", "conformance/waivers", "docs/install.md", "docs/release.md"),
)
"""The sources that pmuvm and the page of a run need."""
START = """\
#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs pmuvm of this release.
here=$(dirname "$(readlink -f "$0")")
export PYTHONPATH="$here" PMUCONF_ROOT="$here" PMUCONF_RELEASE="$here/release"
exec /usr/bin/python3 -B -m vm "$@"
"""


def build_modules(names: list[str], source: Source, out: Path) -> None:
    """Builds the driver for stock kernels, into the folders in `out` where pmuvm looks for it."""
    for name in names:
        try:
            found = kernel.find(name, AMD64)
        except NoPackage as error:
            print(f"release: no module: {error}")
            continue
        if found.build is None:
            print(f"release: no module for {found.release}: the distribution has no headers for it")
            continue
        built = module.build(found, source.root / "driver", module.default_out(found))
        place = out / release.place(found)
        place.mkdir(parents=True)
        for file in sorted(built.parent.glob("*.ko")):
            shutil.copyfile(file, place / file.name)


def known_kernels() -> list[str]:
    """The stock kernels whose headers the distribution has."""
    return [name for name in stock.names() if name in AMD64.kernels and AMD64.kernels[name].headers]


def pack(source: Source, out: Path, names: list[str]) -> Path:
    """The tar, with the files `names` of the release in `out`."""
    top = f"pmuvm-{source.version}"
    made = out / f"{top}.tar.xz"
    with store.scratch(out) as folder:
        archive = folder / "source.tar"
        words = ["git", "-C", str(source.root), "archive", f"--prefix={top}/", "-o", str(archive)]
        run([*words, source.commit, *FILES])
        run(["tar", "-C", str(folder), "-xf", str(archive)])
        start = folder / top / "pmuvm"
        start.write_text(START, encoding="utf-8")
        start.chmod(0o755)
        inner = folder / top / "release"
        for name in names:
            (inner / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(out / name, inner / name)
        write_sums(inner, names)
        tar(folder, top, made, source)
    return made


def tar(folder: Path, name: str, made: Path, source: Source) -> None:
    """Packs `name` of a folder. The same files give the same bytes."""
    owned = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=go=rX,u+rw,a-s"]
    # Several threads compress to other bytes than one.
    words = ["tar", "-C", str(folder), *owned, f"--mtime=@{source.time}", "--use-compress-program"]
    run([*words, "xz -T1", "-cf", str(made), name], env=os.environ | source.environment)


def write_sums(folder: Path, names: list[str]) -> None:
    """Writes SHA256SUMS of files in a folder."""
    text = run(["sha256sum", "--", *sorted(names)], cwd=folder)
    store.write(folder / release.SUMS, text.encode())
