# SPDX-License-Identifier: Apache-2.0
"""Reviews the source of a PMU driver: files, folders, or a patch with the tree that it applies to."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from pmubase.errors import UserError

from . import kernel_tree, patch, reply, report, waive
from .engine import review
from .facts import read_text
from .view import BREACH, Finding


class Parser(argparse.ArgumentParser):
    """Reports an error in the arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"review: {message}; see {self.prog} --help\n")


def read_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of the command."""
    parser = Parser(prog="python3 -m review", description=__doc__)
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="a source, a folder of sources, or patches",
    )
    parser.add_argument(
        "--tree", type=Path, help="the kernel tree that a patch applies to, or that has the driver"
    )
    parser.add_argument(
        "--waive",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="accepted findings, or a target file that has them",
    )
    parser.add_argument("--files", default="", help="paths, in one argument")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument(
        "--json", action="store_true", help="print the findings as JSON of this project"
    )
    shape.add_argument("--sarif", action="store_true", help="print the findings as SARIF 2.1.0")
    shape.add_argument("--reply", action="store_true", help="print a patch as an inline reply")
    options = parser.parse_args(argv)
    options.paths += [Path(word) for word in options.files.split()]
    if not options.paths:
        parser.error("name a source, a folder or a patch: FILES=")
    return options


def sources(paths: Sequence[Path]) -> list[Path]:
    """The sources of files and folders. In a folder they are those that register a PMU."""
    found = []
    for path in paths:
        if path.is_dir():
            inside = [file for file in sorted(path.rglob("*.c")) if _has_pmu(file)]
            if not inside:
                raise UserError(f"{path}: no source in this folder registers a PMU")
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise UserError(f"{path}: no such file or folder")
    return found


def _has_pmu(file: Path) -> bool:
    try:
        text = read_text(file)
    except UserError:
        return True  # The review reports its error.
    return patch.has_pmu(text)


def main(argv: Sequence[str]) -> int:
    """Status 0: no breach. Status 1: a breach. Status 2: a file could not be reviewed."""
    options = read_arguments(argv)
    try:
        waivers = [waiver for path in options.waive for waiver in waive.read(path)]
        patches = [path for path in options.paths if patch.is_patch(path)]
        if patches:
            return _review_patch(options, patches, waivers)
        if options.reply:
            raise UserError("--reply needs a patch")
        files = sources(options.paths)
        findings, errors = review(files)
        if options.tree:
            findings = sorted([*findings, *kernel_tree.review(options.tree, files)])
        return _print(options, files, findings, errors, waivers)
    except UserError as error:
        print(f"review: {error}", file=sys.stderr)
        return 2


def _review_patch(
    options: argparse.Namespace, patches: Sequence[Path], waivers: Sequence[waive.Waiver]
) -> int:
    """Reviews patches in a copy of the folders that they change."""
    if len(options.paths) != len(patches):
        raise UserError("a patch, and a source or a folder with it: name one of them")
    if not options.tree:
        raise UserError(
            f"{patches[0]}: a patch needs --tree DIR, the kernel tree that it applies to"
        )
    with tempfile.TemporaryDirectory(prefix="review.") as made:
        scratch = Path(made).resolve() / "new"
        scratch.mkdir()
        applied = patch.apply(patches, options.tree, scratch)
        files = applied.sources()
        findings, errors = review(files)
        before = patch.before(applied, options.tree, Path(made).resolve() / "old")
        findings = patch.own(applied, findings, review(before)[0], len(before))
        if options.reply:
            left, _ = waive.split(findings, waivers)
            print(reply.reply(applied, left) or "No finding is on a line that the patch adds.")
            _report(errors)
            return _status(left, errors)
        named = [
            Finding(f.file.relative_to(scratch), f.line, f.check, f.verdict, f.message)
            for f in findings
        ]
        errors = [error.replace(f"{scratch}/", "") for error in errors]
        return _print(options, [f.relative_to(scratch) for f in files], named, errors, waivers)


def _print(
    options: argparse.Namespace,
    files: Sequence[Path],
    findings: Sequence[Finding],
    errors: Sequence[str],
    waivers: Sequence[waive.Waiver],
) -> int:
    remaining, waived = waive.split(findings, waivers)
    if options.json:
        print(json.dumps(report.document(remaining, files, errors), indent=1))
    elif options.sarif:
        print(json.dumps(report.sarif(remaining), indent=1))
    else:
        for finding in remaining:
            print(report.line_of(finding))
        print(report.summary(remaining, len(waived), len(files)))
    _report(errors)
    return _status(remaining, errors)


def _report(errors: Sequence[str]) -> None:
    for error in errors:
        print(f"review: {error}", file=sys.stderr)


def _status(findings: Sequence[Finding], errors: Sequence[str]) -> int:
    if any(finding.verdict == BREACH for finding in findings):
        return 1
    return 2 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
