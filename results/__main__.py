# SPDX-License-Identifier: Apache-2.0
"""The command line: page, history, site, rules, explain, bundle, verify, kcidb."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NoReturn

from pmubase.errors import UserError
from results import bundle, document, evidence, history, kcidb, page, reports, signature, site


class Parser(argparse.ArgumentParser):
    """Reports an error in the arguments in one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"results: {message}; see {self.prog} --help\n")


def main(argv: Sequence[str]) -> int:
    """Runs one command. Status 2: the command could not run."""
    parser = Parser(prog="python3 -m results", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    shown = commands.add_parser("page", help="write runs as one HTML file")
    shown.add_argument("runs", nargs="+", type=Path, help="results.json, or its folder")
    shown.add_argument("--out", type=Path, required=True, help="the HTML file")
    shown.set_defaults(command=_page)
    _history_commands(commands)
    made = commands.add_parser("site", help="make a static site of documents and results")
    made.add_argument("--file", type=Path, default=history.default_file(), help="the history")
    made.add_argument("--out", type=Path, required=True, help="the folder of the site")
    made.set_defaults(command=_site)
    _rule_commands(commands)
    _bundle_commands(commands)
    _kcidb_command(commands)
    options = parser.parse_args(argv)
    try:
        return int(options.command(options))
    except UserError as error:
        print(f"results: {error}", file=sys.stderr)
        return 2


def _history_commands(commands: Any) -> None:
    kept = commands.add_parser("history", help="keep the results of runs, and compare commits")
    actions = kept.add_subparsers(required=True, metavar="ACTION")
    add = actions.add_parser("add", help="add runs")
    add.add_argument("runs", nargs="+", type=Path, help="results.json, or its folder")
    add.add_argument("--commit", help="default: that of this checkout")
    add.add_argument("--machine", default=platform.node(), help="default: the name of this host")
    add.set_defaults(command=_add)
    show = actions.add_parser("show", help="list the runs, the newest last")
    show.add_argument("--target", default="*", metavar="GLOB")
    show.add_argument("--kernel", default="*", metavar="GLOB")
    show.add_argument("--last", type=int, default=50, metavar="N", help="at most N runs (50)")
    show.set_defaults(command=_show)
    diff = actions.add_parser("diff", help="the rules whose results differ between two commits")
    diff.add_argument("old", nargs="?", help="default: the commit before the last one")
    diff.add_argument("new", nargs="?", help="default: the last commit")
    diff.set_defaults(command=_diff)
    for action in (add, show, diff):
        action.add_argument("--file", type=Path, default=history.default_file())


def _rule_commands(commands: Any) -> None:
    written = commands.add_parser("rules", help="write pages about all rules, with their evidence")
    written.add_argument("--out", type=Path, required=True, help="the folder of the pages")
    written.set_defaults(command=_rules)
    explained = commands.add_parser("explain", help="print a rule or a case, with its evidence")
    explained.add_argument("--id", required=True, help="of a rule, or of a case")
    explained.set_defaults(command=_explain)


def _rules(options: argparse.Namespace) -> int:
    evidence.write_pages(options.out)
    print(options.out / evidence.INDEX)
    return 0


def _explain(options: argparse.Namespace) -> int:
    print(evidence.explain(options.id), end="")
    return 0


def _bundle_commands(commands: Any) -> None:
    packed = commands.add_parser("bundle", help="pack the record of a run for somebody else")
    packed.add_argument("folder", type=Path, help="the folder of the run")
    packed.add_argument("--target", default="", help="its target file, if it is not built in")
    packed.add_argument("--config", type=Path, help="the configuration of the kernel")
    packed.add_argument("--key", type=Path, help="an SSH key that signs the bundle")
    packed.add_argument("--out", type=Path, required=True, help="the bundle, as NAME.tar.gz")
    packed.set_defaults(command=_bundle)
    verified = commands.add_parser("verify", help="judge a bundle again, and compare the claim")
    verified.add_argument("bundle", type=Path)
    verified.add_argument(
        "--signers",
        type=Path,
        help="allowed signers, as for ssh-keygen; the bundle needs a signature",
    )
    verified.set_defaults(command=_verify)


def _kcidb_command(commands: Any) -> None:
    printed = commands.add_parser("kcidb", help="print runs as a report for KCIDB, of KernelCI")
    printed.add_argument("runs", nargs="+", type=Path, help="results.json, or its folder")
    printed.add_argument("--origin", default="pmuconf", help="the name of your CI system (pmuconf)")
    printed.add_argument("--build", default="", metavar="ID", help="a build that KCIDB knows")
    printed.add_argument("--machine", default="", help="a comment on the machine")
    printed.set_defaults(command=_kcidb)


def _kcidb(options: argparse.Namespace) -> int:
    found = document.read_all(options.runs)
    report = kcidb.report(found, options.origin, options.build, options.machine)
    print(json.dumps(report, indent=1))
    return 0


def _site(options: argparse.Namespace) -> int:
    site.make(options.file, options.out.absolute())
    print(options.out / "index.html")
    return 0


def _bundle(options: argparse.Namespace) -> int:
    manifest = bundle.pack(options.folder, options.target, options.config, options.out)
    print(f"{options.out}: {manifest['verdict']}, {manifest['target']} on {manifest['release']}")
    if options.key is not None:
        print(signature.sign(options.out, options.key))
    return 0


def _verify(options: argparse.Namespace) -> int:
    """Status 0: the claim is true, whatever its verdict is."""
    signer = signature.check(options.bundle, options.signers) if options.signers else ""
    for line in reports.lines_of_bundle(bundle.verify(options.bundle, signer)):
        print(line)
    return 0


def _add(options: argparse.Namespace) -> int:
    found = document.read_all(options.runs)
    commit = options.commit or reports.commit_of_checkout()
    with history.opened(options.file, create=True) as database:
        for run in found:
            number = history.add(database, run, commit, options.machine)
            print(f"{run.path}: {'already there' if number is None else f'run {number}'}")
    return 0


def _show(options: argparse.Namespace) -> int:
    with history.opened(options.file) as database:
        found = [
            run
            for run in history.runs(database)
            if fnmatchcase(run.cell.target, options.target)
            and fnmatchcase(run.cell.kernel, options.kernel)
        ]
    for line in reports.table_of_runs(found[-options.last :] if options.last > 0 else []):
        print(line)
    return 0


def _diff(options: argparse.Namespace) -> int:
    """Status 1: a rule newly fails."""
    with history.opened(options.file) as database:
        old, new = reports.two_commits(database, options.old, options.new)
        found = history.diff(database, old, new)
    for line in reports.lines_of_changes(old, new, found):
        print(line)
    return 1 if any(changes.failing for changes in found) else 0


def _page(options: argparse.Namespace) -> int:
    page.write(document.read_all(options.runs), options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
