# SPDX-License-Identifier: Apache-2.0
"""Generate builtin.cpp, the built-in files of `pmuconf`: targets, profiles, waivers, and the reasons of rules without a
test."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from conformance.rules.evidence import read_untested
from conformance.rules.generate import HEADER, quote, write_if_changed
from pmubase.errors import UserError

FOLDERS = ("targets", "profiles", "waivers")
DELIMITER = "pmuconf_file"


def raw(text: str) -> str:
    """A C++ raw string literal of `text`."""
    if f"){DELIMITER}" in text:
        raise ValueError(f"a file holds ){DELIMITER}")
    return f'R"{DELIMITER}({text}){DELIMITER}"'


def source_of(root: Path) -> str:
    """The text of builtin.cpp for the checkout at `root`."""
    suite = root / "conformance"
    lines = [HEADER.replace("rule catalogue by rules/generate.py", "suite by rules/builtin.py")]
    lines += ['#include "report/builtin.h"', "", "namespace pmuconf {", ""]
    lines += ["std::span<const BuiltinFile> BuiltinFiles() {"]
    lines += ["  static const BuiltinFile kFiles[] = {", '      {"", "", ""},']
    for folder in FOLDERS:
        for path in sorted((suite / folder).glob("*.toml")):
            lines.append(f"      {{{quote(folder)}, {quote(path.stem)}, {raw(path.read_text())}}},")
    lines += ["  };", "  return std::span(kFiles).subspan(1);", "}", ""]
    lines += ["std::span<const UntestedReasonOfRule> UntestedReasons() {"]
    lines += ["  static const UntestedReasonOfRule kReasons[] = {", '      {"", ""},']
    for rule, reason in sorted(read_untested(suite / "untested.toml").items()):
        lines.append(f"      {{{quote(rule)}, {quote(reason)}}},")
    lines += [
        "  };",
        "  return std::span(kReasons).subspan(1);",
        "}",
        "",
        "}  // namespace pmuconf",
    ]
    return "\n".join([*lines, ""])


def main() -> int:
    """Writes builtin.cpp. Returns 1 after an error message of one line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m conformance.rules.builtin", description=__doc__
    )
    parser.add_argument("--root", type=Path, required=True, help="the checkout")
    parser.add_argument("--out", type=Path, required=True, help="builtin.cpp")
    options = parser.parse_args()
    try:
        write_if_changed(options.out, source_of(options.root))
    except UserError as error:
        print(f"builtin: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
