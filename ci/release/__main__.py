# SPDX-License-Identifier: Apache-2.0
"""Makes a release of the checked-out commit: docs/release.md."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from ci.release import debian, manuals, programs, runner, source
from ci.release.source import Source
from pmubase import store
from pmubase.errors import UserError
from vm import arch, release

RECIPE = "Containerfile"
FIRST = arch.AMD64


def main(argv: Sequence[str]) -> int:
    """Makes the release. Status 2: it could not be made, and the folder has none."""
    parser = argparse.ArgumentParser(prog="python3 -m ci.release", description=__doc__)
    parser.add_argument("--out", type=Path, default=store.ROOT / "build" / "release")
    parser.add_argument("--key", help="the key of gpg that signs SHA256SUMS")
    parser.add_argument("--arches", default=",".join(arch.ARCHES), help="default: all")
    parser.add_argument(
        "--kernels", default=",".join(runner.known_kernels()), help="those with a module"
    )
    options = parser.parse_args(argv)
    try:
        made = make(
            source.read(store.ROOT),
            options.out,
            list(dict.fromkeys([FIRST.name, *words_of(options.arches)])),
            words_of(options.kernels),
        )
        sign(options.out, options.key)
    except UserError as error:
        if error.details:
            print(error.details, file=sys.stderr)
        print(f"release: {error}", file=sys.stderr)
        return 2
    print(f"release of {len(made)} files: {options.out}")
    return 0


def words_of(listed: str) -> list[str]:
    """The words between the commas of an option."""
    return [word for word in listed.split(",") if word]


def make(of: Source, out: Path, arches: list[str], kernels: list[str]) -> list[str]:
    """Makes all files but the signature, in the empty folder `out`. Returns their names."""
    wanted = [arch.find(name) for name in arches]
    with store.new_folder(out) as folder:
        built = [programs.build(each, of, folder) for each in wanted]
        runner.build_modules(kernels, of, folder)
        pages = manuals.write(of, built[0], folder)
        modules = [path for path in folder.rglob("*.ko")]
        names = [str(path.relative_to(folder)) for path in (*built[:1], *pages, *modules)]
        runner.pack(of, folder, names)
        debian.build(of, built[0], pages[0], folder)
        shutil.copyfile(of.root / "ci" / "release" / RECIPE, folder / RECIPE)
        every = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
        runner.write_sums(folder, every)
    return every


def sign(out: Path, key: str | None) -> None:
    """Signs the sums with a key of gpg, or prints that there is no signature."""
    if not key:
        print("release: no signature, since no KEY is given")
        return
    words = ["gpg", "--batch", "--yes", "--armor", "--detach-sign", "--local-user", key]
    programs.run([*words, str(out / release.SUMS)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
